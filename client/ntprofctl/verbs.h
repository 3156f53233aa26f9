/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of ntprofctl: one row each for the command line, the help and the completions. */
#pragma once

#include <ntprof.h>

typedef struct Verb Verb;

/* One call of the program, as far as main() has read it. */
typedef struct {
        const Verb *verb;
        char **args;            /* behind the verb, NULL-terminated */
        char *bus;              /* address, or NULL for the system bus */
} Invocation;

struct Verb {
        const char *group;      /* "session", or NULL */
        const char *name;       /* "start" */
        const char *args;       /* besides options: "SESSION...", or NULL */
        const char *summary;    /* one line */
        int (*run)(Invocation *call);   /* to the exit status */
};

extern const Verb verbs[];
extern const gsize n_verbs;

/* Reads group and name from the front of *args, and moves it behind them. Errors of usage, with what was probably meant. */
const Verb *verbs_find(char ***args, GError **error);

gboolean verbs_is_group(const char *name);

/* "session start" */
char *verb_full_name(const Verb *verb);

/* The verbs of a group, NULL: all, for --help. */
char *verbs_help(const char *group);

/* Parses the verb's options out of call->args; what remains are min to max arguments (max -1: any number). Options of the
 * program (--bus, --help) are understood here too. Returns -1 to go on, or an exit status when there is nothing more to do. */
int verb_parse(Invocation *call, const GOptionEntry *entries, const char *description, int min, int max);

/* NULL with the error told, and *ret_status set. */
NtprofClient *verb_connect(Invocation *call, int *ret_status);

/* The same of ntprof-peerd. */
NtprofPeers *verb_connect_peers(Invocation *call, int *ret_status);

/* Tells the error; returns its exit status. */
int verb_fail(Invocation *call, const GError *error);

int verb_session_start(Invocation *call);
int verb_session_list(Invocation *call);
int verb_session_show(Invocation *call);
int verb_session_stop(Invocation *call);
int verb_session_cancel(Invocation *call);
int verb_session_remove(Invocation *call);
int verb_peer_invite(Invocation *call);
int verb_peer_join(Invocation *call);
int verb_peer_confirm(Invocation *call);
int verb_peer_list(Invocation *call);
int verb_peer_show(Invocation *call);
int verb_peer_test(Invocation *call);
int verb_peer_forget(Invocation *call);
int verb_peer_renew(Invocation *call);
int verb_peer_show_identity(Invocation *call);
int verb_report(Invocation *call);
int verb_check(Invocation *call);
int verb_help(Invocation *call);
/* What a group's verbs are, and how they go together. */
int verb_help_group(const char *group);
