/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "namespace.h"

#include <glib.h>
#include <limits.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>

#include "../../bpf/record.h"
#include "../../bpf/sample-hash.h"
#include "../transport.h"
#include "drive-hidden.h"
#include "local-target.h"
#include "sysfs.h"

const NamespaceRoots namespace_roots_default = {
        .sys = "/sys",
        .dev = "/dev",
        .configfs = "/sys/kernel/config",
};

typedef struct PathOf {
        unsigned instance, namespace;
} PathOf;

static void namespace_path_clear(NamespacePath *path)
{
        g_free(path->disk);
        g_free(path->controller);
        g_free(path->transport);
        g_free(path->traddr);
        g_free(path->trsvcid);
        g_free(path->hostnqn);
        g_free(path->state);
        g_free(path->no_target_reason);
}

NamespaceInfo *namespace_info_free(NamespaceInfo *info)
{
        if (!info)
                return NULL;

        for (size_t i = 0; i < info->n_paths; i++)
                namespace_path_clear(info->paths + i);
        g_free(info->paths);
        g_free(info->name);
        g_free(info->subsystem_nqn);
        g_free(info->drive_hidden);
        g_free(info);
        return NULL;
}

NamespaceInfo *namespace_info_copy(const NamespaceInfo *info)
{
        NamespaceInfo *copy = g_memdup2(info, sizeof(*info));

        copy->name = g_strdup(info->name);
        copy->subsystem_nqn = g_strdup(info->subsystem_nqn);
        copy->drive_hidden = g_strdup(info->drive_hidden);
        copy->paths = g_memdup2(info->paths, info->n_paths * sizeof(*info->paths));
        for (size_t i = 0; i < info->n_paths; i++) {
                NamespacePath *path = copy->paths + i;

                path->disk = g_strdup(path->disk);
                path->controller = g_strdup(path->controller);
                path->transport = g_strdup(path->transport);
                path->traddr = g_strdup(path->traddr);
                path->trsvcid = g_strdup(path->trsvcid);
                path->hostnqn = g_strdup(path->hostnqn);
                path->state = g_strdup(path->state);
                path->no_target_reason = g_strdup(path->no_target_reason);
        }
        return copy;
}

/* Digits only: sscanf() alone would take signs and white space. */
static bool parse_number(const char **s, unsigned *ret)
{
        char *end;
        unsigned long n;

        if (!g_ascii_isdigit(**s))
                return false;
        errno = 0;
        n = strtoul(*s, &end, 10);
        if (errno || n > UINT_MAX)
                return false;
        *s = end;
        *ret = n;
        return true;
}

static bool parse_letter(const char **s, char letter)
{
        if (**s != letter)
                return false;
        (*s)++;
        return true;
}

bool nvme_head_name_parse(const char *name, unsigned *ret_instance, unsigned *ret_namespace)
{
        const char *s = name;

        return g_str_has_prefix(name, "nvme") && (s += 4) && parse_number(&s, ret_instance) && parse_letter(&s, 'n') &&
                parse_number(&s, ret_namespace) && !*s;
}

bool nvme_path_name_parse(const char *name, unsigned *ret_instance, unsigned *ret_controller, unsigned *ret_namespace)
{
        const char *s = name;

        return g_str_has_prefix(name, "nvme") && (s += 4) && parse_number(&s, ret_instance) && parse_letter(&s, 'c') &&
                parse_number(&s, ret_controller) && parse_letter(&s, 'n') && parse_number(&s, ret_namespace) && !*s;
}

static bool is_controller_name(const char *name)
{
        unsigned n;
        const char *s = name;

        return g_str_has_prefix(name, "nvme") && (s += 4) && parse_number(&s, &n) && !*s;
}

int namespace_read_nsid(const NamespaceRoots *roots, const char *disk, uint32_t *ret)
{
        uint64_t nsid;
        int r;

        r = read_attribute_u64(&nsid, "%s/block/%s/nsid", roots->sys, disk);
        if (r < 0)
                return r;
        if (nsid == 0 || nsid >= UINT32_MAX)    /* 0: none, 0xffffffff: all */
                return -ERANGE;

        *ret = nsid;
        return 0;
}

