/* SPDX-License-Identifier: GPL-2.0-or-later */
/* docs/inspection.md describes the document. */
#include "plan-internal.h"

static void add_member(JsonBuilder *builder, const char *name, const char *value)
{
        json_builder_set_member_name(builder, name);
        if (value)
                json_builder_add_string_value(builder, value);
        else
                json_builder_add_null_value(builder);
}

static void add_candidate(JsonBuilder *builder, const HookCandidate *candidate, const char *mechanism, const char *reason)
{
        json_builder_begin_object(builder);
        add_member(builder, "mechanism", mechanism);
        add_member(builder, "module", candidate->module);
        add_member(builder, "symbol", candidate->symbol);
        if (reason)
                add_member(builder, "reason", reason);
        json_builder_end_object(builder);
}

static void add_row(JsonBuilder *builder, const HookChoice *choice)
{
        const HookRow *row = choice->row;

        json_builder_begin_object(builder);
        add_member(builder, "boundary", row->boundary);
        add_member(builder, "side", row->side == HOOK_SIDE_HOST ? "host" : "target");
        add_member(builder, "description", np_boundary_by_id(row->boundary)->what);
        add_member(builder, "covers", row->covers);
        add_member(builder, "transport", row->transport);
        json_builder_set_member_name(builder, "essential");
        json_builder_add_boolean_value(builder, row->essential);
        json_builder_set_member_name(builder, "detail");
        json_builder_add_boolean_value(builder, row->detail);
        json_builder_set_member_name(builder, "chosen");
        if (choice->chosen)
                add_candidate(builder, choice->chosen, choice->mechanism, NULL);
        else
                json_builder_add_null_value(builder);
        add_member(builder, "merged_into", choice->chosen ? NULL : row->merged);
        json_builder_set_member_name(builder, "rejected");
        json_builder_begin_array(builder);
        for (guint i = 0; i < choice->rejected->len; i++) {
                const HookRejection *rejection = choice->rejected->pdata[i];

                add_candidate(builder, rejection->candidate, hook_mechanism(rejection->candidate, rejection->family),
                              rejection->reason);
        }
        json_builder_end_array(builder);
        json_builder_end_object(builder);
}

JsonNode *hook_plan_to_json(const HookPlan *plan)
{
        g_autoptr(JsonBuilder) builder = json_builder_new();

        json_builder_begin_array(builder);
        for (guint i = 0; i < plan->choices->len; i++)
                add_row(builder, plan->choices->pdata[i]);
        json_builder_end_array(builder);
        return json_builder_get_root(builder);
}
