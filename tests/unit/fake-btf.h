/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BTF as a kernel's, in a tree that looks like its sysfs. Type 1 must be there: the arguments are of it. */
#pragma once

#include <bpf/btf.h>

#include "daemon/kernel/inventory.h"
#include "fake-tree.h"

void fake_btf_function(struct btf *btf, const char *name);
/* typedef void (*btf_trace_NAME)(void *, ...) of so many arguments, and the probe's own */
void fake_btf_tracepoint(struct btf *btf, const char *name, int arguments);
/* As /sys/kernel/btf/MODULE. */
void fake_btf_write(FakeTree *tree, const struct btf *btf, const char *module);
/* What kernel_inventory_read() and the like take: sys/, proc/ and btf/ of the tree. */
KernelRoots fake_kernel_roots(FakeTree *tree);
