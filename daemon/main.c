/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <gio/gio.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "../shared/peer-config.h"
#include "bus/service.h"
#include "capture/backend-live.h"
#include "capture/backend-replay.h"
#include "capture/capture-record.h"
#include "inspection.h"
#include "log.h"
#include "privileges.h"

#define EXIT_USAGE 2

typedef struct Arguments {
        char *bus, *inventory, *replay, *record, *peers_dir;
        double speed;
        int exit_on_idle_sec;
        gboolean inspect, json, version;
} Arguments;

static int arguments_check(const Arguments *a)
{
        const char *wrong =
                a->json && !a->inspect ? "--json goes with --inspect" :
                a->inventory && (!a->inspect || a->replay) ? "--inventory goes with --inspect, and not with --replay" :
                a->inspect && a->record ? "--inspect records nothing: leave out --record" :
                a->speed != 1 && !a->replay ? "--replay-speed goes with --replay" :
                !(a->speed > 0 && a->speed <= REPLAY_SPEED_MAX) ? "--replay-speed: above 0 and at most 1000" :
                a->exit_on_idle_sec < 0 || a->exit_on_idle_sec > 86400 ? "--exit-on-idle: seconds, at most 86400" :
                NULL;

        if (!wrong)
                return 0;
        log_error("%s", wrong);
        return -EINVAL;
}

static int arguments_parse(Arguments *a, int argc, char **argv)
{
        const GOptionEntry entries[] = {
                { "bus", 0, 0, G_OPTION_ARG_STRING, &a->bus, "Serve on this bus (default: system)", "ADDRESS|system" },
                { "exit-on-idle", 0, 0, G_OPTION_ARG_INT, &a->exit_on_idle_sec,
                  "Exit when nothing was asked for, and no session kept, for so long", "SECONDS" },
                { "inspect", 0, 0, G_OPTION_ARG_NONE, &a->inspect, "Print what this kernel offers, and exit", NULL },
                { "inventory", 0, 0, G_OPTION_ARG_FILENAME, &a->inventory,
                  "With --inspect: of the kernel that this inventory was recorded on, not of this one", "FILE" },
                { "json", 0, 0, G_OPTION_ARG_NONE, &a->json, "With --inspect: as JSON, with all that was found", NULL },
                { "peers-dir", 0, 0, G_OPTION_ARG_FILENAME, &a->peers_dir, "Read peers' files from here (default: " NP_PEERS_ETC ")", "DIR" },
                { "replay", 0, 0, G_OPTION_ARG_FILENAME, &a->replay, "Serve what this recording holds, not this machine", "FILE" },
                { "replay-speed", 0, 0, G_OPTION_ARG_DOUBLE, &a->speed, "So many times as fast as it was recorded", "FACTOR" },
                { "record", 0, 0, G_OPTION_ARG_FILENAME, &a->record, "Record the first session for --replay", "FILE" },
                { "version", 0, 0, G_OPTION_ARG_NONE, &a->version, "Print the version, and exit", NULL },
                {}
        };
        g_autoptr(GOptionContext) context = g_option_context_new("- profiler of NVMe-over-Fabrics I/O, as a service");
        g_autoptr(GError) error = NULL;

        a->speed = 1;
        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, &error)) {
                log_error("%s (see --help)", error->message);
                return -EINVAL;
        }
        if (argc > 1) {
                log_error("%s: no argument is expected (see --help)", argv[1]);
                return -EINVAL;
        }
        return arguments_check(a);
}

static void arguments_clear(Arguments *a)
{
        g_free(a->bus);
        g_free(a->inventory);
        g_free(a->replay);
        g_free(a->record);
        g_free(a->peers_dir);
}

static int open_backend(const Arguments *a, Backend **ret, Error *error)
{
        _cleanup_(backend_freep) Backend *backend = NULL;
        int r;

        if (a->replay)
                r = backend_replay_new(a->replay, a->speed, &backend, error);
        else
                r = backend_live_new(&backend);
        if (r < 0)
                return r;

        if (a->record) {
                Backend *recording;

                r = backend_record_new(backend, a->record, &recording, error);
                if (r < 0)
                        return r;
                TAKE_PTR(backend);
                backend = recording;
        }

        *ret = TAKE_PTR(backend);
        return 0;
}

static int drop_privileges(Error *error)
{
        int r;

        r = privileges_start();
        if (r < 0)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "Capabilities cannot be dropped: %s (does SystemCallFilter= of "
                                 "ntprofd.service allow capset?)", g_strerror(-r));
        return 0;
}

static int inspect(const Arguments *a, Backend *backend, Error *error)
{
        _cleanup_free_ char *text = NULL;
        g_autoptr(JsonNode) inspection = NULL;
        int r;

        if (a->inventory)
                r = inspection_of_inventory(a->inventory, &inspection, error);
        else
                r = backend->ops->inspect(backend, NULL, true, &inspection, error);
        if (r < 0)
                return r;

        text = a->json ? json_to_string(inspection, true) : inspection_to_text(inspection);
        printf(a->json ? "%s\n" : "%s", text);
        return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
        return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int serve(const Arguments *a, Backend *backend)
{
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_(service_freep) Service *service = NULL;
        _cleanup_free_ char *why = NULL;
        sigset_t signals;
        int r;

        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        sigprocmask(SIG_BLOCK, &signals, NULL);

        r = sd_event_new(&event);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGTERM, on_signal, NULL);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGINT, on_signal, NULL);
        if (r < 0) {
                log_error("No event loop: %s", g_strerror(-r));
                return r;
        }

        r = service_new(event, a->bus ?: "system", backend, &service, &why);
        if (r < 0) {
                log_error("%s", why ?: g_strerror(-r));
                return r;
        }
        if (a->peers_dir)
                service_set_peers_folder(service, a->peers_dir);
        if (a->exit_on_idle_sec > 0) {
                r = service_set_idle_exit(service, a->exit_on_idle_sec * USEC_PER_SEC);
                if (r < 0) {
                        log_error("No timer: %s", g_strerror(-r));
                        return r;
                }
        }

        (void) sd_notify(false, "READY=1");
        r = sd_event_loop(event);
        (void) sd_notify(false, "STOPPING=1");
        service_shutdown(service);
        if (r > 0)
                log_error("The connection to the bus was lost");
        return r;
}

int main(int argc, char **argv)
{
        _cleanup_(arguments_clear) Arguments arguments = {};
        _cleanup_(backend_freep) Backend *backend = NULL;
        _cleanup_error_ Error error = ERROR_INIT;
        int r;

        /* Each session reads the kernel's types, megabytes that are gone again: large blocks go back to the kernel at once, and
         * the threads that attach have no heaps of their own to keep. */
        (void) mallopt(M_MMAP_THRESHOLD, 128 * 1024);
        (void) mallopt(M_ARENA_MAX, 1);

        if (arguments_parse(&arguments, argc, argv) < 0)
                return EXIT_USAGE;
        if (arguments.version) {
                puts("ntprofd " NTPROF_VERSION);
                return EXIT_SUCCESS;
        }

        r = open_backend(&arguments, &backend, &error);
        if (r >= 0)
                /* Files that were named on the command line are open: from here on nothing is done by privilege. */
                r = drop_privileges(&error);
        if (r >= 0 && arguments.inspect)
                r = inspect(&arguments, backend, &error);
        if (r < 0) {
                log_error("%s", error.message ?: g_strerror(-r));
                return EXIT_FAILURE;
        }
        if (arguments.inspect)
                return EXIT_SUCCESS;

        return serve(&arguments, backend) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
