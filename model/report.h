/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report of a session: a tree of plain numbers, its JSON form (schema org.ntprof.report/1, docs/report.md) and its
 * text form. Daemon and client share it: the daemon builds and writes it, the client reads and prints it.
 */
#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

#include "report-view.h"
#include "stage.h"

G_BEGIN_DECLS

#define NP_REPORT_SCHEMA "org.ntprof.report/1"

/* Causes for which a sampled command is not in the table of joined commands, or not seen at all. One row each in
 * report.c with its JSON key and its sentence for people. */
typedef enum {
        NP_LOSS_HOST_RING_FULL,
        NP_LOSS_HOST_MAP_FULL,
        NP_LOSS_HOST_STALE,             /* its completion was missed by a program (recursion) */
        NP_LOSS_HOST_BOUNDARY_MISSING,
        NP_LOSS_HOST_OUT_OF_ORDER,
        NP_LOSS_RETRIED,
        NP_LOSS_CANCELLED,
        NP_LOSS_IN_FLIGHT,              /* under way when the session ended */
        NP_LOSS_NO_TARGET,
        NP_LOSS_AMBIGUOUS,
        NP_LOSS_THRESHOLD,
        NP_LOSS_TARGET_GONE,            /* answered after the target's side had ended, or had last said what it sent */
        NP_LOSS_TARGET_DEFECT,          /* joined in identity, but the target's record lacks a boundary or is out of order */
        NP_LOSS_MALFORMED,
        /* not part of the sampled ones: told beside them */
        NP_LOSS_HOST_RECURSION,         /* runs of host programs the kernel skipped (bpf_prog_info.recursion_misses) */
        NP_LOSS_TARGET_RECURSION,
        NP_LOSS_TARGET_RING_FULL,
        NP_LOSS_TARGET_MAP_FULL,
        NP_LOSS_TARGET_STALE,
        NP_LOSS_LINK_FULL,              /* records of the target that it dropped because the link did not take them */
        NP_LOSS_TARGET_WITHOUT_HOST,
        NP_LOSS_PASSTHROUGH,
        NP_LOSS_KIND_OVERFLOW,
        NP_LOSS_WALK_TRUNCATED,
        NP_LOSS_COUNT,
} NpLoss;

typedef struct {
        const char *key;                /* "ring_full", in the JSON report */
        const char *text;               /* "no room in the host's ring buffer" */
        gboolean of_sampled;            /* such a command was counted as sampled */
} NpLossInfo;
const NpLossInfo *np_loss_info(NpLoss loss);
/* -1 when there is none. */
int np_loss_by_key(const char *key);

typedef struct {
        char *boundary;                 /* "H3" */
        char *mechanism;                /* "fexit", "tp_btf", "field", "merged" */
        char *symbol;                   /* "nvme_tcp_try_send", or for merged the reason */
} NpReportHook;

typedef struct {
        char *namespace_name;           /* "nvme6n1"; several paths can have the same */
        char *path_name;                /* "nvme6c6n1"; filter index = index in paths */
        char *controller;               /* "nvme6" */
        char *transport;                /* "tcp" */
        char *traddr;
        guint32 block_size;             /* logical block size, bytes */
        gint target;                    /* index in targets; -1: its target's side was not recorded */
        char *no_target_reason;         /* then why: "the target is another machine (10.0.0.2); ..." */
} NpReportPath;

/* A machine that recorded the target's side. */
typedef struct {
        char *name, *kernel;            /* as it calls itself */
        char *version;                  /* of its ntprof */
        char *peer;                     /* as this machine calls it; NULL: it is this machine itself */
        GPtrArray *hooks;               /* of NpReportHook */
        char *drive_hidden;             /* why its block layer can't be told from its drive; NULL: it can, as far as it knows */
        char *ended_reason;             /* why it ended before the session did; NULL: it did not */
        guint64 recorded_ns;
        /* filled in by np_analysis_report(): bounds of (target clock - host clock) */
        gboolean offset_known;
        gint64 offset_min_ns, offset_max_ns;
} NpReportTarget;

/* Weighted time in flight and completed I/Os from /sys/block/<path device>/stat over the session, summed over the paths;
 * valid = FALSE where the kernel doesn't count (iostats off), reason then says so. */
typedef struct {
        gboolean valid;
        char *reason;
        double avg_qd;                  /* field 11 (time in queue, ms) difference / elapsed ms */
        guint64 ios;
} NpReportDiskstats;

/* A NULL string is written as null with the reason "not known". */
typedef struct {
        char *session_id;
        char *ntprof_version;
        char *host_name, *host_kernel, *host_nqn;
        char *subsystem_nqn;
        gint64 started_realtime_us;
        guint64 duration_ns;                    /* of recording */
        char *ended_reason;                     /* why it ended before anybody wanted it to; NULL: it did not */
        guint32 seed;
        guint32 threshold;                      /* last in force; 0xffffffff = all */
        gboolean threshold_fixed;               /* --sample all or 1/N, not auto */
        gboolean detail;                        /* what the components of the stages need was recorded, too */
        GPtrArray *paths;                       /* of NpReportPath */
        GPtrArray *targets;                     /* of NpReportTarget */
        GPtrArray *host_hooks;                  /* of NpReportHook */
        NpReportDiskstats diskstats;
        guint64 commands;                       /* all that passed H2 */
        guint64 sampled;                        /* chosen by the hash at H2 */
        guint64 losses[NP_LOSS_COUNT];
} NpReportFacts;

NpReportFacts *np_report_facts_new(void);
NpReportFacts *np_report_facts_copy(const NpReportFacts *facts);
void np_report_facts_free(NpReportFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpReportFacts, np_report_facts_free)

