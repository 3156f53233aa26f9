/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of whoever runs it: root's sets have something in them, others' have not, and what is promised holds of both. */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "../../daemon/privileges.h"

/* A line of hexadecimal digits in the calling thread's status. */
static uint64_t status(const char *name)
{
        g_autofree char *text = NULL, *key = g_strdup_printf("\n%s:\t", name);
        char *line;

        g_assert_true(g_file_get_contents("/proc/thread-self/status", &text, NULL, NULL));
        line = strstr(text, key);
        g_assert_nonnull(line);
        return g_ascii_strtoull(line + strlen(key), NULL, 16);
}

static void nothing_is_effective_after_the_start(void)
{
        uint64_t before = status("CapPrm");

        g_test_message("%s", before ? "some are permitted" : "none is permitted");
        g_assert_cmpint(privileges_start(), ==, 0);
        g_assert_cmphex(status("CapPrm"), ==, before & PRIVILEGES_ALL);
        g_assert_cmphex(status("CapEff"), ==, 0);
        g_assert_cmphex(status("CapInh"), ==, 0);
        g_assert_cmphex(status("CapAmb"), ==, 0);
        g_assert_cmphex(privileges_permitted(), ==, status("CapPrm"));
        g_assert_cmphex(privileges_effective(), ==, 0);
}

static void a_scope_raises_what_it_names_and_is_permitted(void)
{
        uint64_t permitted = privileges_permitted();

        {
                _cleanup_(privileges_drop) PrivilegesScope scope = privileges_raise(PRIVILEGES_PROBES);

                g_assert_cmphex(status("CapEff"), ==, permitted & PRIVILEGES_PROBES);
                g_assert_cmphex(status("CapPrm"), ==, permitted);
                g_assert_cmphex(status("CapInh"), ==, 0);
                g_assert_cmphex(status("CapAmb"), ==, 0);
        }
        g_assert_cmphex(status("CapEff"), ==, 0);
}

static void an_inner_scope_leaves_what_the_outer_one_raised(void)
{
        _cleanup_(privileges_drop) PrivilegesScope outer = privileges_raise(PRIVILEGES_BPF);
        uint64_t permitted = privileges_permitted();

        {
                _cleanup_(privileges_drop) PrivilegesScope inner = privileges_raise(PRIVILEGE(CAP_PERFMON));

                g_assert_cmphex(status("CapEff"), ==, permitted & PRIVILEGES_PROBES);
        }
        g_assert_cmphex(status("CapEff"), ==, permitted & PRIVILEGES_BPF);
}

static void who_administers_lacks_neither_of_the_others(void)
{
        uint64_t permitted = privileges_permitted();
        _cleanup_(privileges_drop) PrivilegesScope scope = privileges_raise(PRIVILEGES_BPF | PRIVILEGE(CAP_CHOWN));

        /* CAP_CHOWN stays with nobody. */
        g_assert_cmphex(status("CapEff"), ==, permitted & (PRIVILEGES_BPF | PRIVILEGE(CAP_SYS_ADMIN)));
        g_assert_cmphex(privileges_lacking(PRIVILEGES_PROBES, PRIVILEGE(CAP_SYS_ADMIN)), ==, 0);
        g_assert_cmphex(privileges_lacking(PRIVILEGES_TYPED, PRIVILEGES_BPF), ==, PRIVILEGES_TYPED & ~PRIVILEGES_BPF);
}

static void *look(void *ret)
{
        ((uint64_t *) ret)[0] = status("CapEff");
        ((uint64_t *) ret)[1] = status("CapPrm");
        return NULL;
}

static void *raise_and_wait(void *userdata)
{
        GAsyncQueue **queues = userdata;
        PrivilegesScope scope = privileges_raise(PRIVILEGES_ALL);

        g_async_queue_push(queues[0], g_memdup2(&(uint64_t) { status("CapEff") }, sizeof(uint64_t)));
        g_async_queue_pop(queues[1]);   /* until it was looked at from outside */
        privileges_drop(&scope);
        return NULL;
}

static void a_scope_is_its_threads_own(void)
{
        GAsyncQueue *queues[2] = { g_async_queue_new(), g_async_queue_new() };
        uint64_t permitted = privileges_permitted(), others[2];
        g_autofree uint64_t *raised = NULL;
        GThread *thread;

        thread = g_thread_new("raised", raise_and_wait, queues);
        raised = g_async_queue_pop(queues[0]);
        g_assert_cmphex(*raised, ==, permitted);
        g_assert_cmphex(status("CapEff"), ==, 0);
        g_thread_join(g_thread_new("other", look, others));
        g_assert_cmphex(others[0], ==, 0);
        g_assert_cmphex(others[1], ==, permitted);

        g_async_queue_push(queues[1], queues);
        g_thread_join(thread);
        g_async_queue_unref(queues[0]);
        g_async_queue_unref(queues[1]);
}

static void sets_are_told_by_name(void)
{
        g_autofree char *none = privileges_to_text(0), *one = privileges_to_text(PRIVILEGES_BPF),
                        *three = privileges_to_text(PRIVILEGES_TYPED);

        g_assert_cmpstr(none, ==, "");
        g_assert_cmpstr(one, ==, "CAP_BPF");
        g_assert_cmpstr(three, ==, "CAP_SYS_ADMIN, CAP_PERFMON and CAP_BPF");
}

static void advice_names_what_is_lacking(void)
{
        g_autofree char *advice = privileges_advice(PRIVILEGES_PROBES);

        g_assert_null(privileges_advice(0));
        g_assert_nonnull(strstr(advice, "CAP_PERFMON and CAP_BPF in AmbientCapabilities="));
        g_assert_null(strstr(advice, "CAP_SYS_ADMIN"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/privileges/start", nothing_is_effective_after_the_start);
        g_test_add_func("/privileges/scope", a_scope_raises_what_it_names_and_is_permitted);
        g_test_add_func("/privileges/nested", an_inner_scope_leaves_what_the_outer_one_raised);
        g_test_add_func("/privileges/admin", who_administers_lacks_neither_of_the_others);
        g_test_add_func("/privileges/thread", a_scope_is_its_threads_own);
        g_test_add_func("/privileges/names", sets_are_told_by_name);
        g_test_add_func("/privileges/advice", advice_names_what_is_lacking);
        return g_test_run();
}
