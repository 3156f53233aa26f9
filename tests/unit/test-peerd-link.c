/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links over real TLS on loopback: who gets in, what gets through, and what it says when not. */

#include "fake-machine.h"
#include "peerd/error.h"
#include "peerd/link-internal.h"

static void pair(Machine *a, Machine *b)
{
        machine_pin(a, b, TRUE);
        machine_pin(b, a, FALSE);
}

static void test_pinned(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = NULL, again = NULL, back = NULL;
        const char *machine;

        pair(a, b);
        link = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(np_link_peer(link), ==, "stor-b");
        g_assert_cmpstr(np_link_fingerprint(link), ==, np_identity_fingerprint(b->identity));
        g_assert_cmpstr(np_link_address(link), ==, b->address);
        g_assert_true(np_link_outgoing(link));
        g_assert_cmpuint(np_link_protocol(link), ==, 1);
        g_assert_true(g_variant_lookup(np_link_facts(link), "machine", "&s", &machine));
        g_assert_cmpstr(machine, ==, "stor-b");
        g_assert_cmpuint(a->met, ==, 1);

        /* the link that is there serves both, also the side that can't connect */
        again = machine_get(a, "stor-b", 5, &error);
        g_assert_true(again == link);
        back = machine_get(b, "host-a", 5, &error);
        g_assert_no_error(error);
        g_assert_false(np_link_outgoing(back));
        g_assert_cmpuint(b->met, ==, 1);
        g_assert_true(g_variant_lookup(np_link_facts(back), "machine", "&s", &machine));
        g_assert_cmpstr(machine, ==, "host-a");
}

static void test_both_connect(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) ab = NULL, ba = NULL;
        g_autoptr(NpLink) second = NULL;

        machine_pin(a, b, TRUE);
        machine_pin(b, a, TRUE);
        ab = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        /* b's own view of it goes, and it connects itself */
        np_links_close(b->links, "host-a", "test");
        ba = machine_get(b, "host-a", 5, &error);
        g_assert_no_error(error);
        g_assert_true(np_link_outgoing(ba));
        second = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        g_assert_true(np_link_is_open(second));
}

