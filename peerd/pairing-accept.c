/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What another machine may have changed here. */
#include "error.h"
#include "pairing.h"

#define CLAIMED_MAX 16

/* Claims that are NQNs, and not more than a machine has. */
static char **claimed_nqns(GVariant *facts)
{
        g_autoptr(GStrvBuilder) good = g_strv_builder_new();
        g_auto(GStrv) claimed = np_facts_strv(facts, "host-nqns");

        for (guint i = 0, n = 0; claimed[i] && n < CLAIMED_MAX; i++)
                if (np_nqn_valid(claimed[i])) {
                        g_strv_builder_add(good, claimed[i]);
                        n++;
                }
        return g_strv_builder_end(good);
}

GVariant *np_pairing_accept(NpPeerd *peerd, const char *fingerprint, const char *address, const char *code, GVariant *facts,
                            GError **error)
{
        const NpPeerConfig *peer = np_pins_by_fingerprint(peerd->pins, fingerprint);
        g_autofree char *name = NULL;
        g_auto(GStrv) claimed = NULL;
        GVariantBuilder answer;

        /* Before the code is used up. */
        if (peer) {
                g_set_error(error, NP_ERROR, NP_ERROR_PEER_EXISTS,
                            "%s: this machine is paired there already, as %s: 'ntprofctl peer forget %s' there first",
                            g_get_host_name(), peer->name, peer->name);
                return NULL;
        }
        if (!np_invitations_redeem(peerd->invitations, np_identity_fingerprint(peerd->identity), code, &name, error)) {
                g_warning("%s (%s): could not join: %s", address, fingerprint, error ? (*error)->message : "");
                return NULL;
        }
        if (!name) {
                const char *machine = NULL;

                (void) g_variant_lookup(facts, "machine", "&s", &machine);
                name = np_pins_free_name(peerd->pins, machine);
        }
        claimed = claimed_nqns(facts);
        if (!np_pins_add(peerd->pins, name, fingerprint, NULL, (const char *const *) claimed, error))
                return NULL;
        g_message("%s: paired: at %s, %s", name, address, fingerprint);

        peer = np_pins_by_name(peerd->pins, name);
        g_variant_builder_init(&answer, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&answer, "{sv}", "name", g_variant_new_string(name));
        g_variant_builder_add(&answer, "{sv}", "confirmed", g_variant_new_boolean(peer && peer->host_nqns[0]));
        return g_variant_builder_end(&answer);
}

gboolean np_pairing_replace(NpPeerd *peerd, const char *name, const char *fingerprint)
{
        const NpPeerConfig *same = np_pins_by_fingerprint(peerd->pins, fingerprint);
        g_autoptr(GError) error = NULL;

        if (same) {
                g_warning("%s: wants the fingerprint that %s has: not changed", name, same->name);
                return FALSE;
        }
        if (!np_pins_replace_fingerprint(peerd->pins, name, fingerprint, &error)) {
                g_warning("%s has renewed its key: %s (the new one is %s)", name, error->message, fingerprint);
                return FALSE;
        }
        g_message("%s: has renewed its key: %s", name, fingerprint);
        return TRUE;
}

void np_pairing_forgotten(NpPeerd *peerd, const char *name)
{
        g_autoptr(GError) error = NULL;

        if (np_pins_remove(peerd->pins, name, &error))
                g_message("%s: forgotten: its administrator has ended the pairing", name);
        else
                g_message("%s: its administrator has ended the pairing; here it stays: %s", name, error->message);
}
