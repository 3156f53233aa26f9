/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of both sides that wait for a partner, in buckets, one an identity. Private to the join.
 */
#pragma once

#include "stage.h"

G_BEGIN_DECLS

typedef struct _NpJoinBucket NpJoinBucket;
typedef struct _NpJoinHost NpJoinHost;
typedef struct _NpJoinTarget NpJoinTarget;

struct _NpJoinHost {
        NpJoinHost *prev, *next;        /* in the bucket */
        NpJoinBucket *bucket;
        guint64 window;                 /* the last one it was in */
        guint64 first_ns, response_ns, end_ns;
        guint carries;                  /* windows that could not decide it */
        gboolean defect;
        struct np_host_record record;
};

struct _NpJoinTarget {
        NpJoinTarget *prev, *next;      /* in the bucket */
        NpJoinTarget *older, *newer;    /* of all, in the order they came */
        NpJoinBucket *bucket;
        guint64 first_ns, last_ns;
        gboolean defect;
        struct np_target_record record;
};

/* All waiting records of one identity. */
struct _NpJoinBucket {
        struct np_identity id;
        guint64 window;                 /* the last one that listed it */
        NpJoinHost *hosts;
        NpJoinTarget *targets;
        guint n_hosts, n_targets;
};

typedef struct {
        GHashTable *buckets;            /* set of NpJoinBucket, by identity */
        NpJoinTarget *oldest, *newest;
        guint n_targets;
} NpJoinRecords;

void np_join_records_init(NpJoinRecords *records);
/* The hosts are the caller's to free, before. */
void np_join_records_clear(NpJoinRecords *records);

NpJoinHost *np_join_records_add_host(NpJoinRecords *records, const struct np_host_record *record);
NpJoinTarget *np_join_records_add_target(NpJoinRecords *records, const struct np_target_record *record);

/* These leave the bucket, even when it is empty: whoever goes through buckets drops it then. */
void np_join_host_free(NpJoinHost *host);
void np_join_records_free_target(NpJoinRecords *records, NpJoinTarget *target);
void np_join_records_drop_empty(NpJoinRecords *records, NpJoinBucket *bucket);

G_END_DECLS