static void test_wrong_pin_of_target(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b"), c = machine_new("stor-c");
        g_autoptr(GError) error = NULL;

        machine_pin(b, a, FALSE);
        machine_pin(a, c, TRUE);
        /* c's name and pin, b's address */
        {
                NpPeerConfig *config = g_hash_table_lookup(a->pins, np_identity_fingerprint(c->identity));

                g_free(config->address);
                config->address = g_strdup(b->address);
        }
        g_assert_null(machine_get(a, "stor-c", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE);
        g_assert_nonnull(strstr(error->message, "is not stor-c"));
        g_assert_nonnull(strstr(error->message, np_identity_fingerprint(b->identity)));
        g_assert_cmpuint(b->met, ==, 0);
}

static void test_wrong_pin_of_host(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b"), c = machine_new("host-c");
        g_autoptr(GError) error = NULL;

        machine_pin(a, b, TRUE);
        machine_pin(b, c, FALSE);
        g_assert_null(machine_get(a, "stor-b", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_REFUSED);
        g_assert_nonnull(strstr(error->message, "does not know this machine's certificate"));
        g_assert_cmpuint(b->met, ==, 0);
        g_assert_null(np_links_peek(b->links, "host-c"));
}

static void test_unreachable(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b"), c = machine_new("stor-c");
        g_autoptr(GError) error = NULL;
        NpPeerConfig *config;

        g_assert_null(machine_get(a, "nobody", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_NO_PEER);
        g_clear_error(&error);

        machine_pin(a, b, FALSE);
        g_assert_null(machine_get(a, "stor-b", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE);
        g_assert_nonnull(strstr(error->message, "its address is not known"));
        g_clear_error(&error);

        machine_pin(a, c, TRUE);
        config = g_hash_table_lookup(a->pins, np_identity_fingerprint(c->identity));
        g_free(config->address);
        config->address = g_strdup("127.0.0.1:1");
        g_assert_null(machine_get(a, "stor-c", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE);
        g_assert_nonnull(strstr(error->message, "no connection to 127.0.0.1:1"));
}

static void test_invited(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b"), c = machine_new("stor-c");
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) joined = NULL;
        g_autofree char *nqn = NULL;
        const char *name;
        gboolean confirmed;

        /* no invitation stands */
        g_assert_null(machine_join(a, b, np_identity_fingerprint(b->identity), "AAAA-BBBB", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID);
        g_assert_nonnull(strstr(error->message, "expired or was used"));
        g_clear_error(&error);

        /* not the fingerprint of the line: the code is not sent */
        b->invited = TRUE;
        g_assert_null(machine_join(a, b, np_identity_fingerprint(c->identity), "AAAA-BBBB", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID);
        g_clear_error(&error);
        g_assert_cmpuint(b->joins, ==, 0);
        g_assert_cmpuint(b->met, ==, 0);

        b->join_error = g_strdup("a wrong code\nwith \033[31mcolour");
        g_assert_null(machine_join(a, b, np_identity_fingerprint(b->identity), "AAAA-BBBB", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID);
        g_assert_nonnull(strstr(error->message, "a wrong code?with ?[31mcolour"));
        g_clear_error(&error);
        g_clear_pointer(&b->join_error, g_free);

        joined = machine_join(a, b, np_identity_fingerprint(b->identity), "AAAA-BBBB", &error);
        g_assert_no_error(error);
        g_assert_cmpstr(b->joined_code, ==, "AAAA-BBBB");
        g_assert_true(g_variant_lookup(joined, "name", "&s", &name) && g_variant_lookup(joined, "confirmed", "b", &confirmed));
        g_assert_cmpstr(name, ==, "guest");
        g_assert_true(confirmed);
        nqn = g_variant_print(b->joined_facts, FALSE);
        g_assert_nonnull(strstr(nqn, "uuid:1234"));
}

static void test_forget_renew(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = NULL;

        pair(a, b);
        link = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        g_assert_nonnull(np_links_peek(b->links, "host-a"));
        machine_unpin(b, a);
        np_links_check_pins(b->links);
        g_assert_null(np_links_peek(b->links, "host-a"));
        while (np_link_is_open(link))
                g_main_context_iteration(NULL, TRUE);
        g_clear_object(&link);
        g_assert_null(machine_get(a, "stor-b", 5, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_REFUSED);
}

typedef struct {
        GAsyncResult *result;
        gboolean done;
} Answer;

static void store_answer(GObject *source, GAsyncResult *result, gpointer data)
{
        ((Answer *) data)->result = g_object_ref(result);
        ((Answer *) data)->done = TRUE;
}

static gboolean answered(gpointer data)
{
        return ((Answer *) data)->done;
}

static gboolean link_closed(gpointer data)
{
        return !np_link_is_open(data);
}

static GAsyncResult *wait_for(Answer *answer)
{
        GAsyncResult *result;

        run_until(answered, answer, 5);
        result = answer->result;
        memset(answer, 0, sizeof(*answer));
        return result;
}

static void test_asking(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = NULL;
        g_autoptr(GAsyncResult) hello = NULL, renewed = NULL, refused = NULL, forgotten = NULL, late = NULL;
        Answer answer = { 0 };
        gboolean pinned;
        const char *machine;

        pair(a, b);
        link = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
        b->facts = g_variant_ref_sink(
                g_variant_new_parsed("{'machine': <'renamed'>, 'software': <'two\nlines'>, 'subsystems': <7>}"));
        np_link_hello_async(link, NULL, store_answer, &answer);
        hello = wait_for(&answer);
        g_assert_cmpuint(np_link_hello_finish(link, hello, &error), <, 5 * G_USEC_PER_SEC);
        g_assert_no_error(error);
        g_assert_true(g_variant_lookup(np_link_facts(link), "machine", "&s", &machine));
        g_assert_cmpstr(machine, ==, "renamed");
        g_assert_true(g_variant_lookup(np_link_facts(link), "software", "&s", &machine));
        g_assert_cmpstr(machine, ==, "");
        g_assert_cmpuint(a->met, ==, 2);
        g_assert_cmpuint(b->met, ==, 1);

        /* the administrator has fixed it: nothing changes, the link neither */
        b->renewable = FALSE;
        np_link_renew_async(link, np_identity_fingerprint(b->identity), NULL, store_answer, &answer);
        refused = wait_for(&answer);
        g_assert_true(np_link_renew_finish(link, refused, &pinned, &error));
        g_assert_false(pinned);
        g_assert_true(np_link_is_open(link));
        b->renewable = TRUE;
        np_link_renew_async(link, np_identity_fingerprint(b->identity), NULL, store_answer, &answer);
        renewed = wait_for(&answer);
        g_assert_true(np_link_renew_finish(link, renewed, &pinned, &error));
        g_assert_true(pinned);
        g_assert_cmpuint(b->renewed, ==, 2);
        run_until(link_closed, link, 5);

        g_clear_object(&link);
        link = machine_get(a, "stor-b", 5, &error);
        np_link_forget_async(link, NULL, store_answer, &answer);
        forgotten = wait_for(&answer);
        g_assert_true(np_link_forget_finish(link, forgotten, &error));
        g_assert_no_error(error);
        g_assert_cmpuint(b->forgotten, ==, 1);
        run_until(link_closed, link, 5);
        np_link_forget_async(link, NULL, store_answer, &answer);
        late = wait_for(&answer);
        g_assert_false(np_link_forget_finish(link, late, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PEER_UNREACHABLE);
}

/* Nothing is under way for long enough; and a stream is something. */
static void test_idle(void)
{
        g_autoptr(Machine) a = machine_new("host-a"), b = machine_new("stor-b");
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLink) link = NULL;
        int fd;

        pair(a, b);
        fd = machine_open(a, "stor-b", &error);
        g_assert_no_error(error);
        link = g_object_ref(np_links_peek(a->links, "stor-b"));
        link->idle_since -= 100 * G_USEC_PER_SEC;
        run_for(1.5);
        g_assert_true(np_link_is_open(link));
        close(fd);
        run_for(0.3);
        g_assert_cmpuint(np_link_n_streams(link), ==, 0);
        link->idle_since -= 58 * G_USEC_PER_SEC;
        run_for(0.5);
        g_assert_true(np_link_is_open(link));
        link->idle_since -= 3 * G_USEC_PER_SEC;
        run_until(link_closed, link, 2);
        /* and anew when it is needed */
        g_clear_object(&link);
        link = machine_get(a, "stor-b", 5, &error);
        g_assert_no_error(error);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
        g_log_set_fatal_mask("ntprof-peerd", G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);
        g_test_add_func("/peerd/link/pinned", test_pinned);
        g_test_add_func("/peerd/link/both-connect", test_both_connect);
        g_test_add_func("/peerd/link/wrong-pin-of-target", test_wrong_pin_of_target);
        g_test_add_func("/peerd/link/wrong-pin-of-host", test_wrong_pin_of_host);
        g_test_add_func("/peerd/link/unreachable", test_unreachable);
        g_test_add_func("/peerd/link/invited", test_invited);
        g_test_add_func("/peerd/link/forget-renew", test_forget_renew);
        g_test_add_func("/peerd/link/asking", test_asking);
        g_test_add_func("/peerd/link/idle", test_idle);
        return g_test_run();
}
