/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "line.h"

#include <gnutls/crypto.h>
#include <string.h>

#include "../shared/peer-config.h"
#include "error.h"

#define PREFIX "ntprof:"
#define FINGERPRINT_SIZE 71     /* "sha256-" and 64 digits */
#define GROUP 4
#define CODE_BITS 40
#define CHECK_BITS 20
#define LINE_MAX_SIZE 512

/* Crockford's: no I, L, O, U. */
static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/* Big endian; n is a multiple of 5 at most 60. */
static void encode(guint64 value, unsigned bits, char *out)
{
        for (unsigned i = 0; i < bits / 5; i++)
                *out++ = digits[(value >> (bits - 5 * (i + 1))) & 31];
        *out = '\0';
}

/* The digit as it is meant, NUL for none. */
static char canonical(char c)
{
        c = g_ascii_toupper(c);
        if (c == 'O')
                return '0';
        if (c == 'I' || c == 'L')
                return '1';
        return c && strchr(digits, c) ? c : '\0';
}

/* Groups of four, with '-' between, however they were written; NULL when text is of other characters or another length. */
static char *canonical_groups(const char *text, unsigned n_groups)
{
        g_autoptr(GString) out = g_string_new(NULL);
        unsigned n = 0;

        for (const char *p = text; *p; p++) {
                char c = canonical(*p);

                if (*p == '-' && n > 0 && n % GROUP == 0 && p[-1] != '-')
                        continue;
                if (!c || n == n_groups * GROUP)
                        return NULL;
                if (n > 0 && n % GROUP == 0)
                        g_string_append_c(out, '-');
                g_string_append_c(out, c);
                n++;
        }
        return n == n_groups * GROUP && !g_str_has_suffix(text, "-") ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

char *np_code_canonical(const char *text)
{
        return canonical_groups(text, 2);
}

char *np_code_new(GError **error)
{
        char code[CODE_BITS / 5 + 1];
        guint64 value;
        int r;

        r = gnutls_rnd(GNUTLS_RND_KEY, &value, sizeof(value));
        if (r < 0) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "no random numbers: %s", gnutls_strerror(r));
                return NULL;
        }
        encode(value & ((G_GUINT64_CONSTANT(1) << CODE_BITS) - 1), CODE_BITS, code);
        return canonical_groups(code, 2);
}

/* Of all before the last group, as it is written in full. */
static void check_characters(const char *text, char out[CHECK_BITS / 5 + 1])
{
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
        guint8 digest[32];
        gsize size = sizeof(digest);

        g_checksum_update(sum, (const guchar *) text, -1);
        g_checksum_get_digest(sum, digest, &size);
        encode(((guint64) digest[0] << 16 | digest[1] << 8 | digest[2]) >> (24 - CHECK_BITS), CHECK_BITS, out);
}

char *np_line_address(const NpLine *line)
{
        return g_strdup_printf(strchr(line->address, ':') ? "[%s]:%u" : "%s:%u", line->address, line->port);
}

static char *without_check(const NpLine *line)
{
        g_autofree char *address = np_line_address(line);

        return g_strdup_printf(PREFIX "%s:%s:%s", address, line->fingerprint, line->code);
}

char *np_line_format(const NpLine *line)
{
        g_autofree char *text = without_check(line);
        char check[CHECK_BITS / 5 + 1];

        check_characters(text, check);
        return g_strdup_printf("%s-%s", text, check);
}

void np_line_free(NpLine *line)
{
        if (!line)
                return;
        g_free(line->address);
        g_free(line->fingerprint);
        g_free(line->code);
        g_free(line);
}

/* ---- parsing ---- */

static gpointer wrong(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gpointer wrong(GError **error, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_autofree char *why = g_strdup_vprintf(format, args);
        va_end(args);
        g_set_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID,
                    "%s; the line is \"ntprof:ADDRESS:PORT:sha256-...:XXXX-XXXX-XXXX\", as ntprofctl peer invite printed it",
                    why);
        return NULL;
}

/* Up to the next ':' (of an IPv6 address: after its bracket), which is stepped over. */
static char *take_address(char **rest)
{
        char *start = *rest, *end;

        if (*start == '[') {
                start++;
                end = strchr(start, ']');
                if (!end || end[1] != ':')
                        return NULL;
                *rest = end + 2;
        } else {
                end = strchr(start, ':');
                if (!end)
                        return NULL;
                *rest = end + 1;
        }
        return end > start ? g_strndup(start, end - start) : NULL;
}

static char *take_part(char **rest)
{
        char *start = *rest, *end = strchr(start, ':');

        if (!end)
                return NULL;
        *rest = end + 1;
        return g_strndup(start, end - start);
}

NpLine *np_line_parse(const char *text, GError **error)
{
        g_autoptr(NpLine) line = g_new0(NpLine, 1);
        g_autofree char *copy = NULL, *port = NULL, *code = NULL, *expected = NULL, *address = NULL;
        char check[CHECK_BITS / 5 + 1];
        g_autoptr(GSocketConnectable) connectable = NULL;
        g_autoptr(GError) why = NULL;
        guint64 number;
        char *rest;

        if (strlen(text) > LINE_MAX_SIZE)
                return wrong(error, "the invitation is too long (%zu characters)", strlen(text));
        if (!g_str_is_ascii(text))
                return wrong(error, "the invitation has a character that is in none");
        copy = g_strstrip(g_strdup(text));
        if (g_ascii_strncasecmp(copy, PREFIX, strlen(PREFIX)) != 0)
                return wrong(error, "the invitation does not begin with \"" PREFIX "\"");

        rest = copy + strlen(PREFIX);
        address = take_address(&rest);
        if (!address)
                return wrong(error, "the invitation's address is missing or has no end");
        line->address = g_ascii_strdown(address, -1);

        port = take_part(&rest);
        if (!port || !g_ascii_string_to_unsigned(port, 10, 1, G_MAXUINT16, &number, NULL))
                return wrong(error, "the invitation's port is not a number from 1 to 65535");
        line->port = number;
        g_clear_pointer(&address, g_free);
        address = np_line_address(line);
        connectable = np_address_parse(address, &why);
        if (!connectable)
                return wrong(error, "the invitation's address: %s", why->message);

        code = take_part(&rest);
        line->fingerprint = code ? g_ascii_strdown(code, -1) : NULL;
        if (!line->fingerprint || !np_fingerprint_valid(line->fingerprint))
                return wrong(error, "the invitation's fingerprint is not \"sha256-\" and 64 hexadecimal digits%s",
                             line->fingerprint && strlen(line->fingerprint) != FINGERPRINT_SIZE ? " (of another length)" : "");

        g_clear_pointer(&code, g_free);
        code = canonical_groups(rest, 3);
        if (!code)
                return wrong(error, "the invitation's code is not three groups of four letters and digits");
        line->code = g_strndup(code, NP_CODE_SIZE);
        expected = without_check(line);
        check_characters(expected, check);
        if (strcmp(check, code + NP_CODE_SIZE + 1) != 0)
                return wrong(error, "the invitation is mistyped somewhere: its check characters do not match the rest");
        return g_steal_pointer(&line);
}
