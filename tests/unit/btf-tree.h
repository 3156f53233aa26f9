/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders of BTF as kernel_types_open() looks into, and what is in a BTF. */
#pragma once

#include "daemon/kernel/types.h"
#include "fake-tree.h"

/* no built-in layout is for it */
#define RELEASE "9.9.0-test"

/* Of a tree: btf/, files/, modules/. */
KernelTypesRoots btf_roots(FakeTree *tree);
/* The BTF of tests/fixtures/btf-stubs/NAME.c, which the build compiles; or of a layout of the daemon's, "linux-5.10", or of a
 * program, "host". */
struct btf *btf_stub(const char *name);
/* A loaded module; taint "" is one of the kernel's own, NULL one that is built in. */
void btf_module(FakeTree *tree, const char *module, const char *taint);
/* Into a file of the tree. */
void btf_write(FakeTree *tree, const struct btf *btf, const char *path);
void btf_write_bytes(FakeTree *tree, const void *data, size_t size, const char *path);
KernelTypes *btf_open(FakeTree *tree, const char *release);
struct btf *btf_compose(KernelTypes *types, const struct btf *program);

typedef struct BtfPlace {
        unsigned offset;                /* bits, from the beginning of the structure */
        unsigned bits;                  /* of a bitfield; 0: none */
        const struct btf_type *type;
} BtfPlace;

/* "nested.deep" of a structure or union; elements of an array are as its first. False: there is none. */
bool btf_place(const struct btf *btf, const char *structure, const char *path, BtfPlace *ret);
/* In bytes; it must be there. */
unsigned btf_offset(const struct btf *btf, const char *structure, const char *path);
unsigned btf_size(const struct btf *btf, const char *structure);
bool btf_has(const struct btf *btf, const char *structure);
