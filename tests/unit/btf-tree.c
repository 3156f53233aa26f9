/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "btf-tree.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

KernelTypesRoots btf_roots(FakeTree *tree)
{
        return (KernelTypesRoots) {
                .btf = fake_below(tree, "btf"),
                .files = fake_below(tree, "files"),
                .modules = fake_below(tree, "modules"),
                .owner = geteuid(),
        };
}

struct btf *btf_stub(const char *name)
{
        static const char *const folders[] = { "tests/unit", "daemon/kernel", "bpf" };
        g_autofree char *file = g_strconcat(name, ".bpf.o", NULL);

        for (size_t i = 0; i < ELEMENTSOF(folders); i++) {
                g_autofree char *path = g_build_filename(g_getenv("NTPROF_BUILD_ROOT"), folders[i], file, NULL);
                struct btf *btf = g_file_test(path, G_FILE_TEST_EXISTS) ? btf__parse_elf(path, NULL) : NULL;

                if (btf)
                        return btf;
        }
        g_error("no BTF of %s", name);
}

void btf_module(FakeTree *tree, const char *module, const char *taint)
{
        fake_directory(tree, "modules/%s", module);
        if (!taint)
                return;
        fake_file(tree, "live", "modules/%s/initstate", module);
        fake_file(tree, taint, "modules/%s/taint", module);
}

void btf_write_bytes(FakeTree *tree, const void *data, size_t size, const char *path)
{
        g_autofree char *full = g_build_filename(tree->root, path, NULL), *folder = g_path_get_dirname(full);
        FILE *file;

        g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
        file = fopen(full, "w");
        g_assert_nonnull(file);
        g_assert_cmpuint(fwrite(data, 1, size, file), ==, size);
        g_assert_cmpint(fchmod(fileno(file), 0644), ==, 0);
        g_assert_cmpint(fclose(file), ==, 0);
}

void btf_write(FakeTree *tree, const struct btf *btf, const char *path)
{
        uint32_t size;
        const void *data = btf__raw_data(btf, &size);

        g_assert_nonnull(data);
        btf_write_bytes(tree, data, size, path);
}

KernelTypes *btf_open(FakeTree *tree, const char *release)
{
        _cleanup_error_ Error error = ERROR_INIT;
        KernelTypesRoots roots = btf_roots(tree);
        KernelTypes *types = NULL;

        if (kernel_types_open(&roots, release, &types, &error) < 0)
                g_error("%s", error.message);
        return types;
}

struct btf *btf_compose(KernelTypes *types, const struct btf *program)
{
        _cleanup_error_ Error error = ERROR_INIT;
        struct btf *composed = NULL;

        if (kernel_types_compose(types, program, &composed, &error) < 0)
                g_error("%s", error.message);
        return composed;
}

static const struct btf_type *plain_type(const struct btf *btf, unsigned id)
{
        const struct btf_type *type = btf__type_by_id(btf, id);

        while (btf_is_mod(type) || btf_is_typedef(type) || btf_is_array(type))
                type = btf__type_by_id(btf, btf_is_array(type) ? btf_array(type)->type : type->type);
        return type;
}

static bool find(const struct btf *btf, const struct btf_type *type, const char *path, BtfPlace *place)
{
        size_t length = strcspn(path, ".");

        for (unsigned i = 0; btf_is_composite(type) && i < btf_vlen(type); i++) {
                const struct btf_member *member = &btf_members(type)[i];
                const char *name = btf__name_by_offset(btf, member->name_off);
                const struct btf_type *inner = plain_type(btf, member->type);
                BtfPlace inside = { place->offset + btf_member_bit_offset(type, i), btf_member_bitfield_size(type, i), inner };

                if (*name ? strlen(name) != length || strncmp(name, path, length) != 0 : !find(btf, inner, path, &inside))
                        continue;
                if (*name && path[length] == '.' && !find(btf, inner, path + length + 1, &inside))
                        return false;
                *place = inside;
                return true;
        }
        return false;
}

static int find_composite(const struct btf *btf, const char *name)
{
        int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

        return id > 0 ? id : btf__find_by_name_kind(btf, name, BTF_KIND_UNION);
}

bool btf_place(const struct btf *btf, const char *structure, const char *path, BtfPlace *ret)
{
        int id = find_composite(btf, structure);

        *ret = (BtfPlace) {};
        return id > 0 && find(btf, btf__type_by_id(btf, id), path, ret);
}

unsigned btf_offset(const struct btf *btf, const char *structure, const char *path)
{
        BtfPlace place;

        if (!btf_place(btf, structure, path, &place))
                g_error("no %s.%s", structure, path);
        g_assert_cmpuint(place.offset % 8, ==, 0);
        return place.offset / 8;
}

unsigned btf_size(const struct btf *btf, const char *structure)
{
        g_assert_true(btf_has(btf, structure));
        return btf__type_by_id(btf, find_composite(btf, structure))->size;
}

bool btf_has(const struct btf *btf, const char *structure)
{
        return find_composite(btf, structure) > 0;
}
