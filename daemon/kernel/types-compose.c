/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "inventory-internal.h"
#include "types-internal.h"

#define DEPTH_MAX 32

/* What a program names. A key is 's', 'u' or 'e' for struct, union, enum, and the name. */
typedef struct Wanted {
        GHashTable *types;              /* a set */
        GHashTable *members;            /* a set, of all types */
} Wanted;

/* From one BTF to the composed one. */
typedef struct Copier {
        const struct btf *from;
        struct btf *to;
        const Wanted *wanted;
        GHashTable *done;               /* id, by the source's: of types without a name */
        unsigned depth;
} Copier;

static char key_of(const struct btf_type *type)
{
        return btf_is_struct(type) ? 's' : btf_is_union(type) ? 'u' : btf_is_any_enum(type) ? 'e' : 0;
}

/* As libbpf's: up to the last "___" that is not at an end. */
static char *name_without_flavour(const char *name)
{
        const char *flavour = g_strrstr(name, "___");

        while (flavour && flavour > name && flavour[-1] == '_')
                flavour--;
        return flavour && flavour > name && flavour[3] ? g_strndup(name, flavour - name) : g_strdup(name);
}

static void wanted_init(Wanted *wanted, const struct btf *program)
{
        wanted->types = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        wanted->members = g_hash_table_new(g_str_hash, g_str_equal);

        for (unsigned id = 1, end = btf__type_cnt(program); id < end; id++) {
                const struct btf_type *type = btf__type_by_id(program, id);
                const char *name = btf__name_by_offset(program, type->name_off);
                char key = key_of(type);

                if (!key)
                        continue;
                if (name && *name) {
                        g_autofree char *plain = name_without_flavour(name);

                        g_hash_table_add(wanted->types, g_strdup_printf("%c%s", key, plain));
                }
                for (unsigned i = 0; btf_is_composite(type) && i < btf_vlen(type); i++) {
                        const char *member = btf__name_by_offset(program, btf_members(type)[i].name_off);

                        if (member && *member)
                                g_hash_table_add(wanted->members, (gpointer) member);
                }
        }
}

static void wanted_done(Wanted *wanted)
{
        g_hash_table_unref(wanted->types);
        g_hash_table_unref(wanted->members);
}

/* Of the module's own types: GArray of ids, by key. */
static GHashTable *index_types(const ModuleTypes *module, const Wanted *wanted)
{
        GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);

        for (unsigned id = module->first, end = module->btf ? btf__type_cnt(module->btf) : 0; id < end; id++) {
                const struct btf_type *type = btf__type_by_id(module->btf, id);
                const char *name = btf__name_by_offset(module->btf, type->name_off);
                char buffer[128];
                char kind = key_of(type);
                GArray *ids;

                if (!kind || !name || !*name ||
                    g_snprintf(buffer, sizeof(buffer), "%c%s", kind, name) >= (int) sizeof(buffer) ||
                    !g_hash_table_contains(wanted->types, buffer))
                        continue;
                ids = g_hash_table_lookup(index, buffer);
                if (!ids) {
                        ids = g_array_new(false, false, sizeof(unsigned));
                        g_hash_table_insert(index, g_strdup(buffer), ids);
                }
                g_array_append_val(ids, id);
        }
        return index;
}

static const struct btf_type *skip_qualifiers(const struct btf *btf, unsigned *id)
{
        const struct btf_type *type = btf__type_by_id(btf, *id);

        for (unsigned i = 0; type && (btf_is_mod(type) || btf_is_typedef(type)); i++) {
                if (i == DEPTH_MAX)
                        return NULL;
                *id = type->type;
                type = btf__type_by_id(btf, *id);
        }
        return type;
}

static int copy_type(Copier *c, unsigned id);

static int copy_array(Copier *c, const struct btf_type *type)
{
        const struct btf_array *array = btf_array(type);
        int index, element;

        index = copy_type(c, array->index_type);
        if (index < 0)
                return index;
        element = copy_type(c, array->type);
        if (element < 0)
                return element;
        return btf__add_array(c->to, index, element, array->nelems);
}

