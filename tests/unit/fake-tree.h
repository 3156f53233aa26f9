/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory with sysfs, /dev and configfs as a test wants them. */
#pragma once

#include "daemon/session/namespace.h"

typedef struct FakeTree {
        char *root;
        char *sys, *dev, *configfs;
        NamespaceRoots roots;
} FakeTree;

FakeTree *fake_tree_new(void);
void fake_tree_free(FakeTree *tree);

/* path is below the root; directories are made as needed. A line end is added to contents. */
void fake_file(FakeTree *tree, const char *contents, const char *path_format, ...) __attribute__((format(printf, 3, 4)));
void fake_directory(FakeTree *tree, const char *path_format, ...) __attribute__((format(printf, 2, 3)));
/* target as it stands in the link */
void fake_link(FakeTree *tree, const char *target, const char *path_format, ...) __attribute__((format(printf, 3, 4)));
/* Its path, which is never freed. */
const char *fake_below(FakeTree *tree, const char *name);
void fake_remove(FakeTree *tree, const char *path_format, ...) __attribute__((format(printf, 2, 3)));

/* A fabrics or PCIe controller: traddr NULL is PCIe. */
void fake_controller(FakeTree *tree, int controller, const char *transport, const char *traddr, const char *hostnqn);
/* nvme<subsystem>n<n> with a path device by each controller (ended by -1). */
void fake_namespace(FakeTree *tree, int subsystem, int n, const char *nqn, const int *controllers);
/* nvme<controller>n<n> without native multipath. */
void fake_single_namespace(FakeTree *tree, int controller, int n);

/* A port of nvmet and what it exports; nqn NULL: nothing. */
void fake_port(FakeTree *tree, int port, const char *trtype, const char *traddr, const char *trsvcid, const char *nqn);
void fake_exported_namespace(FakeTree *tree, const char *nqn, int nsid, bool enabled);
