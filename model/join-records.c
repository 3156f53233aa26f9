/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join-records.h"

#include "../bpf/sample-hash.h"

static guint bucket_hash(gconstpointer key)
{
        const struct np_identity *id = &((const NpJoinBucket *) key)->id;

        return np_sample_hash(id, id->cntlid);
}

static gboolean bucket_equal(gconstpointer a, gconstpointer b)
{
        const struct np_identity *x = &((const NpJoinBucket *) a)->id, *y = &((const NpJoinBucket *) b)->id;

        return x->slba == y->slba && x->nsid == y->nsid && x->qid == y->qid && x->cid == y->cid && x->nlb == y->nlb &&
               x->cntlid == y->cntlid && x->opcode == y->opcode;
}

void np_join_records_init(NpJoinRecords *records)
{
        *records = (NpJoinRecords) { .buckets = g_hash_table_new_full(bucket_hash, bucket_equal, g_free, NULL) };
}

void np_join_records_clear(NpJoinRecords *records)
{
        while (records->oldest)
                np_join_records_free_target(records, records->oldest);
        g_clear_pointer(&records->buckets, g_hash_table_unref);
}

static NpJoinBucket *get_bucket(NpJoinRecords *records, const struct np_identity *id)
{
        NpJoinBucket key = { .id = *id };
        NpJoinBucket *bucket = g_hash_table_lookup(records->buckets, &key);

        if (!bucket) {
                bucket = g_new0(NpJoinBucket, 1);
                bucket->id = *id;
                g_hash_table_add(records->buckets, bucket);
        }
        return bucket;
}

void np_join_records_drop_empty(NpJoinRecords *records, NpJoinBucket *bucket)
{
        if (!bucket->hosts && !bucket->targets)
                g_hash_table_remove(records->buckets, bucket);
}

NpJoinHost *np_join_records_add_host(NpJoinRecords *records, const struct np_host_record *record)
{
        NpJoinHost *host = g_new0(NpJoinHost, 1);
        NpJoinBucket *bucket = get_bucket(records, &record->header.id);

        host->record = *record;
        host->bucket = bucket;
        host->defect = np_host_record_defect(record) != NP_DEFECT_NONE;
        for (guint i = 0; i < NP_H_COUNT; i++)
                host->end_ns = MAX(host->end_ns, record->h[i]);
        host->first_ns = record->h[NP_H2];
        host->response_ns = record->h[NP_H6] ? record->h[NP_H6] : host->end_ns;

        host->next = bucket->hosts;
        if (host->next)
                host->next->prev = host;
        bucket->hosts = host;
        bucket->n_hosts++;
        return host;
}

NpJoinTarget *np_join_records_add_target(NpJoinRecords *records, const struct np_target_record *record)
{
        NpJoinTarget *target = g_new0(NpJoinTarget, 1);
        NpJoinBucket *bucket = get_bucket(records, &record->header.id);

        target->record = *record;
        target->bucket = bucket;
        target->defect = np_target_record_defect(record) != NP_DEFECT_NONE;
        target->first_ns = record->t[NP_T1];
        target->last_ns = MAX(record->t[NP_T1], record->t[NP_T8]);

        target->next = bucket->targets;
        if (target->next)
                target->next->prev = target;
        bucket->targets = target;
        bucket->n_targets++;

        target->older = records->newest;
        *(records->newest ? &records->newest->newer : &records->oldest) = target;
        records->newest = target;
        records->n_targets++;
        return target;
}

void np_join_host_free(NpJoinHost *host)
{
        NpJoinBucket *bucket = host->bucket;

        *(host->prev ? &host->prev->next : &bucket->hosts) = host->next;
        if (host->next)
                host->next->prev = host->prev;
        bucket->n_hosts--;
        g_free(host);
}

void np_join_records_free_target(NpJoinRecords *records, NpJoinTarget *target)
{
        NpJoinBucket *bucket = target->bucket;

        *(target->prev ? &target->prev->next : &bucket->targets) = target->next;
        if (target->next)
                target->next->prev = target->prev;
        bucket->n_targets--;

        *(target->older ? &target->older->newer : &records->oldest) = target->newer;
        *(target->newer ? &target->newer->older : &records->newest) = target->older;
        records->n_targets--;
        g_free(target);
}
