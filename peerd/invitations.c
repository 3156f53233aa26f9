/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "invitations.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "error.h"
#include "line.h"

#define FOLDER "invitations"
#define GROUP "Invitation"
#define HASH_SIZE 32

typedef struct {
        char *path;
        guint8 hash[HASH_SIZE];
        char *name;
        gint64 made_usec, expires_usec;
        guint attempts;
} Invitation;

struct _NpInvitations {
        char *folder;
};

NpInvitations *np_invitations_new(const char *state_dir)
{
        NpInvitations *self = g_new0(NpInvitations, 1);

        self->folder = g_build_filename(state_dir, FOLDER, NULL);
        return self;
}

void np_invitations_free(NpInvitations *self)
{
        if (!self)
                return;
        g_free(self->folder);
        g_free(self);
}

static void invitation_free(Invitation *i)
{
        g_free(i->path);
        g_free(i->name);
        g_free(i);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Invitation, invitation_free)

static void hash_code(const char *fingerprint, const char *code, guint8 hash[HASH_SIZE])
{
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
        gsize size = HASH_SIZE;

        g_checksum_update(sum, (const guchar *) fingerprint, -1);
        g_checksum_update(sum, (const guchar *) ":", 1);
        g_checksum_update(sum, (const guchar *) code, -1);
        g_checksum_get_digest(sum, hash, &size);
}

/* ---- files ---- */

static gboolean invitation_save(const Invitation *i, GError **error)
{
        g_autoptr(GKeyFile) file = g_key_file_new();
        g_autoptr(GString) hash = g_string_new(NULL);
        g_autofree char *data = NULL;

        for (unsigned n = 0; n < HASH_SIZE; n++)
                g_string_append_printf(hash, "%02x", i->hash[n]);
        g_key_file_set_string(file, GROUP, "Hash", hash->str);
        g_key_file_set_int64(file, GROUP, "Made", i->made_usec);
        g_key_file_set_int64(file, GROUP, "Expires", i->expires_usec);
        g_key_file_set_integer(file, GROUP, "Attempts", i->attempts);
        if (i->name)
                g_key_file_set_string(file, GROUP, "Name", i->name);
        data = g_key_file_to_data(file, NULL, NULL);
        return g_file_set_contents_full(i->path, data, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600,
                                        error);
}

static gboolean parse_hash(const char *hex, guint8 hash[HASH_SIZE])
{
        if (!hex || strlen(hex) != 2 * HASH_SIZE)
                return FALSE;
        for (unsigned n = 0; n < HASH_SIZE; n++) {
                int high = g_ascii_xdigit_value(hex[2 * n]), low = g_ascii_xdigit_value(hex[2 * n + 1]);

                if (high < 0 || low < 0)
                        return FALSE;
                hash[n] = high << 4 | low;
        }
        return TRUE;
}

static Invitation *invitation_load(const char *path)
{
        g_autoptr(Invitation) i = g_new0(Invitation, 1);
        g_autoptr(GKeyFile) file = g_key_file_new();
        g_autofree char *hash = NULL;

        if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL))
                return NULL;
        hash = g_key_file_get_string(file, GROUP, "Hash", NULL);
        if (!parse_hash(hash, i->hash))
                return NULL;
        i->path = g_strdup(path);
        i->name = g_key_file_get_string(file, GROUP, "Name", NULL);
        i->made_usec = g_key_file_get_int64(file, GROUP, "Made", NULL);
        i->expires_usec = g_key_file_get_int64(file, GROUP, "Expires", NULL);
        i->attempts = MAX(0, g_key_file_get_integer(file, GROUP, "Attempts", NULL));
        return g_steal_pointer(&i);
}

/* Before it was made: somebody has set the clock back, and when it would expire is anybody's guess. */
static gboolean stands(const Invitation *i)
{
        gint64 now = g_get_real_time();

        return now >= i->made_usec && now < i->expires_usec && i->attempts < NP_INVITATION_ATTEMPTS;
}