static bool is_wanted_member(const Copier *c, const struct btf_member *member)
{
        const char *name = btf__name_by_offset(c->from, member->name_off);
        unsigned id = member->type;
        const struct btf_type *type;

        if (!name || *name)
                return name && g_hash_table_contains(c->wanted->members, name);
        type = skip_qualifiers(c->from, &id);
        return type && btf_is_composite(type);
}

static int add_member(Copier *c, const struct btf_type *type, unsigned i, int member_type)
{
        const struct btf_member *member = &btf_members(type)[i];
        unsigned offset = btf_member_bit_offset(type, i), bits = btf_member_bitfield_size(type, i), id = member->type;
        const struct btf_type *plain = skip_qualifiers(c->from, &id);

        /* before Linux 5.0 a bitfield's place was told by its integer's */
        if (bits == 0 && btf_is_int(plain) && (btf_int_offset(plain) != 0 || btf_int_bits(plain) != plain->size * 8)) {
                offset += btf_int_offset(plain);
                bits = btf_int_bits(plain);
        }
        return btf__add_field(c->to, btf__name_by_offset(c->from, member->name_off), member_type, offset, bits);
}

/* libbpf adds members to the last type, so theirs must be there before. */
static int copy_composite(Copier *c, const struct btf_type *type, const char *name)
{
        g_autofree int *members = g_new(int, btf_vlen(type));
        int id, r;

        for (unsigned i = 0; i < btf_vlen(type); i++) {
                members[i] = -1;
                if (!is_wanted_member(c, &btf_members(type)[i]))
                        continue;
                members[i] = copy_type(c, btf_members(type)[i].type);
                if (members[i] < 0)
                        return members[i];
        }

        id = btf_is_struct(type) ? btf__add_struct(c->to, name, type->size) : btf__add_union(c->to, name, type->size);
        for (unsigned i = 0; i < btf_vlen(type) && id >= 0; i++) {
                if (members[i] < 0)
                        continue;
                r = add_member(c, type, i, members[i]);
                if (r < 0)
                        return r;
        }
        return id;
}

static int copy_enum(Copier *c, const struct btf_type *type)
{
        int id = btf__add_type(c->to, c->from, type);

        if (id >= 0)
                ((struct btf_type *) btf__type_by_id(c->to, id))->name_off = 0;
        return id;
}

/* Without its name. Returns its id in the composed BTF; 0 is void. */
static int copy_type(Copier *c, unsigned id)
{
        const struct btf_type *type = skip_qualifiers(c->from, &id);
        gpointer known;
        int r;

        if (!type)
                return -EINVAL;
        if (id == 0)
                return 0;
        if (g_hash_table_lookup_extended(c->done, GUINT_TO_POINTER(id), NULL, &known))
                return GPOINTER_TO_INT(known);
        if (c->depth == DEPTH_MAX)
                return -ELOOP;

        c->depth++;
        switch (btf_kind(type)) {
        case BTF_KIND_PTR:
                r = btf__add_ptr(c->to, 0);
                break;
        case BTF_KIND_ARRAY:
                r = copy_array(c, type);
                break;
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
                r = copy_composite(c, type, NULL);
                break;
        case BTF_KIND_ENUM:
        case BTF_KIND_ENUM64:
                r = copy_enum(c, type);
                break;
        case BTF_KIND_INT:
        case BTF_KIND_FLOAT:
                r = btf__add_type(c->to, c->from, type);
                break;
        default:
                r = -EINVAL;                    /* a function or a variable is no member */
        }
        c->depth--;
        if (r >= 0)
                g_hash_table_insert(c->done, GUINT_TO_POINTER(id), GINT_TO_POINTER(r));
        return r;
}

static int copy_named(Copier *c, unsigned id)
{
        const struct btf_type *type = btf__type_by_id(c->from, id);

        if (btf_is_composite(type))
                return copy_composite(c, type, btf__name_by_offset(c->from, type->name_off));
        return btf__add_type(c->to, c->from, type);
}

/* By the beginning of a name; the rest is the kernel's own. */
static const char *home_of(const char *name)
{
        static const struct {
                const char *prefix, *module;
        } homes[] = {
                { "nvmet_tcp_", "nvmet_tcp" },
                { "nvmet_rdma_", "nvmet_rdma" },
                { "nvmet_", "nvmet" },
                { "nvme_tcp_", "nvme_tcp" },
                { "nvme_rdma_", "nvme_rdma" },
                { "nvme_", "nvme_core" },
                { "ib_", "ib_core" },
        };

        for (size_t i = 0; i < ELEMENTSOF(homes); i++)
                if (g_str_has_prefix(name, homes[i].prefix))
                        return homes[i].module;
        return VMLINUX;
}

