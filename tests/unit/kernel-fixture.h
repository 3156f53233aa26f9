/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inventories of tests/fixtures/kernels, to be changed before a plan is made from them. */
#pragma once

#include "daemon/kernel/plan-internal.h"

#define BOTH_SIDES (HOOK_SIDE_HOST | HOOK_SIDE_TARGET)

/* Each that was recorded on a real kernel; NULL ends it. */
extern const char *const recorded_kernels[];
/* Each that was made from stubs (stub-inventory.c), by the build, for tests that depend on them; NULL ends it. */
extern const char *const planned_kernels[];

/* The document, by its file's name without ".json". */
JsonNode *kernel_fixture_load(const char *name);
KernelInventory *kernel_fixture_inventory(JsonNode *node);

/* With all capabilities, when the scope has none. */
HookPlan *kernel_fixture_plan(JsonNode *node, HookScope scope);

/* A module's member of the document. */
JsonObject *kernel_fixture_module(JsonNode *node, const char *module);
/* Takes a string out of a set of a module, or all with a NULL value. */
void kernel_fixture_take_away(JsonNode *node, const char *module, const char *set, const char *value);
void kernel_fixture_set_boolean(JsonNode *node, const char *module, const char *name, gboolean value);
void kernel_fixture_set_string(JsonNode *node, const char *module, const char *name, const char *value);
JsonObject *kernel_fixture_settings(JsonNode *node);
/* As on a kernel that was built without BTF of modules, and nobody knows their structures otherwise. */
void kernel_fixture_take_btf(JsonNode *node, const char *module);

/* Of the row for this boundary that covers these commands (NULL: all). */
const HookChoice *kernel_fixture_choice(const HookPlan *plan, const char *boundary, const char *covers);
void kernel_fixture_assert_chosen(const HookPlan *plan, const char *boundary, const char *covers, const char *mechanism,
                                  const char *symbol);
/* Each of the sides can be recorded, by such programs. */
void kernel_fixture_assert_family(const HookPlan *plan, HookSides sides, HookFamily family);
/* Why the nth of what is better was not taken. */
const char *kernel_fixture_why_not(const HookPlan *plan, const char *boundary, const char *covers, unsigned n);
