/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be known of the programs without loading them: that both families of a side have what the capture looks up by name.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <glib.h>
#include <linux/bpf.h>

#include "bpf/record.h"
#include "daemon/capture/program-set.h"

static const HookFamily families[] = { HOOK_FAMILY_TYPED, HOOK_FAMILY_PROBES };

static ProgramSet *open_set(HookSides side, HookFamily family)
{
        ProgramSet *set;

        g_assert_cmpint(program_set_open(side, family, &set), ==, 0);
        g_assert_cmpint(program_set_family(set), ==, family);
        return set;
}

static void test_constants(void)
{
        static const struct {
                HookSides side;
                const char *name;
                size_t size;
        } constants[] = {
                { HOOK_SIDE_HOST,   "host_filters",             sizeof(struct np_host_filter) * NP_FILTERS_MAX },
                { HOOK_SIDE_HOST,   "n_host_filters",           4 },
                { HOOK_SIDE_HOST,   "head_major",               4 },
                { HOOK_SIDE_HOST,   "head_minor",               4 },
                { HOOK_SIDE_HOST,   "arrivals_at_sockets",      1 },
                { HOOK_SIDE_HOST,   "r2ts_are_told",            1 },
                { HOOK_SIDE_TARGET, "target_filters",           sizeof(struct np_target_filter) * NP_FILTERS_MAX },
                { HOOK_SIDE_TARGET, "n_target_filters",         4 },
                { HOOK_SIDE_TARGET, "arrivals_at_sockets",      1 },
                { HOOK_SIDE_TARGET, "wait_for_send_completion", 1 },
        };
        g_autofree void *zeros = g_malloc0(1 << 16);

        for (size_t i = 0; i < G_N_ELEMENTS(families); i++)
                for (size_t j = 0; j < G_N_ELEMENTS(constants); j++) {
                        ProgramSet *set = open_set(constants[j].side, families[i]);
                        int r = program_set_write_constant(set, constants[j].name, zeros, constants[j].size);

                        if (r < 0)
                                g_error("%s of %zu bytes: %s", constants[j].name, constants[j].size, g_strerror(-r));
                        g_assert_cmpint(program_set_write_constant(set, constants[j].name, zeros, constants[j].size + 1), ==, -ENOENT);
                        g_assert_cmpint(program_set_write_constant(set, "nothing", zeros, constants[j].size), ==, -ENOENT);
                        program_set_free(set);
                }
}

static void test_maps(void)
{
        static const char *const names[] = { "ring", "cpus", "live", "arrivals" };

        for (size_t i = 0; i < G_N_ELEMENTS(families); i++)
                for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                        ProgramSet *set = open_set(side, families[i]);

                        for (size_t j = 0; j < G_N_ELEMENTS(names); j++)
                                g_assert_nonnull(program_set_map(set, names[j]));
                        g_assert_null(program_set_map(set, "nothing"));
                        /* Not before it is loaded. */
                        g_assert_null(program_set_variable(set, "recording", 4));
                        program_set_free(set);
                }
}

/* Before 5.12 there is no atomic instruction but an addition without a result, and the compiler makes others of what looks
 * like one: "or 0" of an addition of 0. */
static void test_instructions(void)
{
        unsigned n_atomic = 0;

        for (HookSides side = HOOK_SIDE_HOST; side <= HOOK_SIDE_TARGET; side <<= 1) {
                ProgramSet *set = open_set(side, HOOK_FAMILY_PROBES);
                struct bpf_program *program;

                bpf_object__for_each_program(program, program_set_object(set)) {
                        const struct bpf_insn *instructions = bpf_program__insns(program);

                        for (size_t i = 0; i < bpf_program__insn_cnt(program); i++) {
                                if (BPF_CLASS(instructions[i].code) != BPF_STX || BPF_MODE(instructions[i].code) != BPF_ATOMIC)
                                        continue;
                                n_atomic++;
                                if (instructions[i].imm != BPF_ADD)
                                        g_error("%s, instruction %zu: atomic operation %#x", bpf_program__name(program), i,
                                                instructions[i].imm);
                        }
                }
                program_set_free(set);
        }
        g_assert_cmpuint(n_atomic, >, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/program-set/constants", test_constants);
        g_test_add_func("/program-set/maps", test_maps);
        g_test_add_func("/program-set/instructions", test_instructions);
        return g_test_run();
}
