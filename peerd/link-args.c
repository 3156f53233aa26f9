/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link-args.h"

#include <string.h>

#include "../shared/peer-config.h"
#include "error.h"
#include "link.h"

static gboolean printable(const char *text, gsize max)
{
        if (strlen(text) > max)
                return FALSE;
        for (const char *p = text; *p; p = g_utf8_next_char(p))
                if (!g_unichar_isprint(g_utf8_get_char(p)))
                        return FALSE;
        return TRUE;
}

static const char *text_of(GVariant *dict, const char *key)
{
        const char *text = NULL;

        return g_variant_lookup(dict, key, "&s", &text) && printable(text, NP_ARGS_TEXT_MAX) ? text : "";
}

static void add_text(GVariantBuilder *builder, GVariant *dict, const char *key)
{
        g_variant_builder_add(builder, "{sv}", key, g_variant_new_string(text_of(dict, key)));
}

static gboolean subsystem_valid(const char *nqn)
{
        return *nqn && printable(nqn, NP_ARGS_NQN_MAX);
}

static void add_nqns(GVariantBuilder *builder, GVariant *dict, const char *key, gboolean (*valid)(const char *nqn), gsize max)
{
        g_autoptr(GVariant) list = g_variant_lookup_value(dict, key, G_VARIANT_TYPE_STRING_ARRAY);
        g_auto(GVariantBuilder) nqns = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_STRING_ARRAY);
        gsize n = list ? g_variant_n_children(list) : 0, taken = 0;

        for (gsize i = 0; i < n && taken < max; i++) {
                g_autoptr(GVariant) child = g_variant_get_child_value(list, i);
                const char *nqn = g_variant_get_string(child, NULL);

                if (valid(nqn)) {
                        g_variant_builder_add(&nqns, "s", nqn);
                        taken++;
                }
        }
        g_variant_builder_add(builder, "{sv}", key, g_variant_builder_end(&nqns));
}

GVariant *np_args_facts(GVariant *facts)
{
        g_auto(GVariantBuilder) clean = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);

        add_text(&clean, facts, "software");
        add_text(&clean, facts, "machine");
        add_nqns(&clean, facts, "subsystems", subsystem_valid, NP_ARGS_SUBSYSTEMS_MAX);
        return g_variant_ref_sink(g_variant_builder_end(&clean));
}

GVariant *np_args_facts_public(GVariant *facts)
{
        g_auto(GVariantBuilder) clean = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);

        add_text(&clean, facts, "software");
        add_text(&clean, facts, "machine");
        return g_variant_ref_sink(g_variant_builder_end(&clean));
}

GVariant *np_args_join(GVariant *facts)
{
        g_auto(GVariantBuilder) clean = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);

        add_text(&clean, facts, "machine");
        add_nqns(&clean, facts, "host-nqns", np_nqn_valid, NP_ARGS_HOST_NQNS_MAX);
        return g_variant_ref_sink(g_variant_builder_end(&clean));
}

GVariant *np_args_joined(GVariant *facts)
{
        g_auto(GVariantBuilder) clean = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
        gboolean confirmed = FALSE;

        g_variant_lookup(facts, "confirmed", "b", &confirmed);
        add_text(&clean, facts, "name");
        g_variant_builder_add(&clean, "{sv}", "confirmed", g_variant_new_boolean(confirmed));
        return g_variant_ref_sink(g_variant_builder_end(&clean));
}

static gboolean filters_ok(GVariant *filters)
{
        gsize n;

        if (!g_variant_is_of_type(filters, G_VARIANT_TYPE("a(ssu)")))
                return FALSE;
        n = g_variant_n_children(filters);
        if (n < 1 || n > NP_ARGS_FILTERS_MAX)
                return FALSE;
        for (gsize i = 0; i < n; i++) {
                const char *subsysnqn, *hostnqn;
                guint32 nsid;

                g_variant_get_child(filters, i, "(&s&su)", &subsysnqn, &hostnqn, &nsid);
                if (!subsystem_valid(subsysnqn) || !subsystem_valid(hostnqn))
                        return FALSE;
        }
        return TRUE;
}

static gboolean transports_ok(GVariant *transports)
{
        gsize n;

        if (!g_variant_is_of_type(transports, G_VARIANT_TYPE_STRING_ARRAY))
                return FALSE;
        n = g_variant_n_children(transports);
        if (n < 1 || n > NP_ARGS_TRANSPORTS_MAX)
                return FALSE;
        for (gsize i = 0; i < n; i++) {
                const char *name;

                g_variant_get_child(transports, i, "&s", &name);
                if (!*name || !printable(name, NP_ARGS_TRANSPORT_MAX))
                        return FALSE;
        }
        return TRUE;
}