/* Those that stand; files of others are removed. */
static GPtrArray *load(NpInvitations *self)
{
        g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify) invitation_free);
        g_autoptr(GDir) dir = g_dir_open(self->folder, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(self->folder, name, NULL);
                g_autoptr(Invitation) i = invitation_load(path);

                if (i && stands(i))
                        g_ptr_array_add(all, g_steal_pointer(&i));
                else
                        (void) g_unlink(path);
        }
        return g_steal_pointer(&all);
}

/* ---- */

gboolean np_invitations_stand(NpInvitations *self)
{
        g_autoptr(GPtrArray) all = load(self);

        return all->len > 0;
}

gboolean np_invitations_have_name(NpInvitations *self, const char *name)
{
        g_autoptr(GPtrArray) all = load(self);

        for (guint n = 0; n < all->len; n++)
                if (g_strcmp0(((Invitation *) all->pdata[n])->name, name) == 0)
                        return TRUE;
        return FALSE;
}

gboolean np_invitations_add(NpInvitations *self, const char *fingerprint, const char *code, const char *name,
                            gint64 expires_usec, GError **error)
{
        g_autoptr(GPtrArray) all = load(self);
        g_autoptr(Invitation) i = g_new0(Invitation, 1);
        g_autofree char *uuid = g_uuid_string_random();

        if (all->len >= NP_INVITATIONS_MAX) {
                g_set_error(error, NP_ERROR, NP_ERROR_ACCESS_DENIED,
                            "%u invitations stand already, as many as may; wait until one has been used or has expired",
                            all->len);
                return FALSE;
        }
        if (g_mkdir_with_parents(self->folder, 0700) < 0) {
                g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "%s: %s", self->folder, g_strerror(errno));
                return FALSE;
        }
        i->path = g_build_filename(self->folder, uuid, NULL);
        i->name = g_strdup(name);
        i->made_usec = g_get_real_time();
        i->expires_usec = expires_usec;
        hash_code(fingerprint, code, i->hash);
        return invitation_save(i, error);
}

/* What was made of a wrong code must be on disk before the guest hears of it: it might end this process otherwise, and have as
 * many attempts as it likes. One whose file cannot be written is over. */
static void count_wrong(GPtrArray *all)
{
        for (guint n = 0; n < all->len; n++) {
                Invitation *i = all->pdata[n];

                i->attempts++;
                if (!stands(i) || !invitation_save(i, NULL))
                        (void) g_unlink(i->path);
                if (i->attempts >= NP_INVITATION_ATTEMPTS)
                        g_warning("An invitation ended: %u wrong codes were sent", i->attempts);
        }
}

gboolean np_invitations_redeem(NpInvitations *self, const char *fingerprint, const char *code, char **ret_name, GError **error)
{
        g_autoptr(GPtrArray) all = load(self);
        g_autofree char *canonical = np_code_canonical(code);
        guint8 hash[HASH_SIZE];
        Invitation *found = NULL;

        hash_code(fingerprint, canonical ?: "", hash);
        for (guint n = 0; n < all->len; n++) {
                Invitation *i = all->pdata[n];

                if (gnutls_memcmp(hash, i->hash, HASH_SIZE) == 0)
                        found = i;
        }
        if (!found || !canonical) {
                count_wrong(all);
                g_set_error(error, NP_ERROR, NP_ERROR_INVITATION_INVALID,
                            "no invitation of this code stands: it was used, has expired, or ended after %d wrong codes; ask for "
                            "another one (ntprofctl peer invite)",
                            NP_INVITATION_ATTEMPTS);
                return FALSE;
        }

        if (g_unlink(found->path) < 0) {
                g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "%s: the invitation cannot be ended: %s",
                            found->path, g_strerror(errno));
                return FALSE;
        }
        *ret_name = g_steal_pointer(&found->name);
        return TRUE;
}

void np_invitations_end_all(NpInvitations *self)
{
        g_autoptr(GPtrArray) all = load(self);

        for (guint n = 0; n < all->len; n++)
                (void) g_unlink(((Invitation *) all->pdata[n])->path);
}
