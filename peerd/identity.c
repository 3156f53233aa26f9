/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../shared/peer-config.h"

#define NEXT_FILE "identity-next.pem"
#define TOLD_FILE "identity-told.pem"   /* that, once a peer knows it */
#define FILE_MAX (64 << 10)
#define VALID_SEC (100 * 365.25 * 86400)
#define SERIAL_BYTES 16

struct _NpIdentity {
        char *path;
        GTlsCertificate *certificate;
        char *fingerprint;
        char *pem;
};

G_DEFINE_AUTO_CLEANUP_FREE_FUNC(gnutls_x509_crt_t, gnutls_x509_crt_deinit, NULL)
G_DEFINE_AUTO_CLEANUP_FREE_FUNC(gnutls_x509_privkey_t, gnutls_x509_privkey_deinit, NULL)

void np_identity_free(NpIdentity *self)
{
        if (!self)
                return;
        g_free(self->path);
        g_clear_object(&self->certificate);
        g_free(self->fingerprint);
        g_free(self->pem);
        g_free(self);
}

GTlsCertificate *np_identity_certificate(NpIdentity *self)
{
        return self->certificate;
}

const char *np_identity_fingerprint(NpIdentity *self)
{
        return self->fingerprint;
}

const char *np_identity_pem(NpIdentity *self)
{
        return self->pem;
}

/* ---- a new one ---- */

static int fill_certificate(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key)
{
        guint8 serial[SERIAL_BYTES];
        time_t now = g_get_real_time() / G_USEC_PER_SEC;
        int r;

        r = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));
        if (r < 0)
                return r;
        serial[0] = (serial[0] & 0x7f) | 0x40;  /* positive, and of full length */

        if ((r = gnutls_x509_crt_set_version(crt, 3)) < 0 ||
            (r = gnutls_x509_crt_set_serial(crt, serial, sizeof(serial))) < 0 ||
            (r = gnutls_x509_crt_set_dn(crt, "CN=ntprof", NULL)) < 0 ||
            (r = gnutls_x509_crt_set_activation_time(crt, now - 86400)) < 0 ||
            (r = gnutls_x509_crt_set_expiration_time(crt, now + (time_t) VALID_SEC)) < 0 ||
            (r = gnutls_x509_crt_set_basic_constraints(crt, 0, -1)) < 0 ||
            (r = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE)) < 0 ||
            (r = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0)) < 0 ||
            (r = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_CLIENT, 0)) < 0 ||
            (r = gnutls_x509_crt_set_key(crt, key)) < 0)
                return r;
        return gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
}

/* Key, then certificate, PEM. */
static char *make_pem(GError **error)
{
        g_auto(gnutls_x509_privkey_t) key = NULL;
        g_auto(gnutls_x509_crt_t) crt = NULL;
        gnutls_datum_t key_pem = {}, crt_pem = {};
        char *pem = NULL;
        int r;

        r = gnutls_x509_privkey_init(&key);
        if (r >= 0)
                r = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
        if (r >= 0)
                r = gnutls_x509_crt_init(&crt);
        if (r >= 0)
                r = fill_certificate(crt, key);
        if (r >= 0)
                r = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &key_pem);
        if (r >= 0)
                r = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &crt_pem);
        if (r >= 0)
                pem = g_strdup_printf("%.*s%.*s", (int) key_pem.size, key_pem.data, (int) crt_pem.size, crt_pem.data);
        else
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "no key and certificate could be made: %s",
                            gnutls_strerror(r));

        if (key_pem.data)
                gnutls_memset(key_pem.data, 0, key_pem.size);
        gnutls_free(key_pem.data);
        gnutls_free(crt_pem.data);
        return pem;
}

/* ---- a file of one ---- */

static void set_damaged(GError **error, const char *path, const char *why)
{
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: %s; restore it from a backup, or remove it: a new one is made then, and every peer has to be paired "
                    "again",
                    path, why);
}

/* A pair that does not belong together would only show when somebody connects. */
static gboolean check_pair(const char *path, const char *pem, gsize size, GError **error)
{
        g_auto(gnutls_x509_privkey_t) key = NULL;
        g_auto(gnutls_x509_crt_t) crt = NULL;
        gnutls_datum_t datum = { (unsigned char *) pem, size };
        guint8 of_key[64], of_crt[64];
        size_t n_key = sizeof(of_key), n_crt = sizeof(of_crt);
        int r;

        if ((r = gnutls_x509_privkey_init(&key)) >= 0 && (r = gnutls_x509_crt_init(&crt)) >= 0 &&
            (r = gnutls_x509_privkey_import2(key, &datum, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN)) >= 0 &&
            (r = gnutls_x509_crt_import(crt, &datum, GNUTLS_X509_FMT_PEM)) >= 0 &&
            (r = gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, of_key, &n_key)) >= 0)
                r = gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, of_crt, &n_crt);
        if (r < 0) {
                g_autofree char *why = g_strdup_printf("not a private key and its certificate (%s)", gnutls_strerror(r));

                set_damaged(error, path, why);
                return FALSE;
        }
        if (n_key != n_crt || memcmp(of_key, of_crt, n_key) != 0) {
                set_damaged(error, path, "the certificate is not of this private key");
                return FALSE;
        }
        return TRUE;
}

