/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspection-internal.h"

#include <string.h>

#include "session/sysfs.h"
#include "transport.h"

void inspection_add_namespace(JsonBuilder *b, const NamespaceInfo *namespace)
{
        json_builder_set_member_name(b, "namespace");
        if (!namespace) {
                json_builder_add_null_value(b);
                return;
        }

        json_builder_begin_object(b);
        inspection_add_string(b, "name", namespace->name);
        json_builder_set_member_name(b, "nsid");
        json_builder_add_int_value(b, namespace->nsid);
        inspection_add_string(b, "subsystem_nqn", namespace->subsystem_nqn);
        json_builder_set_member_name(b, "paths");
        json_builder_begin_array(b);
        for (size_t i = 0; i < namespace->n_paths; i++) {
                const NamespacePath *path = namespace->paths + i;

                json_builder_begin_object(b);
                inspection_add_string(b, "disk", path->disk);
                inspection_add_string(b, "controller", path->controller);
                inspection_add_string(b, "transport", path->transport);
                inspection_add_string(b, "traddr", path->traddr);
                inspection_add_string(b, "state", path->state);
                json_builder_set_member_name(b, "local");
                json_builder_add_boolean_value(b, path->local);
                json_builder_end_object(b);
        }
        json_builder_end_array(b);
        json_builder_end_object(b);
}

static void add_if_off(GStrvBuilder *list, const NamespaceRoots *roots, const char *disk)
{
        _cleanup_free_ char *iostats = NULL;

        if (read_attribute(&iostats, "%s/block/%s/queue/iostats", roots->sys, disk) >= 0 && g_str_equal(iostats, "0"))
                g_strv_builder_add(list, disk);
}

static bool is_disk(const char *name, const void *userdata)
{
        unsigned a, b, c;

        return nvme_head_name_parse(name, &a, &b) || nvme_path_name_parse(name, &a, &b, &c);
}

static void add_controller(GStrvBuilder *list, const NamespaceRoots *roots, const char *controller)
{
        _cleanup_free_ char *transport = NULL;
        g_auto(GStrv) disks = NULL;

        if (read_attribute(&transport, "%s/class/nvme/%s/transport", roots->sys, controller) < 0 ||
            !transport_by_name(transport))
                return;
        if (list_directory(&disks, is_disk, NULL, "%s/class/nvme/%s", roots->sys, controller) < 0)
                return;
        for (char **disk = disks; *disk; disk++)
                add_if_off(list, roots, *disk);
}

char **inspection_iostats_off(const NamespaceRoots *roots, const NamespaceInfo *namespace)
{
        g_autoptr(GStrvBuilder) list = g_strv_builder_new();
        g_auto(GStrv) controllers = NULL;

        for (size_t i = 0; namespace && i < namespace->n_paths; i++)
                add_if_off(list, roots, namespace->paths[i].disk);
        if (!namespace && list_directory(&controllers, NULL, NULL, "%s/class/nvme", roots->sys) >= 0)
                for (char **controller = controllers; *controller; controller++)
                        add_controller(list, roots, *controller);
        return g_strv_builder_end(list);
}
