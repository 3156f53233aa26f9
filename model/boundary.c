/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary.h"

static const NpBoundaryInfo boundaries[] = {
        { "H0", NP_SIDE_HOST, NP_H0, TRUE, "bio submitted" },
        { "H1", NP_SIDE_HOST, NP_H1, TRUE, "request allocated" },
        { "H2", NP_SIDE_HOST, NP_H2, TRUE, "driver takes the command" },
        { "H3", NP_SIDE_HOST, NP_H3, TRUE, "command and in-capsule data fully handed to the transport" },
        { "H4", NP_SIDE_HOST, NP_H4, FALSE, "R2T being processed" },
        { "H5", NP_SIDE_HOST, NP_H5, FALSE, "R2T data fully handed to the transport" },
        { "HA", NP_SIDE_HOST, NP_BOUNDARY_APART, FALSE, "response at the socket, or its completion at the queue" },
        { "H6", NP_SIDE_HOST, NP_H6, TRUE, "response processed by the driver" },
        { "HR", NP_SIDE_HOST, NP_BOUNDARY_APART, FALSE, "request handed back, after invalidation and send completion" },
        { "H7", NP_SIDE_HOST, NP_H7, TRUE, "block layer takes the request back" },
        { "H8", NP_SIDE_HOST, NP_H8, TRUE, "request done" },
        { "TA", NP_SIDE_TARGET, NP_BOUNDARY_APART, FALSE, "command at the socket, or its completion at the queue" },
        { "T1", NP_SIDE_TARGET, NP_T1, TRUE, "command received by the target driver" },
        { "T2", NP_SIDE_TARGET, NP_T2, FALSE, "fetch of write data asked for" },
        { "T3", NP_SIDE_TARGET, NP_T3, FALSE, "fetched data here (RDMA READ done)" },
        { "T4", NP_SIDE_TARGET, NP_T4, TRUE, "handed to storage" },
        { "T5", NP_SIDE_TARGET, NP_T5, FALSE, "request issued to the drive" },
        { "T6", NP_SIDE_TARGET, NP_T6, FALSE, "drive done" },
        { "T7", NP_SIDE_TARGET, NP_T7, TRUE, "storage done" },
        { "T8", NP_SIDE_TARGET, NP_T8, TRUE, "response queued" },
        { "T9", NP_SIDE_TARGET, NP_T9, TRUE, "response fully handed to the transport" },
        { "TS", NP_SIDE_TARGET, NP_BOUNDARY_APART, FALSE, "response's send completion, with its ack" },
};

const NpBoundaryInfo *np_boundaries(gsize *ret_n)
{
        *ret_n = G_N_ELEMENTS(boundaries);
        return boundaries;
}

const NpBoundaryInfo *np_boundary_by_id(const char *id)
{
        for (gsize i = 0; i < G_N_ELEMENTS(boundaries); i++)
                if (g_str_equal(boundaries[i].id, id))
                        return &boundaries[i];
        return NULL;
}

const NpBoundaryInfo *np_boundary_info(NpSide side, guint index)
{
        for (gsize i = 0; i < G_N_ELEMENTS(boundaries); i++)
                if (boundaries[i].side == side && boundaries[i].index == index && index != NP_BOUNDARY_APART)
                        return &boundaries[i];
        return NULL;
}