static NpIdentity *identity_from_pem(const char *path, const char *pem, gsize size, GError **error)
{
        g_autoptr(NpIdentity) self = g_new0(NpIdentity, 1);
        g_autoptr(GByteArray) der = NULL;
        g_autoptr(GError) why = NULL;

        if (!check_pair(path, pem, size, error))
                return NULL;
        self->path = g_strdup(path);
        self->certificate = g_tls_certificate_new_from_pem(pem, size, &why);
        if (!self->certificate) {
                set_damaged(error, path, why->message);
                return NULL;
        }
        g_object_get(self->certificate, "certificate", &der, "certificate-pem", &self->pem, NULL);
        self->fingerprint = np_fingerprint_of_der(der->data, der->len);
        return g_steal_pointer(&self);
}

/* NULL without an error: there is none. */
static char *read_private(const char *path, gsize *ret_size, GError **error)
{
        g_autofree char *data = NULL;
        struct stat st;
        gsize size = 0;
        int fd;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0 && errno == ENOENT)
                return NULL;
        if (fd < 0 || fstat(fd, &st) < 0) {
                g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "%s: cannot be read: %s", path, g_strerror(errno));
                goto fail;
        }
        if (!S_ISREG(st.st_mode)) {
                set_damaged(error, path, "not a file");
                goto fail;
        }
        if (st.st_mode & 077) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                            "%s: others can read or write this private key (mode %04o): if nobody has, run chmod 600 on it; else "
                            "remove it, and pair every peer again",
                            path, st.st_mode & 07777);
                goto fail;
        }
        if (st.st_size > FILE_MAX) {
                set_damaged(error, path, "too large for a key and a certificate");
                goto fail;
        }

        data = g_malloc(FILE_MAX + 1);
        for (ssize_t n = 1; n > 0 && size < FILE_MAX; size += n) {
                n = TEMP_FAILURE_RETRY(read(fd, data + size, FILE_MAX - size));
                if (n < 0) {
                        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "%s: %s", path, g_strerror(errno));
                        goto fail;
                }
        }
        data[size] = '\0';
        close(fd);
        *ret_size = size;
        return g_steal_pointer(&data);

fail:
        if (fd >= 0)
                close(fd);
        return NULL;
}

static NpIdentity *make(const char *path, GError **error)
{
        g_autofree char *pem = make_pem(error);

        if (!pem)
                return NULL;
        if (!g_file_set_contents_full(path, pem, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600, error))
                return NULL;
        return identity_from_pem(path, pem, strlen(pem), error);
}

NpIdentity *np_identity_load_or_make(const char *state_dir, GError **error)
{
        g_autofree char *path = g_build_filename(state_dir, NP_IDENTITY_FILE, NULL);
        g_autofree char *next = g_build_filename(state_dir, NEXT_FILE, NULL);
        g_autofree char *told = g_build_filename(state_dir, TOLD_FILE, NULL);
        g_autofree char *pem = NULL;
        g_autoptr(GError) why = NULL;
        gsize size;

        if (g_unlink(next) == 0)
                g_warning("A renewal of this machine's key was interrupted before a peer had answered: the old key stays");
        if (g_rename(told, path) == 0)
                g_warning("A renewal of this machine's key was interrupted: the new key is in its place now; peers that had not "
                          "been told have to be paired again");
        pem = read_private(path, &size, &why);
        if (why) {
                g_propagate_error(error, g_steal_pointer(&why));
                return NULL;
        }
        return pem ? identity_from_pem(path, pem, size, error) : make(path, error);
}

/* ---- another one ---- */

NpIdentity *np_identity_prepare(NpIdentity *self, GError **error)
{
        g_autofree char *folder = g_path_get_dirname(self->path);
        g_autofree char *path = g_build_filename(folder, NEXT_FILE, NULL);

        return make(path, error);
}

gboolean np_identity_adopt(NpIdentity *self, NpIdentity *next, GError **error)
{
        char *path = g_steal_pointer(&self->path);
        NpIdentity old = *self;

        if (g_rename(next->path, path) < 0) {
                g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "%s: cannot become %s: %s", next->path, path,
                            g_strerror(errno));
                self->path = path;
                return FALSE;
        }
        g_free(next->path);
        *self = *next;
        self->path = path;
        *next = old;
        np_identity_free(next);
        return TRUE;
}

void np_identity_drop(NpIdentity *self, NpIdentity *next)
{
        if (g_str_has_suffix(next->path, NEXT_FILE))
                (void) g_unlink(next->path);
        np_identity_free(next);
}

void np_identity_told(NpIdentity *next)
{
        g_autofree char *folder = g_path_get_dirname(next->path), *told = g_build_filename(folder, TOLD_FILE, NULL);

        if (g_str_equal(next->path, told))
                return;
        if (g_rename(next->path, told) < 0) {
                g_warning("%s: cannot become %s: %s", next->path, told, g_strerror(errno));
                return;
        }
        g_free(next->path);
        next->path = g_steal_pointer(&told);
}
