/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "log.h"
#include "service.h"

#define EXIT_USAGE 2
#define STATE_DIR "/var/lib/ntprof-peer"
#define IDLE_SEC_MAX 86400

typedef struct {
        char *bus, *state_dir, *peers_dir, *listen;
        int exit_on_idle_sec;
        gboolean version;
} Arguments;

typedef struct {
        GMainLoop *loop;
        int status;
} Run;

static gboolean arguments_parse(Arguments *a, int argc, char **argv)
{
        const GOptionEntry entries[] = {
                { "bus", 0, 0, G_OPTION_ARG_STRING, &a->bus, "Serve on this bus (default: system)", "ADDRESS|system" },
                { "exit-on-idle", 0, 0, G_OPTION_ARG_INT, &a->exit_on_idle_sec,
                  "Exit when nothing was asked for, and nothing recorded over a link, for so long", "SECONDS" },
                { "listen", 0, 0, G_OPTION_ARG_STRING, &a->listen,
                  "Listen here (default: on the sockets of ntprof-peerd.socket)", "ADDRESS:PORT" },
                { "peers-dir", 0, 0, G_OPTION_ARG_FILENAME, &a->peers_dir,
                  "The administrator's files of peers (default: " NP_PEERS_ETC ")", "FOLDER" },
                { "state-dir", 0, 0, G_OPTION_ARG_FILENAME, &a->state_dir,
                  "Key, pairings and invitations (default: " STATE_DIR ")", "FOLDER" },
                { "version", 0, 0, G_OPTION_ARG_NONE, &a->version, "Print the version, and exit", NULL },
                {}
        };
        g_autoptr(GOptionContext) context = g_option_context_new("- links of ntprof with other machines, as a service");
        g_autoptr(GError) error = NULL;
        const char *wrong = NULL;

        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, &error))
                wrong = error->message;
        else if (argc > 1)
                wrong = "no argument is expected";
        else if (a->exit_on_idle_sec < 0 || a->exit_on_idle_sec > IDLE_SEC_MAX)
                wrong = "--exit-on-idle: seconds, at most 86400";
        else if (a->exit_on_idle_sec > 0 && a->listen)
                wrong = "--exit-on-idle: nobody would start it again for who connects to the address of --listen";
        if (wrong)
                fprintf(stderr, "ntprof-peerd: %s (see --help)\n", wrong);
        return !wrong;
}

static void arguments_clear(Arguments *a)
{
        g_free(a->bus);
        g_free(a->state_dir);
        g_free(a->peers_dir);
        g_free(a->listen);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static GSocket *listen_on(const char *text, GError **error)
{
        g_autoptr(GSocketConnectable) parsed = g_network_address_parse(text, NP_PEER_PORT, error);
        g_autoptr(GSocketAddress) address = NULL;
        g_autoptr(GSocket) socket = NULL;

        if (!parsed)
                return NULL;
        address = g_inet_socket_address_new_from_string(g_network_address_get_hostname(G_NETWORK_ADDRESS(parsed)),
                                                        g_network_address_get_port(G_NETWORK_ADDRESS(parsed)));
        if (!address) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "--listen %s: not a numeric address", text);
                return NULL;
        }
        socket = g_socket_new(g_socket_address_get_family(address), G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, error);
        if (!socket || !g_socket_bind(socket, address, TRUE, error) || !g_socket_listen(socket, error)) {
                g_prefix_error(error, "--listen %s: ", text);
                return NULL;
        }
        return g_steal_pointer(&socket);
}

/* Sockets of ntprof-peerd.socket, or of --listen. */
static gboolean add_sockets(NpPeerd *peerd, const char *listen, GError **error)
{
        int n = sd_listen_fds(TRUE);

        if (listen) {
                g_autoptr(GSocket) socket = listen_on(listen, error);

                if (!socket)
                        return FALSE;
                np_peerd_add_socket(peerd, socket);
        }
        for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + n; fd++) {
                g_autoptr(GSocket) socket = NULL;

                if (sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, 0) <= 0) {
                        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                                    "socket %d of ntprof-peerd.socket: not a TCP socket that listens (ListenStream=, "
                                    "Accept=no)",
                                    fd - SD_LISTEN_FDS_START + 1);
                        return FALSE;
                }
                socket = g_socket_new_from_fd(fd, error);
                if (!socket)
                        return FALSE;
                np_peerd_add_socket(peerd, socket);
        }
        return TRUE;
}

static GDBusConnection *connect_to_bus(const char *address, GError **error)
{
        g_autofree char *system = NULL;
        GDBusConnection *bus;

        if (!address || g_str_equal(address, "system")) {
                system = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, NULL, error);
                if (!system)
                        return NULL;
                address = system;
        }
        bus = g_dbus_connection_new_for_address_sync(address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                                     G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, error);
        if (!bus)
                g_prefix_error(error, "no message bus at %s: ", address);
        return bus;
}

static void on_ready(gpointer data)
{
        (void) sd_notify(FALSE, "READY=1");
}

static void on_ended(const GError *error, gpointer data)
{
        Run *run = data;

        if (error) {
                g_critical("%s", error->message);
                run->status = EXIT_FAILURE;
        }
        g_main_loop_quit(run->loop);
}

static gboolean on_signal(gpointer data)
{
        g_main_loop_quit(data);
        return G_SOURCE_CONTINUE;
}

static int serve(const Arguments *a, GError **error)
{
        g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
        Run run = { loop, EXIT_SUCCESS };
        const NpServiceHandlers handlers = { on_ready, on_ended, &run };
        g_autoptr(GDBusConnection) bus = connect_to_bus(a->bus, error);
        g_autoptr(NpPeerd) peerd = NULL;
        g_autoptr(NpService) service = NULL;

        if (!bus)
                return EXIT_FAILURE;
        g_dbus_connection_set_exit_on_close(bus, FALSE);
        peerd = np_peerd_new(a->peers_dir ?: NP_PEERS_ETC, a->state_dir ?: STATE_DIR, bus, error);
        if (!peerd || !add_sockets(peerd, a->listen, error))
                return EXIT_FAILURE;
        service = np_service_new(peerd, bus, a->exit_on_idle_sec, &handlers, error);
        if (!service)
                return EXIT_FAILURE;

        g_unix_signal_add(SIGTERM, on_signal, loop);
        g_unix_signal_add(SIGINT, on_signal, loop);
        g_main_loop_run(loop);
        (void) sd_notify(FALSE, "STOPPING=1");
        return run.status;
}

int main(int argc, char **argv)
{
        g_auto(Arguments) arguments = {};
        g_autoptr(GError) error = NULL;
        int status;

        np_log_init();
        if (!arguments_parse(&arguments, argc, argv))
                return EXIT_USAGE;
        if (arguments.version) {
                puts("ntprof-peerd " NTPROF_VERSION);
                return EXIT_SUCCESS;
        }
        signal(SIGPIPE, SIG_IGN);
        status = serve(&arguments, &error);
        if (error)
                g_critical("%s", error->message);
        return status;
}