/* Why a component is not known of a session that was not in detail. */
#define NP_REPORT_NOT_IN_DETAIL "recorded by session start --detail only"

typedef struct {
        NpComponent component;
        double mean_ns;
        double margin_ns;               /* by which mean_ns can be off; of one-way components */
        char *reason;                   /* not NULL: why mean_ns is not known */
} NpReportComponent;

typedef struct {
        NpStage stage;
        double mean_ns;
        guint64 p50_ns, p99_ns;         /* of the stage's own times; a negative network counts as 0 here */
        double share;                   /* of the mean latency */
        double avg_qd;
        GPtrArray *components;          /* of NpReportComponent */
} NpReportStage;

/* One table. Commands of one operation, size and namespace (or path) have one or two: of those with both sides' records and of
 * those without the target's. When there are both, commands, rate_per_s and sampled of the first are of all commands of the
 * kind, as the joined ones stand for them; the second (part_of_other) counts its own share of them once more. So the numbers
 * of all commands are the sums over the groups that are not part_of_other. */
typedef struct {
        char *op;                       /* "read", "write", "flush", ... : np_opcode_name() */
        guint64 size_bytes;             /* 0 where the operation has no length; a power-of-two bucket's upper end when bucketed */
        gboolean fua;                   /* writes with Force Unit Access */
        gboolean bucketed;              /* sizes above size_bytes / 2, up to size_bytes */
        char *namespace_name;
        gint path;                      /* index in paths, of a group by path; else -1: all paths of the namespace */
        gboolean with_target;           /* table of joined commands, else of those without a target record */
        gboolean part_of_other;
        guint64 commands;               /* all of the group, sampled or not */
        double rate_per_s;
        guint64 sampled;                /* records of the group */
        guint64 joined;
        guint64 failed;                 /* of sampled: completed with an error status; they are in all numbers */
        guint64 network_negative;       /* joined commands whose network came out below zero */
        double mean_ns;
        guint64 p50_ns, p99_ns, p999_ns, max_ns;
        double tag_wait_ns;             /* mean H1 - H0 */
        GPtrArray *stages;              /* of NpReportStage, in the order of the table */
        NpStage largest;
} NpReportGroup;

typedef struct {
        NpReportFacts *facts;
        GPtrArray *groups;              /* of NpReportGroup, most commands first */
        GPtrArray *groups_by_path;      /* the same commands told by path; empty when there is one path */
        GPtrArray *views[NP_VIEW_COUNT];        /* of NpReportViewRow: the same commands, those of most commands first */
        GPtrArray *warnings;            /* of char*, complete sentences */
        guint64 preflushes;             /* sampled flushes that a write waited for; for the warnings, in no document */
        double qd_from_stages;          /* of all commands, sum of the stages' avg QD without H0..H1 */
} NpReport;

NpReport *np_report_new(const NpReportFacts *facts);
void np_report_free(NpReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpReport, np_report_free)

NpReportHook *np_report_hook_new(const char *boundary, const char *mechanism, const char *symbol);
NpReportPath *np_report_path_new(const char *namespace_name, const char *path_name, const char *controller,
                                 const char *transport, const char *traddr, guint32 block_size);
NpReportTarget *np_report_target_new(const char *name, const char *kernel, const char *version, const char *peer);
NpReportComponent *np_report_component_new(NpComponent component, double mean_ns, const char *reason);
NpReportStage *np_report_stage_new(NpStage stage);
NpReportGroup *np_report_group_new(const char *op, const char *namespace_name);

/* Whether the group is of that path, or of its namespace. */
gboolean np_report_path_is_of_group(const NpReportFacts *facts, guint path, const NpReportGroup *group);

/* Why no target recorded the group's side, of its path or of the first path of its namespace; NULL when the target of one of its
 * paths did. */
const char *np_report_no_target_reason(const NpReport *report, const NpReportGroup *group);

/* Of the group's path or of all paths of its namespace; NULL when not known, or when they have several. */
const char *np_report_transport(const NpReport *report, const NpReportGroup *group);

/* As this machine calls it, else as it calls itself; NULL when not known. */
const char *np_report_target_name(const NpReportTarget *target);

#define NP_REPORT_ERROR np_report_error_quark()
GQuark np_report_error_quark(void);
typedef enum {
        NP_REPORT_ERROR_SYNTAX,         /* not JSON, or beyond the limits of a report */
        NP_REPORT_ERROR_SCHEMA,         /* JSON, but not of this schema */
        NP_REPORT_ERROR_INVALID,        /* of this schema, but a key is missing or a value is not what it must be */
} NpReportError;

char *np_report_to_json(const NpReport *report);                        /* pretty-printed, ends with a newline */
/* The text may come from anywhere: everything is checked, and an error says which value is wrong and why. Keys that this
 * version does not know are ignored. length -1: up to the terminating 0. */
NpReport *np_report_from_json(const char *json, gssize length, GError **error);

typedef enum {
        NP_REPORT_TEXT_DEFAULT = 0,             /* exactly the shape of docs/model.md */
        NP_REPORT_TEXT_DETAIL = 1 << 0,         /* the stages' components below them */
        NP_REPORT_TEXT_BY_PATH = 1 << 1,        /* the groups by path */
        /* instead of the groups, a view */
        NP_REPORT_TEXT_BY_QUEUE = 1 << 2,
        NP_REPORT_TEXT_BY_CPU = 1 << 3,
        NP_REPORT_TEXT_BY_SIZE = 1 << 4,
        NP_REPORT_TEXT_BY_PROCESS = 1 << 5,
} NpReportTextFlags;
char *np_report_to_text(const NpReport *report, NpReportTextFlags flags);

G_END_DECLS
