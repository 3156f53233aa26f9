/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pins.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

#define FOLDER "peers.d"
#define SUFFIX ".conf"
#define AGAIN_MSEC 1000

typedef struct {
        NpPeerConfig *config;   /* of both */
        NpOrigin origin;
        char *etc_path;         /* NULL: none */
        gboolean etc_fingerprint;
} Pin;

struct _NpPins {
        char *etc_dir, *state_dir;
        GFileMonitor *monitors[2];
        char *stamp;            /* of both folders' files when they were read */
        gboolean unread, told_unread;   /* some could not be, for a reason that passes: the stamp says nothing */
        guint again;            /* source: looks again then */
        GHashTable *by_name;    /* name -> Pin: the peers */
        GPtrArray *retired;     /* what by_name was before, for whom still holds something of it; freed from the main loop */
        guint retire;
        GHashTable *nameless;   /* names of files of /etc without a fingerprint anywhere */
        NpPinsChanged changed;
        gpointer changed_data;
};

static void pin_free(Pin *pin)
{
        np_peer_config_free(pin->config);
        g_free(pin->etc_path);
        g_free(pin);
}

/* ---- reading ---- */

/* What tells whether a folder's files are those that were read. */
static void stamp_folder(const char *folder, GString *stamp)
{
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        const char *name;
        struct stat st;

        while (dir && (name = g_dir_read_name(dir)))
                if (g_str_has_suffix(name, SUFFIX))
                        g_ptr_array_add(names, g_strdup(name));
        g_ptr_array_sort(names, (GCompareFunc) g_strcmp0);
        if (stat(folder, &st) == 0)
                g_string_append_printf(stamp, "%s %o %u\n", folder, st.st_mode, st.st_uid);
        for (guint i = 0; i < names->len; i++) {
                g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);

                if (stat(path, &st) == 0)
                        g_string_append_printf(stamp, "%s %ju %ju.%09ld %jd %o %u\n", path, (uintmax_t) st.st_ino,
                                               (uintmax_t) st.st_ctim.tv_sec, st.st_ctim.tv_nsec, (intmax_t) st.st_size,
                                               st.st_mode, st.st_uid);
        }
}

static char *stamp_now(NpPins *self)
{
        g_autoptr(GString) stamp = g_string_new(NULL);

        stamp_folder(self->etc_dir, stamp);
        stamp_folder(self->state_dir, stamp);
        return g_string_free(g_steal_pointer(&stamp), FALSE);
}

/* Of the process or the machine, not of the file: it may be good, and readable the next moment. */
static gboolean is_passing(const GError *error)
{
        static const struct { GQuark (*domain)(void); int code; } passing[] = {
                { g_io_error_quark, G_IO_ERROR_TOO_MANY_OPEN_FILES },
                { g_io_error_quark, G_IO_ERROR_NO_SPACE },      /* ENOMEM */
                { g_io_error_quark, G_IO_ERROR_FAILED },        /* EIO, ESTALE */
                { g_file_error_quark, G_FILE_ERROR_MFILE },     /* as GDir tells them */
                { g_file_error_quark, G_FILE_ERROR_NFILE },
                { g_file_error_quark, G_FILE_ERROR_NOMEM },
                { g_file_error_quark, G_FILE_ERROR_IO },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(passing); i++)
                if (g_error_matches(error, passing[i].domain(), passing[i].code))
                        return TRUE;
        return FALSE;
}

static void problem(const GError *error, gpointer data)
{
        NpPins *self = data;

        if (!is_passing(error))
                g_warning("%s", error->message);
        else {
                if (!self->unread && !self->told_unread)
                        g_warning("%s; until it can be read its peers are not known", error->message);
                self->unread = TRUE;
        }
}

static void set_string(char **to, const char *from)
{
        if (from) {
                g_free(*to);
                *to = g_strdup(from);
        }
}

static void set_strv(char ***to, char **from)
{
        g_strfreev(*to);
        *to = g_strdupv(from);
}

/* What the administrator says of a peer, over what pairing said. */
static void merge_etc(Pin *pin, const NpPeerConfig *etc)
{
        pin->etc_path = g_strdup(etc->path);
        pin->etc_fingerprint = etc->fingerprint != NULL;
        set_string(&pin->config->fingerprint, etc->fingerprint);
        set_string(&pin->config->address, etc->address);
        set_string(&pin->config->path, etc->path);
        set_strv(&pin->config->host_nqns, etc->host_nqns);
        pin->config->allow = etc->allow;
        pin->config->max_threshold = etc->max_threshold;
        pin->config->max_session_sec = etc->max_session_sec;
}

