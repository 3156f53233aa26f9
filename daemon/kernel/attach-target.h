/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where programs attach: the BTF ids of functions and tracepoints, found in one pass over the BTF of the kernel and of
 * the modules that programs attach to.
 *
 * libbpf would do it by itself, but up to 1.4 at least it walks through the kernel's 100,000 types for each program and
 * again for each loaded module (find_kernel_btf_id(), btf__find_by_name_kind() of a split BTF begins with its base):
 * 4 * 10^9 instructions for two dozen programs and fifty modules.
 */
#pragma once

/* From now on programs of the sections fentry/, fexit/ and tp_btf/ are attached by what attach_targets_open() found. */
int attach_targets_register(void);

/* To be open while skeletons are loaded. One at a time: libbpf's callbacks have no context of their own. */
int attach_targets_open(void);
void attach_targets_close(void);