static gboolean duration_ok(GVariant *value)
{
        return g_variant_is_of_type(value, G_VARIANT_TYPE_UINT64);
}

static gboolean detail_ok(GVariant *value)
{
        return g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN);
}

static gboolean user_ok(GVariant *value)
{
        return g_variant_is_of_type(value, G_VARIANT_TYPE_STRING) &&
               printable(g_variant_get_string(value, NULL), NP_ARGS_TEXT_MAX);
}

/* The options of OpenTarget: org.ntprof1.internal.Peer.xml says what they mean. */
static const struct {
        const char *key;
        gboolean (*ok)(GVariant *value);
} request_keys[] = {
        { "filters", filters_ok },
        { "transports", transports_ok },
        { "duration-usec", duration_ok },
        { "detail", detail_ok },
        { "user", user_ok },
};

/* -1: there is no such option. */
static int request_key(const char *key)
{
        for (guint i = 0; i < G_N_ELEMENTS(request_keys); i++)
                if (g_str_equal(request_keys[i].key, key))
                        return (int) i;
        return -1;
}

GVariant *np_args_request(GVariant *request, GError **error)
{
        g_auto(GVariantBuilder) clean = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
        guint seen = 0;
        GVariantIter iter;
        const char *key;
        GVariant *value;

        /* More entries are twice the same, or unknown. */
        if (g_variant_n_children(request) > G_N_ELEMENTS(request_keys)) {
                g_set_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION, "the request has more than its %u options",
                            (guint) G_N_ELEMENTS(request_keys));
                return NULL;
        }
        g_variant_iter_init(&iter, request);
        while (g_variant_iter_loop(&iter, "{&sv}", &key, &value)) {
                int at = request_key(key);

                if (at < 0 || seen & 1u << at || !request_keys[at].ok(value)) {
                        g_autofree char *quoted = np_error_quote(key);

                        g_set_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION, "%s: %s", quoted,
                                    at < 0 ? "there is no such option: one of the two machines has another version" :
                                             "has a wrong type or value, or is there twice");
                        g_variant_unref(value);
                        return NULL;
                }
                seen |= 1u << at;
                g_variant_builder_add(&clean, "{sv}", key, value);
        }
        if (!(seen & 1u << request_key("filters"))) {
                g_set_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION, "filters: must be there");
                return NULL;
        }
        return g_variant_ref_sink(g_variant_builder_end(&clean));
}

char *np_args_message(const char *message)
{
        g_autofree char *valid = g_utf8_make_valid(message, (gssize) strnlen(message, NP_ARGS_MESSAGE_MAX));
        g_autoptr(GString) clean = g_string_new(NULL);

        for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                g_string_append_unichar(clean, g_unichar_isprint(c) ? c : '?');
        }
        return g_string_free(g_steal_pointer(&clean), FALSE);
}

static char *versions(guint minimum, guint maximum)
{
        return minimum == maximum ? g_strdup_printf("%u", minimum) : g_strdup_printf("%u to %u", minimum, maximum);
}

guint np_args_negotiate(guint minimum, guint maximum, GVariant *their_facts, GVariant *our_facts, GError **error)
{
        guint best = MIN(maximum, NP_LINK_PROTOCOL_MAX);
        g_autofree char *theirs = versions(minimum, maximum), *ours = versions(NP_LINK_PROTOCOL_MIN, NP_LINK_PROTOCOL_MAX);
        const char *their_machine = text_of(their_facts, "machine"), *our_machine = text_of(our_facts, "machine");

        if (best >= MAX(minimum, NP_LINK_PROTOCOL_MIN) && best >= 1)
                return best;
        g_set_error(error, NP_ERROR, NP_ERROR_PEER_VERSION,
                    "%s (%s) speaks version %s of the protocol, %s (%s) version %s: update ntprof on %s",
                    *their_machine ? their_machine : "the other machine", text_of(their_facts, "software"), theirs,
                    *our_machine ? our_machine : "this machine", text_of(our_facts, "software"), ours,
                    maximum < NP_LINK_PROTOCOL_MIN || maximum < minimum ? (*their_machine ? their_machine : "the other machine")
                                                                        : (*our_machine ? our_machine : "this machine"));
        return 0;
}
