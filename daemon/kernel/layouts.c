/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layouts.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "../util.h"
#include "daemon/kernel/linux-5.10.skel.h"
#include "daemon/kernel/linux-5.15.skel.h"
#include "daemon/kernel/linux-6.11.skel.h"
#include "daemon/kernel/linux-6.8.skel.h"

#define DEPTH_MAX 16

typedef struct Layout {
        const char *prefix;             /* of the release */
        const char *name;
        const void *(*elf)(size_t *ret_size);
} Layout;

static const Layout layouts[] = {
        { "5.10.", "Linux 5.10.223", linux_5_10__elf_bytes },
        { "5.15.", "Linux 5.15.135", linux_5_15__elf_bytes },
        { "6.8.", "Linux 6.8.0", linux_6_8__elf_bytes },
        { "6.11.", "Linux 6.11.11", linux_6_11__elf_bytes },
};

/* A type of the stub in the BTF that is made. */
typedef struct Place {
        int id;
        uint64_t size;
        unsigned align;
} Place;

typedef struct Maker {
        const struct btf *stub;
        struct btf *vmlinux;
        struct btf *to;
        GHashTable *done;               /* Place, by the stub's id */
        unsigned depth;
} Maker;

static uint64_t align_to(uint64_t offset, unsigned align)
{
        return (offset + align - 1) / align * align;
}

static int place_type(Maker *m, unsigned id, Place *ret);

/* Empty in the stub. */
static int place_kernel_type(Maker *m, const struct btf_type *type, Place *ret)
{
        const char *name = btf__name_by_offset(m->stub, type->name_off);
        int id = btf__find_by_name_kind(m->vmlinux, name, BTF_KIND_STRUCT), align;
        int64_t size;

        size = id > 0 ? btf__resolve_size(m->vmlinux, id) : -1;
        align = id > 0 ? btf__align_of(m->vmlinux, id) : 0;
        if (size < 0 || align <= 0)
                return -ENOENT;
        *ret = (Place) { id, size, align };
        return 0;
}

static int place_composite(Maker *m, const struct btf_type *type, Place *ret)
{
        g_autofree Place *places = g_new(Place, btf_vlen(type));
        g_autofree uint64_t *offsets = g_new(uint64_t, btf_vlen(type));
        uint64_t end = 0;
        int r;

        *ret = (Place) { .align = 1 };
        for (unsigned i = 0; i < btf_vlen(type); i++) {
                if (btf_member_bitfield_size(type, i))
                        return -EOPNOTSUPP;
                r = place_type(m, btf_members(type)[i].type, &places[i]);
                if (r < 0)
                        return r;
                offsets[i] = btf_is_union(type) ? 0 : align_to(end, places[i].align);
                end = MAX(end, offsets[i] + places[i].size);
                ret->align = MAX(ret->align, places[i].align);
        }
        ret->size = align_to(end, ret->align);

        ret->id = btf_is_union(type) ? btf__add_union(m->to, btf__name_by_offset(m->stub, type->name_off), ret->size) :
                                       btf__add_struct(m->to, btf__name_by_offset(m->stub, type->name_off), ret->size);
        for (unsigned i = 0; i < btf_vlen(type) && ret->id >= 0; i++) {
                r = btf__add_field(m->to, btf__name_by_offset(m->stub, btf_members(type)[i].name_off), places[i].id,
                                   offsets[i] * 8, 0);
                if (r < 0)
                        return r;
        }
        return ret->id;
}

static int place_array(Maker *m, const struct btf_type *type, Place *ret)
{
        const struct btf_array *array = btf_array(type);
        Place index, element;
        int r;

        r = place_type(m, array->index_type, &index);
        if (r < 0)
                return r;
        r = place_type(m, array->type, &element);
        if (r < 0)
                return r;
        *ret = (Place) { btf__add_array(m->to, index.id, element.id, array->nelems), element.size * array->nelems,
                         element.align };
        return ret->id;
}