static void merge_state(Pin *pin, const NpPeerConfig *state)
{
        set_string(&pin->config->fingerprint, state->fingerprint);
        set_string(&pin->config->address, state->address);
        set_string(&pin->config->path, state->path);
        set_strv(&pin->config->claimed_host_nqns, state->claimed_host_nqns);
        set_strv(&pin->config->subsystems, state->subsystems);
        pin->config->last_seen_usec = state->last_seen_usec;
}

static Pin *pin_of(GHashTable *pins, const char *name)
{
        Pin *pin = g_hash_table_lookup(pins, name);

        if (!pin) {
                pin = g_new0(Pin, 1);
                pin->config = np_peer_config_new(name);
                g_hash_table_insert(pins, pin->config->name, pin);
        }
        return pin;
}

static int compare_pins(gconstpointer a, gconstpointer b)
{
        const Pin *x = *(Pin *const *) a, *y = *(Pin *const *) b;

        if (x->etc_fingerprint != y->etc_fingerprint)
                return x->etc_fingerprint ? -1 : 1;
        return strcmp(x->config->name, y->config->name);
}

/* The same fingerprint under two names would be one peer with the rights of two: the first of /etc, then the first by name, has
 * it. */
static void drop_doubles(GHashTable *pins)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GPtrArray) sorted = g_ptr_array_new();
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, pins);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (((Pin *) value)->config->fingerprint)
                        g_ptr_array_add(sorted, value);
        g_ptr_array_sort(sorted, compare_pins);
        for (guint i = 0; i < sorted->len; i++) {
                Pin *pin = sorted->pdata[i], *first = g_hash_table_lookup(seen, pin->config->fingerprint);

                if (first) {
                        g_warning("%s: not used: %s has the same fingerprint", pin->config->path, first->config->path);
                        g_hash_table_remove(pins, pin->config->name);
                } else
                        g_hash_table_insert(seen, pin->config->fingerprint, pin);
        }
}

static gboolean on_retire(gpointer data)
{
        NpPins *self = data;

        self->retire = 0;
        g_ptr_array_set_size(self->retired, 0);
        return G_SOURCE_REMOVE;
}

static void read_all(NpPins *self)
{
        const uid_t etc_uids[] = { 0, geteuid(), (uid_t) -1 }, state_uids[] = { geteuid(), (uid_t) -1 };
        g_autoptr(GPtrArray) etc = np_peer_configs_load(self->etc_dir, etc_uids, problem, self);
        g_autoptr(GPtrArray) state = np_peer_configs_load(self->state_dir, state_uids, problem, self);
        g_autoptr(GHashTable) pins = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) pin_free);
        GHashTableIter iter;
        gpointer value;

        for (guint i = 0; i < state->len; i++) {
                const NpPeerConfig *config = state->pdata[i];
                Pin *pin = pin_of(pins, config->name);

                merge_state(pin, config);
                if (config->fingerprint)
                        pin->origin |= NP_ORIGIN_PAIRED;
        }
        for (guint i = 0; i < etc->len; i++) {
                const NpPeerConfig *config = etc->pdata[i];
                Pin *pin = pin_of(pins, config->name);

                merge_etc(pin, config);
                pin->origin |= NP_ORIGIN_CONFIGURED;
        }
        drop_doubles(pins);

        g_hash_table_remove_all(self->nameless);
        g_hash_table_iter_init(&iter, pins);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Pin *pin = value;

                if (pin->config->fingerprint)
                        continue;
                if (pin->etc_path)
                        g_hash_table_add(self->nameless, g_strdup(pin->config->name));
                g_hash_table_iter_remove(&iter);
        }
        g_ptr_array_add(self->retired, self->by_name);
        self->by_name = g_steal_pointer(&pins);
        if (self->retire == 0)
                self->retire = g_idle_add(on_retire, self);
}

static void refresh(NpPins *self);

static gboolean on_again(gpointer data)
{
        NpPins *self = data;

        self->again = 0;
        refresh(self);
        return G_SOURCE_REMOVE;
}

static void refresh(NpPins *self)
{
        g_autofree char *stamp = stamp_now(self);
        gboolean same = g_strcmp0(stamp, self->stamp) == 0;

        if (same && !self->unread)
                return;
        g_free(self->stamp);
        self->stamp = g_steal_pointer(&stamp);
        self->told_unread = self->unread;
        self->unread = FALSE;
        read_all(self);
        if (self->unread && self->again == 0)
                self->again = g_timeout_add(AGAIN_MSEC, on_again, self);
        /* Who hears of a change looks here, so what is as it was is none. */
        if (self->changed && !(same && self->told_unread && self->unread))
                self->changed(self->changed_data);
}

