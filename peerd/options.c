/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include "error.h"

static const NpOption *find(const NpOption *known, gsize n_known, const char *key)
{
        for (gsize i = 0; i < n_known; i++)
                if (g_str_equal(known[i].key, key))
                        return &known[i];
        return NULL;
}

gboolean np_options_parse(GVariant *options, const NpOption *known, gsize n_known, GError **error)
{
        GVariantIter iter;
        const char *key;
        GVariant *v;

        g_variant_iter_init(&iter, options);
        while (g_variant_iter_next(&iter, "{&sv}", &key, &v)) {
                const NpOption *option = find(known, n_known, key);
                g_autofree char *quoted = np_error_quote(key);
                g_autoptr(GVariant) value = v;
                char type[] = { option ? option->type : '\0', '\0' };

                if (!option) {
                        g_set_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION, "%s: no such option", quoted);
                        return FALSE;
                }
                if (!g_variant_is_of_type(value, (const GVariantType *) type)) {
                        g_set_error(error, NP_ERROR, NP_ERROR_INVALID_OPTION, "%s: its type is \"%s\", not \"%s\"", quoted,
                                    type, g_variant_get_type_string(value));
                        return FALSE;
                }
                if (option->type == 's') {
                        g_free(*(char **) option->to);
                        *(char **) option->to = g_variant_dup_string(value, NULL);
                } else
                        *(guint64 *) option->to = g_variant_get_uint64(value);
        }
        return TRUE;
}