typedef struct Composition {
        KernelTypes *types;
        Wanted wanted;
        GHashTable *indexes;            /* by module: what index_types() found */
        struct btf *to;
} Composition;

static const GArray *find_in(Composition *c, const char *module, const char *key)
{
        GHashTable *index = g_hash_table_lookup(c->indexes, module);

        if (!index) {
                index = index_types(kernel_types_get(c->types, module), &c->wanted);
                g_hash_table_insert(c->indexes, g_strdup(module), index);
        }
        return g_hash_table_lookup(index, key);
}

/* Layouts are the last resort: what another module's BTF or the kernel's repeats is right. */
static const GArray *find(Composition *c, const char *key, const char **ret_module)
{
        const char *home = home_of(key + 1);
        const ModuleTypes *at_home = kernel_types_get(c->types, home);

        for (int layouts = 0; layouts <= 1; layouts++)
                for (int i = -1; i < 0 || kernel_module_names[i]; i++) {
                        /* home first, vmlinux last: it is the first of the names */
                        const char *name = i < 0 ? home : kernel_module_names[i + 1] ?: VMLINUX;
                        const ModuleTypes *module = kernel_types_get(c->types, name);
                        const GArray *ids;

                        if ((module->source == TYPES_LAYOUT) != layouts ||
                            (at_home->loaded && module->out_of_tree != at_home->out_of_tree))
                                continue;
                        ids = find_in(c, name, key);
                        if (ids) {
                                *ret_module = name;
                                return ids;
                        }
                }
        return NULL;
}

static int compose_one(Composition *c, const char *key, Error *error)
{
        const char *module;
        const GArray *ids = find(c, key, &module);
        const ModuleTypes *from;
        g_autoptr(GHashTable) done = NULL;

        if (!ids)
                return 0;
        from = kernel_types_get(c->types, module);
        done = g_hash_table_new(NULL, NULL);
        for (guint i = 0; i < ids->len; i++) {
                Copier copier = { .from = from->btf, .to = c->to, .wanted = &c->wanted, .done = done };
                int r = copy_named(&copier, g_array_index(ids, unsigned, i));

                if (r < 0)
                        return error_set(error, NTPROF_ERROR_KERNEL_UNSUPPORTED,
                                         "%s: its types of module %s cannot be used: %s: %s", from->where, module, key + 1,
                                         r == -ELOOP ? "it contains itself" : strerror(-r));
        }
        g_hash_table_replace(c->types->origins, g_strdup(key + 1), g_strdup(module));
        return 0;
}

int kernel_types_compose(KernelTypes *types, const struct btf *program, struct btf **ret, Error *error)
{
        Composition c = { .types = types };
        GHashTableIter iter;
        gpointer key;
        int r = 0;

        c.to = btf__new_empty();
        if (!c.to)
                return -errno;
        btf__set_pointer_size(c.to, btf__pointer_size(kernel_types_get(types, VMLINUX)->btf));
        wanted_init(&c.wanted, program);
        c.indexes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_hash_table_unref);
        g_hash_table_remove_all(types->origins);

        g_hash_table_iter_init(&iter, c.wanted.types);
        while (r >= 0 && g_hash_table_iter_next(&iter, &key, NULL))
                r = compose_one(&c, key, error);

        g_hash_table_unref(c.indexes);
        wanted_done(&c.wanted);
        if (r < 0) {
                btf__free(c.to);
                return r;
        }
        *ret = c.to;
        return 0;
}

int kernel_types_write(const struct btf *composed, int fd)
{
        uint32_t size;
        const char *data = btf__raw_data(composed, &size);

        if (!data)
                return -ENOMEM;
        for (uint32_t done = 0; done < size;) {
                ssize_t n = pwrite(fd, data + done, size - done, done);

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0)
                        done += n;
        }
        return ftruncate(fd, size) < 0 ? -errno : 0;
}

const char *kernel_types_origin(const KernelTypes *types, const char *structure)
{
        return g_hash_table_lookup(types->origins, structure);
}
