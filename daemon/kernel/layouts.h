/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Built-in layouts of the NVMe modules' structures, for kernels whose modules have no BTF.
 *
 * A layout is the definition of structures (layouts/nvme.h), not a table of offsets: compiled by clang to BTF, with the
 * kernel's own types left empty. What an nvme_ctrl begins with is some 1100 bytes of locks, lists and a struct device, whose
 * sizes depend on the kernel's configuration (real time, debugging, the architecture). These are taken from vmlinux's BTF,
 * which nearly all kernels have; offsets in a table would be those of one build. What is left to be wrong is a member that
 * another configuration or another stable release has or has not, and that is why a layout is verified before it is believed.
 */
#pragma once

#include <bpf/btf.h>

/*
 * A BTF split on vmlinux's, as a module's own would be, with the structures of this module and those inside them. By the
 * beginning of the release ("5.10."): it names a set of sources, it is no comparison of versions. -ENOENT: no layout is for
 * this kernel and module; *ret_name and *ret_reason are to be freed. Never for modules that did not come with the kernel.
 */
int kernel_layout_make(const char *release, const char *module, struct btf *vmlinux, struct btf **ret, char **ret_name,
                       char **ret_reason);

/* The same from any stub: the definitions, of variables in the section ".data.MODULE". */
int kernel_layout_from_stub(const struct btf *stub, const char *module, struct btf *vmlinux, struct btf **ret,
                            char **ret_reason);
