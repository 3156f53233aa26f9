/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what a person calls a namespace to what a session needs to know of it, all from sysfs: no device is opened and no
 * command is sent. What a name is instead, when it is not the name of an NVMe-oF namespace, is the error's message.
 */
#pragma once

#include "../error.h"

/* Where the kernel's file systems are: elsewhere in tests. */
typedef struct NamespaceRoots {
        const char *sys;                /* "/sys" */
        const char *dev;                /* "/dev" */
        const char *configfs;           /* "/sys/kernel/config" */
} NamespaceRoots;

extern const NamespaceRoots namespace_roots_default;

typedef struct NamespacePath {
        char *disk;                     /* nvme6c6n1, or nvme6n1 itself without native multipath */
        char *controller;               /* nvme6 */
        char *transport;                /* tcp */
        char *traddr, *trsvcid;         /* 10.0.0.2, 4420 */
        char *hostnqn;
        int cntlid;                     /* -1: not known, as while it reconnects */
        char *state;                    /* live, connecting, ... */
        bool exported_here;             /* its target is this machine's kernel */
        bool local;                     /* and the namespace is enabled there, so that it can be recorded */
        char *no_target_reason;         /* a sentence for the report, when not local; NULL: not known */
} NamespacePath;

typedef struct NamespaceInfo {
        char *name;                     /* of the device that applications open: nvme6n1 */
        unsigned major, minor;          /* of that device */
        uint32_t nsid;
        uint32_t block_size;            /* logical, bytes */
        char *subsystem_nqn;
        char *drive_hidden;             /* of the target that is local: drive_hidden_read() */
        size_t n_paths;                 /* at least 1, at most NP_FILTERS_MAX */
        NamespacePath *paths;           /* by controller number */
} NamespaceInfo;

/* name: nvme6n1, nvme6c6n1, or a path below /dev that is or points to one of them. Errors: INVALID_OPTION (cannot be a
 * name at all), NO_SUCH_NAMESPACE, NOT_FABRICS, TRANSPORT_UNSUPPORTED. */
int namespace_resolve(const NamespaceRoots *roots, const char *name, NamespaceInfo **ret, Error *error);
NamespaceInfo *namespace_info_copy(const NamespaceInfo *info);
NamespaceInfo *namespace_info_free(NamespaceInfo *info);
DEFINE_CLEANUP_FUNC(NamespaceInfo *, namespace_info_free);

struct np_target_filter;
/* What the target of a path is to record. The lengths of all names were checked by namespace_resolve(). */
void namespace_target_filter(const NamespaceInfo *info, const NamespacePath *path, struct np_target_filter *ret);

/* The only place that knows where a namespace's id is: /sys/block/DISK/nsid. */
int namespace_read_nsid(const NamespaceRoots *roots, const char *disk, uint32_t *ret);

/* Sampling seed of a host: host and target machine compute the same from the host's NQN. */
uint32_t namespace_seed(const char *hostnqn);

/* True for names like nvme6n1 (head) and nvme6c6n1 (path device). Nothing may follow. */
bool nvme_head_name_parse(const char *name, unsigned *ret_instance, unsigned *ret_namespace);
bool nvme_path_name_parse(const char *name, unsigned *ret_instance, unsigned *ret_controller, unsigned *ret_namespace);
