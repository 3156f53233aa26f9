/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "program-set.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../kernel/plan-internal.h"
#include "../util.h"
#include "bpf/host.skel.h"
#include "bpf/host-probes.skel.h"
#include "bpf/target.skel.h"
#include "bpf/target-probes.skel.h"

#define CONSTANTS ".rodata"
#define VARIABLES ".bss"

/* In the name of a program that works for another: what is before it is that one's name (bpf/hook.h). */
#define WORKS_FOR "__"
#define TRACED WORKS_FOR "traced"

struct ProgramSet {
        HookSides side;
        HookFamily family;
        struct bpf_object *object;
        int types_fd;                   /* what libbpf takes for the kernel's BTF; -1: the kernel's */
        void *variables;                /* of the map VARIABLES */
        size_t variables_size;
        struct bpf_link **links;
        unsigned n_links;
};

static const struct {
        HookSides side;
        HookFamily family;
        const char *name;
        const void *(*elf)(size_t *ret_size);
} objects[] = {
        { HOOK_SIDE_HOST,   HOOK_FAMILY_TYPED,  "ntprof_host",   host_bpf__elf_bytes },
        { HOOK_SIDE_HOST,   HOOK_FAMILY_PROBES, "ntprof_host",   host_probes_bpf__elf_bytes },
        { HOOK_SIDE_TARGET, HOOK_FAMILY_TYPED,  "ntprof_target", target_bpf__elf_bytes },
        { HOOK_SIDE_TARGET, HOOK_FAMILY_PROBES, "ntprof_target", target_probes_bpf__elf_bytes },
};

/* libbpf is told the types' path when programs are opened, and reads what is there when they are loaded. */
static int open_object(ProgramSet *set, const char *name, const void *elf, size_t size)
{
        char path[sizeof("/proc/self/fd/") + 10];
        LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name);

        if (set->family == HOOK_FAMILY_PROBES) {
                set->types_fd = memfd_create("ntprof-types", MFD_CLOEXEC);
                if (set->types_fd < 0)
                        return -errno;
                snprintf(path, sizeof(path), "/proc/self/fd/%d", set->types_fd);
                options.btf_custom_path = path;
        }
        set->object = bpf_object__open_mem(elf, size, &options);
        return set->object ? 0 : -errno;
}

int program_set_open(HookSides side, HookFamily family, ProgramSet **ret)
{
        for (size_t i = 0; i < ELEMENTSOF(objects); i++) {
                ProgramSet *set;
                const void *elf;
                size_t size;
                int r;

                if (objects[i].side != side || objects[i].family != family)
                        continue;
                set = calloc(1, sizeof(ProgramSet));
                if (!set)
                        return -ENOMEM;
                set->side = side;
                set->family = family;
                set->types_fd = -1;
                elf = objects[i].elf(&size);
                r = open_object(set, objects[i].name, elf, size);
                if (r < 0) {
                        program_set_free(set);
                        return r;
                }
                *ret = set;
                return 0;
        }
        return -EINVAL;
}

void program_set_free(ProgramSet *set)
{
        if (!set)
                return;
        program_set_detach(set);
        if (set->variables)
                munmap(set->variables, set->variables_size);
        bpf_object__close(set->object);
        closep(&set->types_fd);
        free(set);
}

HookFamily program_set_family(const ProgramSet *set)
{
        return set->family;
}

struct bpf_object *program_set_object(const ProgramSet *set)
{
        return set->object;
}

/* What the plan calls the program. */
static char *planned_name(const struct bpf_program *program)
{
        const char *name = bpf_program__name(program), *works = strstr(name, WORKS_FOR);

        return works ? g_strndup(name, works - name) : g_strdup(name);
}

char **program_set_names(const ProgramSet *set)
{
        g_autoptr(GStrvBuilder) names = g_strv_builder_new();
        struct bpf_program *program;

        bpf_object__for_each_program(program, set->object)
                if (!strstr(bpf_program__name(program), WORKS_FOR))
                        g_strv_builder_add(names, bpf_program__name(program));
        return g_strv_builder_end(names);
}

void program_set_choose(ProgramSet *set, const HookPlan *plan)
{
        struct bpf_program *program;

        bpf_object__for_each_program(program, set->object) {
                g_autofree char *name = planned_name(program);

                bpf_program__set_autoload(program, hook_plan_has_program(plan, set->side, name));
        }
}