uint32_t namespace_seed(const char *hostnqn)
{
        __u64 h = 0;

        for (const char *s = hostnqn; *s; s++)
                h = np_mix64(h ^ (__u8) *s);

        return h >> 32;
}

void namespace_target_filter(const NamespaceInfo *info, const NamespacePath *path, struct np_target_filter *ret)
{
        *ret = (struct np_target_filter) { .seed = namespace_seed(path->hostnqn), .nsid = info->nsid };
        /* Zero padding is part of the contract. */
        strncpy(ret->subsysnqn, info->subsystem_nqn, sizeof(ret->subsysnqn) - 1);
        strncpy(ret->hostnqn, path->hostnqn, sizeof(ret->hostnqn) - 1);
}

static bool is_device_name(const char *name)
{
        size_t n = strlen(name);

        if (n == 0 || n >= NP_DISK_NAME_LEN || name[0] == '.')
                return false;

        return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:!") == n;
}

/* Only what lies below /dev is followed: with the daemon's rights, any other path would tell the caller what exists. */
static int device_name(const NamespaceRoots *roots, const char *name, char **ret, Error *error)
{
        _cleanup_free_ char *quoted = error_quote(name), *path = NULL, *real = NULL, *dev = NULL, *base = NULL;

        if (!strchr(name, '/')) {
                if (!is_device_name(name))
                        return error_set(error, NTPROF_ERROR_INVALID_OPTION,
                                         "namespace: %s cannot be the name of a device: give one like nvme6n1", quoted);
                *ret = g_strdup(name);
                return 0;
        }

        if (!g_str_has_prefix(name, "/dev/") || strlen(name) >= PATH_MAX / 2 || strstr(name, "/../") ||
            g_str_has_suffix(name, "/.."))
                return error_set(error, NTPROF_ERROR_INVALID_OPTION,
                                 "namespace: %s is not a path below /dev: give a device like nvme6n1 or /dev/nvme6n1", quoted);

        path = g_strconcat(roots->dev, name + strlen("/dev"), NULL);
        dev = realpath(roots->dev, NULL);
        real = realpath(path, NULL);
        if (!real || !dev) {
                /* Path devices have no node in /dev, but their name says what is meant. */
                base = g_path_get_basename(name);
                if (is_device_name(base) && strlen(name) == strlen("/dev/") + strlen(base)) {
                        *ret = TAKE_PTR(base);
                        return 0;
                }
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s: no such device", quoted);
        }

        base = g_path_get_basename(real);
        if (!g_str_has_prefix(real, dev) || real[strlen(dev)] != '/' || !is_device_name(base))
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s does not lead to a block device in /dev", quoted);

        *ret = TAKE_PTR(base);
        return 0;
}

static bool is_namespace_disk(const char *name, const void *userdata)
{
        unsigned a, b, c;

        return nvme_head_name_parse(name, &a, &b) || nvme_path_name_parse(name, &a, &b, &c);
}

/* "nvme6n1, nvme6n2": the namespaces behind a controller, as the block devices that applications open. */
static char *controller_namespaces(const NamespaceRoots *roots, const char *controller)
{
        char **disks;
        GString *list = g_string_new(NULL);

        if (list_directory(&disks, is_namespace_disk, NULL, "%s/class/nvme/%s", roots->sys, controller) >= 0) {
                for (char **d = disks; *d; d++) {
                        unsigned instance, ctrl, namespace;

                        if (list->len > 0)
                                g_string_append(list, ", ");
                        if (nvme_path_name_parse(*d, &instance, &ctrl, &namespace))
                                g_string_append_printf(list, "nvme%un%u", instance, namespace);
                        else
                                g_string_append(list, *d);
                }
                g_strfreev(disks);
        }

        return g_string_free(list, false);
}