static void on_file(GFileMonitor *monitor, GFile *file, GFile *other, GFileMonitorEvent event, NpPins *self)
{
        refresh(self);
}

NpPins *np_pins_new(const char *etc_dir, const char *state_dir)
{
        NpPins *self = g_new0(NpPins, 1);

        self->etc_dir = g_strdup(etc_dir);
        self->state_dir = g_build_filename(state_dir, FOLDER, NULL);
        self->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) pin_free);
        self->retired = g_ptr_array_new_with_free_func((GDestroyNotify) g_hash_table_unref);
        self->nameless = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (unsigned i = 0; i < G_N_ELEMENTS(self->monitors); i++) {
                g_autoptr(GFile) folder = g_file_new_for_path(i == 0 ? self->etc_dir : self->state_dir);

                /* Without it properties change later, at the next look. */
                self->monitors[i] = g_file_monitor_directory(folder, G_FILE_MONITOR_NONE, NULL, NULL);
                if (self->monitors[i])
                        g_signal_connect(self->monitors[i], "changed", G_CALLBACK(on_file), self);
        }
        refresh(self);
        return self;
}

void np_pins_free(NpPins *self)
{
        if (!self)
                return;
        for (unsigned i = 0; i < G_N_ELEMENTS(self->monitors); i++)
                if (self->monitors[i]) {
                        g_signal_handlers_disconnect_by_data(self->monitors[i], self);
                        g_object_unref(self->monitors[i]);
                }
        g_clear_handle_id(&self->retire, g_source_remove);
        g_clear_handle_id(&self->again, g_source_remove);
        g_ptr_array_unref(self->retired);
        g_hash_table_unref(self->by_name);
        g_hash_table_unref(self->nameless);
        g_free(self->stamp);
        g_free(self->etc_dir);
        g_free(self->state_dir);
        g_free(self);
}

void np_pins_set_changed(NpPins *self, NpPinsChanged changed, gpointer data)
{
        self->changed = changed;
        self->changed_data = data;
}

/* ---- looking ---- */

static Pin *find(NpPins *self, const char *name)
{
        return g_hash_table_lookup(self->by_name, name);
}

const NpPeerConfig *np_pins_by_name(NpPins *self, const char *name)
{
        Pin *pin;

        refresh(self);
        pin = find(self, name);
        return pin ? pin->config : NULL;
}

const NpPeerConfig *np_pins_by_fingerprint(NpPins *self, const char *fingerprint)
{
        GHashTableIter iter;
        gpointer value;

        refresh(self);
        g_hash_table_iter_init(&iter, self->by_name);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (strcmp(((Pin *) value)->config->fingerprint, fingerprint) == 0)
                        return ((Pin *) value)->config;
        return NULL;
}

static int compare_configs(gconstpointer a, gconstpointer b)
{
        return strcmp((*(NpPeerConfig *const *) a)->name, (*(NpPeerConfig *const *) b)->name);
}

GPtrArray *np_pins_list(NpPins *self)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new();
        GHashTableIter iter;
        gpointer value;

        refresh(self);
        g_hash_table_iter_init(&iter, self->by_name);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                g_ptr_array_add(list, ((Pin *) value)->config);
        g_ptr_array_sort(list, compare_configs);
        return g_steal_pointer(&list);
}

NpOrigin np_pins_origin(NpPins *self, const char *name)
{
        Pin *pin;

        refresh(self);
        pin = find(self, name);
        return pin ? pin->origin : 0;
}

char *np_pins_free_name(NpPins *self, const char *wanted)
{
        g_autofree char *name = g_str_to_ascii(wanted ?: "", "C");
        g_autofree char *base = NULL;

        refresh(self);
        g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_.", '-');
        base = g_strndup(name + strspn(name, "-."), NP_PEER_NAME_MAX - 4);      /* room for a number */
        if (!np_peer_name_valid(base)) {
                g_free(base);
                base = g_strdup("peer");
        }
        g_free(name);
        name = g_strdup(base);
        for (unsigned n = 2; find(self, name) || g_hash_table_contains(self->nameless, name); n++) {
                g_free(name);
                name = g_strdup_printf("%s-%u", base, n);
        }
        return g_steal_pointer(&name);
}

