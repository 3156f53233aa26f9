/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that people carry: lines of invitations (first byte 'l'), files of peers.d (first byte 'p'), and the names in them. */
#include <assert.h>
#include <glib/gstdio.h>
#include <gio/gio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "peerd/line.h"
#include "shared/peer-config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *folder;

static void remove_folder(void)
{
        g_autofree char *file = g_build_filename(folder, "fuzz.conf", NULL);

        g_unlink(file);
        g_rmdir(folder);
        g_free(folder);
}

static void check_line(const char *text)
{
        g_autoptr(GError) error = NULL;
        g_autoptr(NpLine) line = np_line_parse(text, &error), again = NULL;
        g_autoptr(GSocketConnectable) address = NULL;
        g_autofree char *formatted = NULL, *where = NULL;

        if (!line) {
                assert(error && g_utf8_validate(error->message, -1, NULL));
                return;
        }
        assert(np_fingerprint_valid(line->fingerprint));
        formatted = np_line_format(line);
        again = np_line_parse(formatted, NULL);
        assert(again && g_str_equal(again->address, line->address) && again->port == line->port &&
               g_str_equal(again->code, line->code) && g_str_equal(again->fingerprint, line->fingerprint));
        where = np_line_address(line);
        address = np_address_parse(where, NULL);
        assert(address);
}

static void check_config(const char *text, size_t size)
{
        g_autofree char *path = g_build_filename(folder, "fuzz.conf", NULL);
        g_autoptr(NpPeerConfig) config = NULL, again = NULL;
        g_autoptr(GError) error = NULL;

        g_file_set_contents_full(path, text, (gssize) size, G_FILE_SET_CONTENTS_NONE, 0600, NULL);
        config = np_peer_config_load(path, &error);
        if (!config) {
                assert(error && g_utf8_validate(error->message, -1, NULL));
                return;
        }
        assert(!config->fingerprint || np_fingerprint_valid(config->fingerprint));
        for (char **nqn = config->host_nqns; *nqn; nqn++)
                assert(np_nqn_valid(*nqn));
        /* What it wrote it reads, as the same. */
        assert(np_peer_config_save(config, folder, NULL));
        again = np_peer_config_load(path, &error);
        g_assert_no_error(error);
        assert(g_strcmp0(again->fingerprint, config->fingerprint) == 0 && g_strcmp0(again->address, config->address) == 0 &&
               again->allow == config->allow && again->max_threshold == config->max_threshold &&
               again->max_session_sec == config->max_session_sec &&
               g_strv_equal((const char *const *) again->host_nqns, (const char *const *) config->host_nqns));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = NULL;
        g_autofree char *code = NULL;
        g_autoptr(GSocketConnectable) address = NULL;

        if (!folder) {
                folder = g_dir_make_tmp("ntprof-fuzz-XXXXXX", NULL);
                atexit(remove_folder);
        }
        if (size < 1)
                return 0;
        text = g_strndup((const char *) data + 1, size - 1);
        if (data[0] == 'p') {
                check_config((const char *) data + 1, size - 1);
        } else if (data[0] == 'l') {
                check_line(text);
        } else {
                np_peer_name_valid(text);
                np_nqn_valid(text);
                code = np_code_canonical(text);
                assert(!code || strlen(code) == NP_CODE_SIZE);
                address = np_address_parse(text, NULL);
        }
        return 0;
}