bool program_set_is_chosen(const ProgramSet *set, const char *program)
{
        const struct bpf_program *found = bpf_object__find_program_by_name(set->object, program);

        return found && bpf_program__autoload(found);
}

/* Where a constant or variable is in its section: the BTF of the programs says. */
static int find(const ProgramSet *set, const char *section, const char *name, size_t size, size_t *ret_offset)
{
        const struct btf *btf = bpf_object__btf(set->object);
        int id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);
        const struct btf_type *type;
        const struct btf_var_secinfo *variables;

        if (id < 0)
                return -ENOENT;
        type = btf__type_by_id(btf, id);
        variables = btf_var_secinfos(type);
        for (unsigned i = 0; i < btf_vlen(type); i++) {
                const struct btf_type *variable = btf__type_by_id(btf, variables[i].type);

                if (variables[i].size == size && strcmp(btf__name_by_offset(btf, variable->name_off), name) == 0) {
                        *ret_offset = variables[i].offset;
                        return 0;
                }
        }
        return -ENOENT;
}

int program_set_write_constant(ProgramSet *set, const char *name, const void *value, size_t size)
{
        struct bpf_map *map = program_set_map(set, CONSTANTS);
        size_t offset, whole;
        void *constants;
        int r;

        r = find(set, CONSTANTS, name, size, &offset);
        if (r < 0)
                return r;
        constants = map ? (void *) bpf_map__initial_value(map, &whole) : NULL;
        if (!constants || offset + size > whole)
                return -ENOENT;
        memcpy((char *) constants + offset, value, size);
        return 0;
}

int program_set_take_types(ProgramSet *set, KernelTypes *types, Error *error)
{
        struct btf *composed;
        int r;

        r = kernel_types_compose(types, bpf_object__btf(set->object), &composed, error);
        if (r < 0)
                return r;
        r = kernel_types_write(composed, set->types_fd);
        btf__free(composed);
        return r;
}

int program_set_load(ProgramSet *set)
{
        struct bpf_map *map = program_set_map(set, VARIABLES);
        void *variables;
        int r;

        r = bpf_object__load(set->object);
        if (r < 0)
                return r;
        if (!map)
                return -ENOENT;
        set->variables_size = bpf_map__value_size(map);
        variables = mmap(NULL, set->variables_size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
        if (variables == MAP_FAILED)
                return -errno;
        set->variables = variables;
        return 0;
}

int program_set_attach(ProgramSet *set)
{
        struct bpf_program *program;
        unsigned n = 0;

        bpf_object__for_each_program(program, set->object)
                n++;
        set->links = calloc(n, sizeof(struct bpf_link *));
        if (!set->links)
                return -ENOMEM;
        bpf_object__for_each_program(program, set->object) {
                struct bpf_link *link;

                if (!bpf_program__autoload(program))
                        continue;
                link = bpf_program__attach(program);
                /* One that makes up for what another misses may have no hook here (a tracepoint of other releases of a module). */
                if (!link && errno == ENOENT && strstr(bpf_program__name(program), TRACED))
                        continue;
                if (!link)
                        return -errno;
                set->links[set->n_links++] = link;
        }
        return 0;
}

void program_set_detach(ProgramSet *set)
{
        for (unsigned i = 0; i < set->n_links; i++)
                bpf_link__destroy(set->links[i]);
        set->n_links = 0;
        free(TAKE_PTR(set->links));
}

struct bpf_map *program_set_map(const ProgramSet *set, const char *name)
{
        return bpf_object__find_map_by_name(set->object, name);
}

void *program_set_variable(const ProgramSet *set, const char *name, size_t size)
{
        size_t offset;

        if (!set->variables || find(set, VARIABLES, name, size, &offset) < 0 || offset + size > set->variables_size)
                return NULL;
        return (char *) set->variables + offset;
}

uint64_t program_set_skipped(const ProgramSet *set)
{
        struct bpf_program *program;
        uint64_t sum = 0;

        bpf_object__for_each_program(program, set->object) {
                struct bpf_prog_info info = {};
                uint32_t size = sizeof(info);
                int fd = bpf_program__fd(program);

                if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
                        sum += info.recursion_misses;
        }
        return sum;
}