/* ---- changing ---- */

/* NULL: there is a file, and it cannot be read now: what it holds, a pin, is not to be replaced by nothing. */
static NpPeerConfig *load_own(NpPins *self, const char *name, GError **error)
{
        g_autofree char *file = g_strconcat(name, SUFFIX, NULL);
        g_autofree char *path = g_build_filename(self->state_dir, file, NULL);
        g_autoptr(GError) why = NULL;
        NpPeerConfig *own = np_peer_config_load(path, &why);

        if (own || g_error_matches(why, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
                return own ?: np_peer_config_new(name);
        g_propagate_error(error, g_steal_pointer(&why));
        return NULL;
}

gboolean np_pins_add(NpPins *self, const char *name, const char *fingerprint, const char *address,
                     const char *const *claimed_host_nqns, GError **error)
{
        g_autoptr(NpPeerConfig) own = np_peer_config_new(name);
        const NpPeerConfig *same = np_pins_by_fingerprint(self, fingerprint);

        if (same) {
                g_set_error(error, NP_ERROR, NP_ERROR_PEER_EXISTS,
                            "%s: is paired already: %s has this fingerprint; forget it first (%s)", name, same->name,
                            "ntprofctl peer forget");
                return FALSE;
        }
        if (find(self, name)) {
                g_set_error(error, NP_ERROR, NP_ERROR_PEER_EXISTS,
                            "%s: a peer is called so already; choose another name, or forget it first", name);
                return FALSE;
        }
        own->fingerprint = g_strdup(fingerprint);
        own->address = g_strdup(address);
        if (claimed_host_nqns)
                set_strv(&own->claimed_host_nqns, (char **) claimed_host_nqns);
        own->last_seen_usec = g_get_real_time();
        if (!np_peer_config_save(own, self->state_dir, error))
                return FALSE;
        refresh(self);
        return TRUE;
}

static Pin *find_now(NpPins *self, const char *name, GError **error)
{
        Pin *pin;

        refresh(self);
        pin = find(self, name);
        if (!pin)
                g_set_error(error, NP_ERROR, NP_ERROR_NO_PEER, "%s: no peer is called so", name);
        return pin;
}

gboolean np_pins_replace_fingerprint(NpPins *self, const char *name, const char *fingerprint, GError **error)
{
        g_autoptr(NpPeerConfig) own = NULL;
        Pin *pin = find_now(self, name, error);

        if (!pin)
                return FALSE;
        if (pin->etc_fingerprint) {
                g_set_error(error, NP_ERROR, NP_ERROR_ACCESS_DENIED, "%s: its fingerprint is fixed by %s: change it there",
                            name, pin->etc_path);
                return FALSE;
        }
        own = load_own(self, name, error);
        if (!own)
                return FALSE;
        g_free(own->fingerprint);
        own->fingerprint = g_strdup(fingerprint);
        if (!np_peer_config_save(own, self->state_dir, error))
                return FALSE;
        refresh(self);
        return TRUE;
}

gboolean np_pins_removable(NpPins *self, const char *name, GError **error)
{
        Pin *pin = find_now(self, name, error);

        if (!pin)
                return FALSE;
        if (pin->etc_fingerprint) {
                g_set_error(error, NP_ERROR, NP_ERROR_ACCESS_DENIED, "%s: is configured by %s: remove that file to forget it",
                            name, pin->etc_path);
                return FALSE;
        }
        return TRUE;
}

gboolean np_pins_remove(NpPins *self, const char *name, GError **error)
{
        g_autofree char *file = g_strconcat(name, SUFFIX, NULL), *path = g_build_filename(self->state_dir, file, NULL);

        if (!np_pins_removable(self, name, error))
                return FALSE;
        if (g_unlink(path) < 0 && errno != ENOENT) {
                g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "%s: %s", path, g_strerror(errno));
                return FALSE;
        }
        refresh(self);
        return TRUE;
}

void np_pins_note_seen(NpPins *self, const char *name, const char *const *subsystems)
{
        g_autoptr(NpPeerConfig) own = NULL;
        g_autoptr(GError) error = NULL;

        refresh(self);
        if (!find(self, name))
                return;
        own = load_own(self, name, &error);
        if (own) {
                own->last_seen_usec = g_get_real_time();
                if (subsystems)
                        set_strv(&own->subsystems, (char **) subsystems);
        }
        if (!own || !np_peer_config_save(own, self->state_dir, &error))
                g_warning("%s: when it was seen could not be kept: %s", name, error->message);
        refresh(self);
}