static int not_a_namespace(const NamespaceRoots *roots, const char *name, Error *error)
{
        unsigned instance, namespace;

        if (path_exists("%s/class/block/%s/partition", roots->sys, name)) {
                _cleanup_free_ char *link = g_strdup_printf("%s/class/block/%s", roots->sys, name),
                                    *real = realpath(link, NULL), *parent = real ? g_path_get_dirname(real) : NULL,
                                    *disk = parent ? g_path_get_basename(parent) : NULL;

                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s is a partition of %s: give the namespace", name,
                                 disk ?: "another device");
        }

        if (is_controller_name(name) && path_exists("%s/class/nvme/%s", roots->sys, name)) {
                _cleanup_free_ char *namespaces = controller_namespaces(roots, name);

                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s is a controller; its namespaces: %s", name,
                                 *namespaces ? namespaces : "none");
        }

        if (sscanf(name, "ng%un%u", &instance, &namespace) == 2)
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE,
                                 "%s is the character device of a namespace: give the block device, nvme%un%u", name, instance,
                                 namespace);

        if (path_exists("%s/class/block/%s", roots->sys, name)) {
                char **slaves;
                _cleanup_free_ char *below = NULL;

                if (list_directory(&slaves, NULL, NULL, "%s/class/block/%s/slaves", roots->sys, name) >= 0) {
                        below = g_strjoinv(", ", slaves);
                        g_strfreev(slaves);
                }
                if (below && *below)
                        return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE,
                                         "%s is not an NVMe namespace; it lies on %s", name, below);
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s is not an NVMe namespace", name);
        }

        return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s: no such block device", name);
}

/* "traddr=10.0.0.2,trsvcid=4420,src_addr=10.0.0.1": the attribute "address" of a fabrics controller. */
static char *address_field(const char *address, const char *key)
{
        char **fields = g_strsplit(address, ",", -1);
        char *value = NULL;

        for (char **f = fields; *f && !value; f++)
                if (g_str_has_prefix(*f, key) && (*f)[strlen(key)] == '=')
                        value = g_strdup(*f + strlen(key) + 1);

        g_strfreev(fields);
        return value;
}

static int path_read(const NamespaceRoots *roots, const char *disk, NamespacePath *path)
{
        _cleanup_free_ char *address = NULL;
        uint64_t cntlid;
        int r;

        path->disk = g_strdup(disk);
        path->cntlid = -1;

        r = read_link_name(&path->controller, "%s/block/%s/device", roots->sys, disk);
        if (r < 0)
                return r;
        r = read_attribute(&path->transport, "%s/block/%s/device/transport", roots->sys, disk);
        if (r < 0)
                return r;

        if (read_attribute(&address, "%s/block/%s/device/address", roots->sys, disk) >= 0) {
                path->traddr = address_field(address, "traddr");
                path->trsvcid = address_field(address, "trsvcid");
        }
        if (read_attribute_u64(&cntlid, "%s/block/%s/device/cntlid", roots->sys, disk) >= 0 && cntlid <= UINT16_MAX)
                path->cntlid = cntlid;
        (void) read_attribute(&path->hostnqn, "%s/block/%s/device/hostnqn", roots->sys, disk);
        (void) read_attribute(&path->state, "%s/block/%s/device/state", roots->sys, disk);
        return 0;
}

static bool is_path_of(const char *name, const void *userdata)
{
        const PathOf *of = userdata;
        unsigned instance, controller, namespace;

        return nvme_path_name_parse(name, &instance, &controller, &namespace) && instance == of->instance &&
                namespace == of->namespace;
}

static int read_paths(const NamespaceRoots *roots, NamespaceInfo *info, const PathOf *of, Error *error)
{
        char **disks = NULL;
        size_t n;
        int r;

        r = list_directory(&disks, is_path_of, of, "%s/block", roots->sys);
        if (r < 0)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s/block: %s", roots->sys, g_strerror(-r));

        n = g_strv_length(disks);
        if (n == 0 && path_exists("%s/block/%s/device/transport", roots->sys, info->name)) {
                g_strfreev(disks);
                disks = g_new0(char *, 2);
                disks[0] = g_strdup(info->name);
                n = 1;
        }

        info->paths = g_new0(NamespacePath, n);
        for (size_t i = 0; i < n; i++) {
                NamespacePath *path = info->paths + info->n_paths;

                /* A path can go while we look. */
                r = path_read(roots, disks[i], path);
                if (r < 0) {
                        namespace_path_clear(path);
                        *path = (NamespacePath) {};
                } else
                        info->n_paths++;
        }
        g_strfreev(disks);

        if (info->n_paths == 0)
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s: no controller has a path to it at the moment",
                                 info->name);
        return 0;
}

