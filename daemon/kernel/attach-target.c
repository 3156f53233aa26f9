/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach-target.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "../util.h"
#include "inventory-internal.h"

#define TRACEPOINT_PREFIX "btf_trace_"

typedef struct Target {
        int module_fd;                  /* 0: the kernel itself */
        unsigned id;
} Target;

/* By the name of a function, or of a tracepoint's type. */
static GHashTable *wanted;              /* a set: of all programs that were ever opened */
static GMutex wanted_lock;              /* one session's are opened while another's are attached on a thread */
static GHashTable *targets;             /* of Target */
static GHashTable *module_fds;          /* int, by the module's name */

/* Types from first on; those below belong to the BTF that this one is split from. */
static void add_targets(const struct btf *btf, unsigned first, int module_fd, GHashTable *names)
{
        unsigned end = btf__type_cnt(btf);

        for (unsigned id = first; id < end; id++) {
                const struct btf_type *type = btf__type_by_id(btf, id);
                const char *name;

                if (!btf_is_func(type) && !btf_is_typedef(type))
                        continue;
                name = btf__name_by_offset(btf, type->name_off);
                /* The first one stays: the kernel's own comes before a module's, as with libbpf. */
                if (name && g_hash_table_contains(names, name) && !g_hash_table_contains(targets, name))
                        g_hash_table_insert(targets, g_strdup(name), g_memdup2(&(Target) { module_fd, id }, sizeof(Target)));
        }
}

static bool is_wanted(const char *name)
{
        for (unsigned i = 1; kernel_module_names[i]; i++)
                if (g_str_equal(kernel_module_names[i], name))
                        return true;
        return false;
}

/* The kernel tells a module's BTF only by id. */
static int open_module_fds(void)
{
        uint32_t id = 0;

        while (bpf_btf_get_next_id(id, &id) == 0) {
                _cleanup_close_ int fd = bpf_btf_get_fd_by_id(id);
                char name[64] = "";
                struct bpf_btf_info info = { .name = (uintptr_t) name, .name_len = sizeof(name) };
                uint32_t size = sizeof(info);

                if (fd < 0) {
                        if (errno == ENOENT)
                                continue;       /* unloaded meanwhile */
                        return -errno;
                }
                if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
                        return -errno;
                if (info.kernel_btf && is_wanted(name))
                        g_hash_table_replace(module_fds, g_strdup(name), GINT_TO_POINTER(TAKE_FD(fd)));
        }
        return errno == ENOENT ? 0 : -errno;
}

static void close_fd(void *data)
{
        close(GPOINTER_TO_INT(data));
}

static GHashTable *copy_wanted(void)
{
        GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GHashTableIter iter;
        gpointer name;

        g_mutex_lock(&wanted_lock);
        g_hash_table_iter_init(&iter, wanted);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                g_hash_table_add(names, g_strdup(name));
        g_mutex_unlock(&wanted_lock);
        return names;
}

int attach_targets_open(void)
{
        g_autoptr(GHashTable) names = copy_wanted();
        struct btf *kernel;
        GHashTableIter iter;
        gpointer name, fd;
        int r;

        kernel = btf__load_vmlinux_btf();
        if (!kernel)
                return -errno;
        targets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        module_fds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, close_fd);

        r = open_module_fds();
        if (r >= 0) {
                add_targets(kernel, 1, 0, names);
                g_hash_table_iter_init(&iter, module_fds);
                while (g_hash_table_iter_next(&iter, &name, &fd)) {
                        struct btf *module = btf__load_module_btf(name, kernel);

                        if (module)
                                add_targets(module, btf__type_cnt(kernel), GPOINTER_TO_INT(fd), names);
                        btf__free(module);
                }
        }
        btf__free(kernel);
        if (r < 0)
                attach_targets_close();
        return r;
}

void attach_targets_close(void)
{
        g_clear_pointer(&targets, g_hash_table_unref);
        g_clear_pointer(&module_fds, g_hash_table_unref);
}

static char *target_name(const struct bpf_program *program, bool tracepoint)
{
        const char *symbol = strchr(bpf_program__section_name(program), '/');

        return g_strconcat(tracepoint ? TRACEPOINT_PREFIX : "", symbol ? symbol + 1 : "", NULL);
}

/* libbpf_prog_setup_fn_t */
static int setup(struct bpf_program *program, long tracepoint)
{
        g_mutex_lock(&wanted_lock);
        g_hash_table_add(wanted, target_name(program, tracepoint));
        g_mutex_unlock(&wanted_lock);
        return 0;
}

/* libbpf_prog_prepare_load_fn_t */
static int prepare_load(struct bpf_program *program, struct bpf_prog_load_opts *options, long tracepoint)
{
        g_autofree char *name = target_name(program, tracepoint);
        const Target *target = targets ? g_hash_table_lookup(targets, name) : NULL;

        if (!target)
                return -ESRCH;
        options->attach_btf_obj_fd = target->module_fd;
        options->attach_btf_id = target->id;
        return 0;
}

/* libbpf_prog_attach_fn_t */
static int attach_program(const struct bpf_program *program, long tracepoint, struct bpf_link **ret)
{
        *ret = bpf_program__attach_trace(program);
        return *ret ? 0 : -errno;
}

int attach_targets_register(void)
{
        static const struct {
                const char *section;
                enum bpf_attach_type type;
                bool tracepoint;
        } sections[] = {
                { "fentry+", BPF_TRACE_FENTRY, false },
                { "fexit+", BPF_TRACE_FEXIT, false },
                { "tp_btf+", BPF_TRACE_RAW_TP, true },
        };
        static bool registered;

        if (registered)
                return 0;
        wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (size_t i = 0; i < ELEMENTSOF(sections); i++) {
                LIBBPF_OPTS(libbpf_prog_handler_opts, options,
                            .cookie = sections[i].tracepoint,
                            .prog_setup_fn = setup,
                            .prog_prepare_load_fn = prepare_load,
                            .prog_attach_fn = attach_program);
                int r = libbpf_register_prog_handler(sections[i].section, BPF_PROG_TYPE_TRACING, sections[i].type, &options);

                if (r < 0)
                        return r;
        }
        registered = true;
        return 0;
}