static int place_plain(Maker *m, const struct btf_type *type, Place *ret)
{
        switch (btf_kind(type)) {
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
                return type->size == 0 && btf_vlen(type) == 0 ? place_kernel_type(m, type, ret) : place_composite(m, type, ret);
        case BTF_KIND_ARRAY:
                return place_array(m, type, ret);
        case BTF_KIND_PTR:
                *ret = (Place) { btf__add_ptr(m->to, 0), sizeof(uint64_t), sizeof(uint64_t) };
                return ret->id;
        case BTF_KIND_INT:
        case BTF_KIND_ENUM:
                *ret = (Place) { btf__add_type(m->to, m->stub, type), type->size, type->size };
                return ret->id;
        default:
                return -EOPNOTSUPP;
        }
}

static int place_type(Maker *m, unsigned id, Place *ret)
{
        const struct btf_type *type = btf__type_by_id(m->stub, id);
        const Place *known;
        int r;

        while (type && (btf_is_typedef(type) || btf_is_mod(type))) {
                id = type->type;
                type = btf__type_by_id(m->stub, id);
        }
        if (!type || m->depth == DEPTH_MAX)
                return -EINVAL;
        known = g_hash_table_lookup(m->done, GUINT_TO_POINTER(id));
        if (known) {
                *ret = *known;
                return 0;
        }
        m->depth++;
        r = place_plain(m, type, ret);
        m->depth--;
        if (r < 0)
                return r;
        g_hash_table_insert(m->done, GUINT_TO_POINTER(id), g_memdup2(ret, sizeof(*ret)));
        return 0;
}

/* The variables of a section point to the structures of a module. */
static int place_section(Maker *m, const struct btf_type *section)
{
        for (unsigned i = 0; i < btf_vlen(section); i++) {
                const struct btf_type *variable = btf__type_by_id(m->stub, btf_var_secinfos(section)[i].type);
                const struct btf_type *pointer = btf__type_by_id(m->stub, variable->type);
                Place place;
                int r;

                r = place_type(m, pointer->type, &place);
                /* vmlinux lacks a type: this structure is not known then, the others are */
                if (r < 0 && r != -ENOENT)
                        return r;
        }
        return 0;
}

int kernel_layout_from_stub(const struct btf *stub, const char *module, struct btf *vmlinux, struct btf **ret,
                            char **ret_reason)
{
        g_autofree char *section = g_strdup_printf(".data.%s", module);
        g_autoptr(GHashTable) done = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        Maker m = { .stub = stub, .vmlinux = vmlinux, .done = done };
        int id, r;

        id = btf__find_by_name_kind(stub, section, BTF_KIND_DATASEC);
        if (id < 0) {
                *ret_reason = g_strdup_printf("no built-in layout of %s is for this kernel", module);
                return -ENOENT;
        }
        m.to = btf__new_empty_split(vmlinux);
        if (!m.to)
                return -errno;
        r = place_section(&m, btf__type_by_id(stub, id));
        if (r < 0) {
                *ret_reason = g_strdup_printf("the built-in layout of %s cannot be laid out: %s", module, strerror(-r));
                btf__free(m.to);
                return r;
        }
        *ret = m.to;
        return 0;
}

int kernel_layout_make(const char *release, const char *module, struct btf *vmlinux, struct btf **ret, char **ret_name,
                       char **ret_reason)
{
        if (btf__pointer_size(vmlinux) != sizeof(uint64_t)) {
                *ret_reason = g_strdup("the built-in layouts are of 64-bit kernels");
                return -ENOENT;
        }
        for (size_t i = 0; i < ELEMENTSOF(layouts); i++) {
                LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "layout");
                struct bpf_object *object;
                const void *elf;
                size_t size;
                int r;

                if (!g_str_has_prefix(release, layouts[i].prefix))
                        continue;
                elf = layouts[i].elf(&size);
                object = bpf_object__open_mem(elf, size, &options);
                if (!object) {
                        r = -errno;
                        *ret_reason = g_strdup_printf("the built-in layout of %s cannot be read: %s", layouts[i].name,
                                                      strerror(errno));
                        return r;
                }
                r = kernel_layout_from_stub(bpf_object__btf(object), module, vmlinux, ret, ret_reason);
                bpf_object__close(object);
                if (r >= 0)
                        *ret_name = g_strdup_printf("the built-in layout of %s", layouts[i].name);
                return r;
        }
        *ret_reason = g_strdup_printf("no built-in layout is for Linux %s", release);
        return -ENOENT;
}