static int check_transports(const NamespaceInfo *info, Error *error)
{
        for (size_t i = 0; i < info->n_paths; i++) {
                const NamespacePath *path = info->paths + i;

                if (g_str_equal(path->transport, "pcie") || g_str_equal(path->transport, "apple-nvme"))
                        return error_set(error, NTPROF_ERROR_NOT_FABRICS, "%s: PCIe namespace, not NVMe-oF (transport %s)",
                                         info->name, path->transport);
                if (!transport_by_name(path->transport))
                        return error_set(error, NTPROF_ERROR_TRANSPORT_UNSUPPORTED,
                                         "%s: transport %s (controller %s) cannot be measured, only %s", info->name,
                                         path->transport, path->controller, transport_names());
                if (!path->traddr || !path->hostnqn || !*path->hostnqn || strlen(path->hostnqn) >= NP_NQN_LEN)
                        return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE,
                                         "%s: controller %s does not tell its address and host NQN", info->name,
                                         path->controller);
        }

        if (info->n_paths > NP_FILTERS_MAX)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s has %zu paths, at most %d can be recorded",
                                 info->name, info->n_paths, NP_FILTERS_MAX);
        return 0;
}

int namespace_resolve(const NamespaceRoots *roots, const char *name, NamespaceInfo **ret, Error *error)
{
        _cleanup_(namespace_info_freep) NamespaceInfo *info = g_new0(NamespaceInfo, 1);
        _cleanup_free_ char *device = NULL, *dev = NULL;
        unsigned controller;
        uint64_t block_size;
        PathOf of;
        int r;

        r = device_name(roots, name, &device, error);
        if (r < 0)
                return r;

        if (nvme_path_name_parse(device, &of.instance, &controller, &of.namespace) &&
            path_exists("%s/block/%s", roots->sys, device))
                info->name = g_strdup_printf("nvme%un%u", of.instance, of.namespace);
        else if (nvme_head_name_parse(device, &of.instance, &of.namespace))
                info->name = g_strdup(device);
        else
                return not_a_namespace(roots, device, error);

        if (!path_exists("%s/block/%s", roots->sys, info->name))
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s: no such block device", info->name);

        r = read_paths(roots, info, &of, error);
        if (r < 0)
                return r;
        r = check_transports(info, error);
        if (r < 0)
                return r;

        r = namespace_read_nsid(roots, info->name, &info->nsid);
        if (r < 0)
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s: its namespace id cannot be read: %s",
                                 info->name, g_strerror(-r));

        r = read_attribute(&dev, "%s/block/%s/dev", roots->sys, info->name);
        if (r < 0 || sscanf(dev, "%u:%u", &info->major, &info->minor) != 2)
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s: its device number cannot be read", info->name);

        r = read_attribute_u64(&block_size, "%s/block/%s/queue/logical_block_size", roots->sys, info->name);
        info->block_size = r >= 0 && block_size <= UINT32_MAX ? block_size : 512;

        r = read_attribute(&info->subsystem_nqn, "%s/block/%s/device/subsysnqn", roots->sys, info->name);
        if (r < 0 || strlen(info->subsystem_nqn) >= NP_NQN_LEN)
                return error_set(error, NTPROF_ERROR_NO_SUCH_NAMESPACE, "%s: its subsystem NQN cannot be read", info->name);

        local_target_find(roots, info);
        for (size_t i = 0; i < info->n_paths && !info->drive_hidden; i++)
                if (info->paths[i].local)
                        info->drive_hidden = drive_hidden_read(roots, info->subsystem_nqn, info->nsid);

        *ret = TAKE_PTR(info);
        return 0;
}
