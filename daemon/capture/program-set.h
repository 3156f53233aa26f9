/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs of a side in one of their families (bpf/hook.h): opened, chosen from, loaded, attached. All families of a side
 * have the same maps and variables, so these are found by name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../kernel/plan.h"
#include "../kernel/types.h"

struct bpf_map;
struct bpf_object;

typedef struct ProgramSet ProgramSet;

int program_set_open(HookSides side, HookFamily family, ProgramSet **ret);
void program_set_free(ProgramSet *set);

HookFamily program_set_family(const ProgramSet *set);
struct bpf_object *program_set_object(const ProgramSet *set);

/* The names that a plan knows, in the order of the source; to be freed with g_strfreev(). */
char **program_set_names(const ProgramSet *set);
/* Those that the plan does not name stay unloaded. */
void program_set_choose(ProgramSet *set, const HookPlan *plan);
bool program_set_is_chosen(const ProgramSet *set, const char *program);

/* Before loading: a constant of the programs. -ENOENT when there is none of that name and size. */
int program_set_write_constant(ProgramSet *set, const char *name, const void *value, size_t size);

/* Before loading probes: where the kernel's structures are known from. Typed ones are loaded by the kernel's own BTF. */
int program_set_take_types(ProgramSet *set, KernelTypes *types, Error *error);

int program_set_load(ProgramSet *set);
int program_set_attach(ProgramSet *set);
void program_set_detach(ProgramSet *set);

struct bpf_map *program_set_map(const ProgramSet *set, const char *name);
/* After loading: a variable of the programs, where they see it. NULL when there is none of that name and size. */
void *program_set_variable(const ProgramSet *set, const char *name, size_t size);
/* How often the kernel skipped one of the programs. */
uint64_t program_set_skipped(const ProgramSet *set);
