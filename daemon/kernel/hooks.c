/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hooks.h"

#include <string.h>

#define TP(mod, name, ...) .kind = HOOK_TRACEPOINT, .mechanism = "tp_btf", .module = mod, .symbol = name, .programs = { __VA_ARGS__ }
#define ENTRY(mod, name, ...) .kind = HOOK_FUNCTION, .mechanism = "fentry", .module = mod, .symbol = name, .programs = { __VA_ARGS__ }
#define EXIT(mod, name, ...) .kind = HOOK_FUNCTION, .mechanism = "fexit", .module = mod, .symbol = name, .programs = { __VA_ARGS__ }
#define BOTH(mod, name, ...) .kind = HOOK_FUNCTION, .mechanism = "fentry+fexit", .module = mod, .symbol = name, .programs = { __VA_ARGS__ }

#define NVME_TCP_SEND_FIELDS                            \
        { "nvme_tcp", "nvme_tcp_queue", "request" },    \
        { "nvme_tcp", "nvme_tcp_queue", "send_list" },  \
        { "nvme_tcp", "nvme_tcp_queue", "req_list" },   \
        { "nvme_tcp", "nvme_tcp_request", "entry" },    \
        { "nvme_tcp", "nvme_tcp_request", "lentry" }

#define SOCKET_FIELDS                                   \
        { "vmlinux", "sock", "sk_user_data" },          \
        { "vmlinux", "sock", "sk_socket" },             \
        { "vmlinux", "socket", "flags" }

/* All parts of a request, so that the rows of H3 and H5 decide alike: a kernel that lacks one of the functions takes the
 * other candidate. */
#define NVME_TCP_SEND_PART_PROGRAMS                                                     \
        "nvme_tcp_try_send_cmd_pdu_entry", "nvme_tcp_try_send_cmd_pdu_exit",            \
        "nvme_tcp_try_send_data_exit", "nvme_tcp_try_send_ddgst_exit"
#define NVME_TCP_SEND_PART_FUNCTIONS \
        "nvme_tcp_try_send_cmd_pdu", "nvme_tcp_try_send_data", "nvme_tcp_try_send_ddgst"
#define NVME_TCP_SEND_PART_FIELDS                       \
        { "nvme_tcp", "nvme_tcp_queue", "request" },    \
        { "nvme_tcp", "nvme_tcp_request", "queue" }

#define NVMET_TCP_SENDPAGE_FIELDS                       \
        { "nvmet_tcp", "nvmet_tcp_queue", "snd_cmd" },  \
        { "nvmet_tcp", "nvmet_tcp_cmd", "state" },      \
        { "nvmet_tcp", "nvmet_tcp_cmd", "req" },        \
        { "vmlinux", "sock", "sk_user_data" }

/* What the rings of arrivals are made from (bpf/arrivals.h). */
#define TCP_RECEIVE_FIELDS                              \
        { "vmlinux", "sock", "sk_data_ready" },         \
        { "vmlinux", "sock", "sk_backlog" },            \
        { "vmlinux", "inet_connection_sock", "icsk_ulp_ops" }, \
        { "vmlinux", "tcp_sock", "rcv_nxt" },           \
        { "vmlinux", "tcp_skb_cb", "end_seq" }

#define NVMET_TCP_NO_RESPONSE_FIELDS                    \
        { "nvmet_tcp", "nvmet_tcp_queue", "nvme_sq" },  \
        { "nvmet", "nvmet_sq", "sqhd_disabled" }

/* What becomes of commands without such a hook. */
#define NO_TARGET_SIDE "losses (their target records lack a boundary)"

#define IB_WC_FIELDS                            \
        { "ib_core", "ib_wc", "wr_cqe" },       \
        { "ib_core", "ib_wc", "status" }

const HookRow hook_rows[] = {
        /* Before 5.11 the tracepoint has the queue first; before 5.12 a bio has the disk itself. */
        { "H0", HOOK_SIDE_HOST, NULL, NULL, false, "H1", {
                { TP("vmlinux", "block_bio_queue", "block_bio_queue"), .arguments = { 1 },
                  .fields = { { "vmlinux", "bio", "bi_bdev", "bio", "bi_disk" }, { "vmlinux", "block_device", "bd_disk" } } },
                { TP("vmlinux", "block_bio_queue", "block_bio_queue_of_queue"), .arguments = { 2 },
                  .fields = { { "vmlinux", "bio", "bi_bdev", "bio", "bi_disk" }, { "vmlinux", "block_device", "bd_disk" } } },
        } },
        { "H1", HOOK_SIDE_HOST, NULL, NULL, false, "H2", {
                { .kind = HOOK_FIELD, .mechanism = "field", .module = "vmlinux", .symbol = "request.start_time_ns",
                  .fields = { { "vmlinux", "request", "start_time_ns" } } },
        } },
        { "H2", HOOK_SIDE_HOST, NULL, NULL, true, NULL, {
                { TP("nvme_core", "nvme_setup_cmd", "nvme_setup_cmd"), .arguments = { 2 },
                  .fields = { { "vmlinux", "request_queue", "disk", "request", "rq_disk" }, { "nvme_core", "nvme_request", "ctrl" },
                              { "nvme_core", "nvme_ctrl", "cntlid" } } },
        } },
        { "H3", HOOK_SIDE_HOST, "tcp", NULL, true, NULL, {
                { BOTH("nvme_tcp", "nvme_tcp_try_send_cmd_pdu", NVME_TCP_SEND_PART_PROGRAMS),
                  .functions = { NVME_TCP_SEND_PART_FUNCTIONS }, .fields = { NVME_TCP_SEND_PART_FIELDS } },
                { BOTH("nvme_tcp", "nvme_tcp_try_send", "nvme_tcp_try_send_entry", "nvme_tcp_try_send_exit"),
                  .fields = { NVME_TCP_SEND_FIELDS } },
        } },
        { "H3", HOOK_SIDE_HOST, "tcp", "time blocked on a full socket buffer", false, "the host driver", {
                { BOTH("nvme_tcp", "nvme_tcp_write_space", "sk_stream_wait_memory", "nvme_tcp_write_space"),
                  .functions = { "sk_stream_wait_memory" }, .fields = { SOCKET_FIELDS } },
        } },
        { "H3", HOOK_SIDE_HOST, "rdma", NULL, true, NULL, {
                { BOTH("nvme_rdma", "nvme_rdma_post_send", "nvme_rdma_post_send_entry", "nvme_rdma_post_send_exit"),
                  .fields = { { "nvme_rdma", "nvme_rdma_request", "sqe" } } },
        } },
        { "H4", HOOK_SIDE_HOST, "tcp", "writes sent after an R2T", false, "the network", {
                { ENTRY("nvme_tcp", "nvme_tcp_setup_h2c_data_pdu", "nvme_tcp_setup_h2c_data_pdu") },
                { ENTRY("vmlinux", "blk_mq_tag_to_rq", "blk_mq_tag_to_rq"),
                  .fields = { { "vmlinux", "blk_mq_tags", "rqs" }, { "nvme_tcp", "nvme_tcp_queue", "pdu" } } },
        } },
        { "H5", HOOK_SIDE_HOST, "tcp", "writes sent after an R2T", false, "the network", {
                { BOTH("nvme_tcp", "nvme_tcp_try_send_data", NVME_TCP_SEND_PART_PROGRAMS),
                  .functions = { NVME_TCP_SEND_PART_FUNCTIONS }, .fields = { NVME_TCP_SEND_PART_FIELDS } },
                { BOTH("nvme_tcp", "nvme_tcp_try_send", "nvme_tcp_try_send_entry", "nvme_tcp_try_send_exit"),
                  .fields = { NVME_TCP_SEND_FIELDS } },
        } },
        { "HA", HOOK_SIDE_HOST, "tcp", NULL, false, "NICs and wire", {
                { ENTRY("nvme_tcp", "nvme_tcp_data_ready", "nvme_tcp_data_ready", "tcp_add_backlog", "skb_copy_bits"),
                  .functions = { "tcp_add_backlog", "skb_copy_bits" },
                  .fields = { TCP_RECEIVE_FIELDS, { "nvme_tcp", "nvme_tcp_queue", "pdu" } } },
        }, .detail = true },
        { "HA", HOOK_SIDE_HOST, "rdma", NULL, false, "NICs and wire", {
                { ENTRY("ib_core", "ib_cq_completion_softirq", "ib_cq_completion_softirq", "ib_poll_handler"),
                  .functions = { "ib_poll_handler" }, .fields = { { "ib_core", "ib_cq", "iop" } } },
        }, .detail = true },
        { "H6", HOOK_SIDE_HOST, NULL, NULL, true, NULL, {
                { ENTRY("vmlinux", "blk_mq_complete_request_remote", "blk_mq_complete_request_remote") },
        } },
        { "H6", HOOK_SIDE_HOST, "rdma", "before local invalidation and send completion", false, "the network", {
                { ENTRY("nvme_rdma", "nvme_rdma_recv_done", "nvme_rdma_recv_done"),
                  .fields = { { "nvme_rdma", "nvme_rdma_qe", "data" }, IB_WC_FIELDS, { "ib_core", "ib_qp", "qp_context" } } },
        } },
        { "HR", HOOK_SIDE_HOST, "rdma", NULL, false, "H7", {
                { ENTRY("vmlinux", "blk_mq_complete_request_remote", "blk_mq_complete_request_remote") },
        } },
        { "H7", HOOK_SIDE_HOST, NULL, NULL, true, NULL, {
                { TP("nvme_core", "nvme_complete_rq", "nvme_complete_rq"), .arguments = { 1 },
                  .fields = { { "nvme_core", "nvme_request", "flags" } } },
        } },
        { "H8", HOOK_SIDE_HOST, NULL, NULL, true, NULL, {
                { TP("vmlinux", "block_rq_complete", "host_block_rq_complete"), .arguments = { 3 } },
        } },

        { "TA", HOOK_SIDE_TARGET, "tcp", NULL, false, "NICs and wire", {
                { ENTRY("nvmet_tcp", "nvmet_tcp_data_ready", "nvmet_tcp_data_ready", "tcp_add_backlog"),
                  .functions = { "tcp_add_backlog" },
                  .fields = { TCP_RECEIVE_FIELDS, { "vmlinux", "tcp_sock", "copied_seq" } } },
        }, .detail = true },
        { "TA", HOOK_SIDE_TARGET, "rdma", NULL, false, "NICs and wire", {
                { ENTRY("ib_core", "ib_cq_completion_workqueue", "ib_cq_completion_workqueue", "ib_cq_poll_work"),
                  .functions = { "ib_cq_poll_work" }, .fields = { { "ib_core", "ib_cq", "work" } } },
        }, .detail = true },
        { "T1", HOOK_SIDE_TARGET, NULL, NULL, true, NULL, {
                { TP("nvmet", "nvmet_req_init", "nvmet_req_init"), .arguments = { 2 },
                  .fields = { { "nvmet", "nvmet_ctrl", "hostnqn" }, { "nvmet", "nvmet_ctrl", "cntlid" },
                              { "nvmet", "nvmet_subsys", "subsysnqn" }, { "nvmet", "nvmet_sq", "qid" },
                              { "nvmet", "nvmet_fabrics_ops", "type" } } },
        } },
        { "T2", HOOK_SIDE_TARGET, "tcp", "writes sent after an R2T", true, NULL, {
                { EXIT("nvmet_tcp", "nvmet_try_send_r2t", "nvmet_try_send_r2t") },
                { EXIT("vmlinux", "kernel_sendpage", "kernel_sendpage"),
                  .fields = { NVMET_TCP_SENDPAGE_FIELDS } },
        } },
        { "T2", HOOK_SIDE_TARGET, "tcp", "writes in the capsule", true, NULL, {
                { ENTRY("nvmet_tcp", "nvmet_tcp_build_pdu_iovec", "nvmet_tcp_build_pdu_iovec") },
                { ENTRY("nvmet_tcp", "nvmet_tcp_map_pdu_iovec", "nvmet_tcp_map_pdu_iovec") },
        } },
        { "T2", HOOK_SIDE_TARGET, "rdma", "writes fetched by RDMA READ", true, NULL, {
                { ENTRY("nvmet_rdma", "nvmet_rdma_execute_command", "nvmet_rdma_execute_command"),
                  .fields = { { "nvmet_rdma", "nvmet_rdma_rsp", "req" }, { "nvmet_rdma", "nvmet_rdma_rsp", "queue" },
                              { "nvmet_rdma", "nvmet_rdma_queue", "cq" } } },
        } },
        { "T3", HOOK_SIDE_TARGET, "rdma", "writes fetched by RDMA READ", true, NULL, {
                { ENTRY("nvmet_rdma", "nvmet_rdma_read_data_done", "nvmet_rdma_read_data_done"),
                  .fields = { { "nvmet_rdma", "nvmet_rdma_rsp", "read_cqe" }, IB_WC_FIELDS } },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "reads and writes, block device", true, NULL, {
                { ENTRY("nvmet", "nvmet_bdev_execute_rw", "nvmet_bdev_execute_rw") },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "flush, block device", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_bdev_execute_flush", "nvmet_bdev_execute_flush") },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "dataset management, block device", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_bdev_execute_dsm", "nvmet_bdev_execute_dsm") },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "write zeroes, block device", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_bdev_execute_write_zeroes", "nvmet_bdev_execute_write_zeroes") },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "reads and writes, file", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_file_execute_rw", "nvmet_file_execute_rw") },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "flush, file", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_file_execute_flush", "nvmet_file_execute_flush") },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "dataset management, file", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_file_execute_dsm", "nvmet_file_execute_dsm") },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "write zeroes, file", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_file_execute_write_zeroes", "nvmet_file_execute_write_zeroes") },
        } },
        { "T4", HOOK_SIDE_TARGET, NULL, "zone append and management", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_bdev_execute_zone_append", "nvmet_bdev_execute_zone_append",
                        "nvmet_bdev_execute_zone_mgmt_send", "nvmet_bdev_execute_zone_mgmt_recv"),
                  .functions = { "nvmet_bdev_execute_zone_mgmt_send", "nvmet_bdev_execute_zone_mgmt_recv" } },
        }, .optional = true },
        { "T4", HOOK_SIDE_TARGET, NULL, "passthru", false, NO_TARGET_SIDE, {
                { ENTRY("nvmet", "nvmet_passthru_execute_cmd", "nvmet_passthru_execute_cmd") },
        }, .optional = true },
        { "T5", HOOK_SIDE_TARGET, NULL, NULL, false, "T4", {
                { TP("vmlinux", "block_rq_issue", "block_rq_issue"), .arguments = { 1 } },
                { TP("vmlinux", "block_rq_issue", "block_rq_issue_of_queue"), .arguments = { 2 } },
        }, .detail = true },
        { "T6", HOOK_SIDE_TARGET, NULL, NULL, false, "T7", {
                { TP("vmlinux", "block_rq_complete", "target_block_rq_complete"), .arguments = { 3 } },
        }, .detail = true },
        { "T7", HOOK_SIDE_TARGET, NULL, NULL, true, NULL, {
                { ENTRY("nvmet", "nvmet_bio_done", "nvmet_bio_done") },
        } },
        { "T7", HOOK_SIDE_TARGET, NULL, "passthru", false, "T8", {
                { ENTRY("nvmet", "nvmet_passthru_req_done", "nvmet_passthru_req_done") },
        }, .optional = true },
        { "T8", HOOK_SIDE_TARGET, "tcp", NULL, true, NULL, {
                { ENTRY("nvmet_tcp", "nvmet_tcp_queue_response", "nvmet_tcp_queue_response") },
        } },
        { "T8", HOOK_SIDE_TARGET, "rdma", NULL, true, NULL, {
                { ENTRY("nvmet_rdma", "nvmet_rdma_queue_response", "nvmet_rdma_queue_response_entry") },
        } },
        { "T9", HOOK_SIDE_TARGET, "tcp", NULL, true, NULL, {
                { EXIT("nvmet_tcp", "nvmet_try_send_response", "nvmet_try_send_response") },
                { EXIT("vmlinux", "kernel_sendpage", "kernel_sendpage"),
                  .fields = { NVMET_TCP_SENDPAGE_FIELDS } },
        } },
        { "T9", HOOK_SIDE_TARGET, "tcp", "reads without a response PDU", false, NO_TARGET_SIDE, {
                { EXIT("nvmet_tcp", "nvmet_try_send_data", "nvmet_try_send_data"),
                  .fields = { NVMET_TCP_NO_RESPONSE_FIELDS } },
                { EXIT("vmlinux", "kernel_sendpage", "kernel_sendpage"),
                  .fields = { NVMET_TCP_SENDPAGE_FIELDS } },
        } },
        { "T9", HOOK_SIDE_TARGET, "tcp", "reads without a response PDU, with data digest", false, NO_TARGET_SIDE, {
                { EXIT("nvmet_tcp", "nvmet_try_send_ddgst", "nvmet_try_send_ddgst"),
                  .fields = { NVMET_TCP_NO_RESPONSE_FIELDS } },
        } },
        { "T9", HOOK_SIDE_TARGET, "tcp", "time blocked on a full socket buffer", false, "the target driver", {
                { BOTH("nvmet_tcp", "nvmet_tcp_write_space", "sk_stream_wait_memory", "nvmet_tcp_write_space"),
                  .functions = { "sk_stream_wait_memory" }, .fields = { SOCKET_FIELDS } },
        } },
        { "T9", HOOK_SIDE_TARGET, "rdma", NULL, true, NULL, {
                { EXIT("nvmet_rdma", "nvmet_rdma_queue_response", "nvmet_rdma_queue_response_exit") },
        } },
        { "TS", HOOK_SIDE_TARGET, "rdma", NULL, false, "no stage", {
                { ENTRY("nvmet_rdma", "nvmet_rdma_send_done", "nvmet_rdma_send_done"),
                  .fields = { { "nvmet_rdma", "nvmet_rdma_rsp", "send_cqe" } } },
        }, .detail = true },
};

const unsigned n_hook_rows = sizeof(hook_rows) / sizeof(hook_rows[0]);

const char *hook_mechanism(const HookCandidate *candidate, HookFamily family)
{
        static const struct {
                const char *typed, *probes;
        } mechanisms[] = {
                { "tp_btf",             "raw_tp" },
                { "fentry",             "kprobe" },
                { "fexit",              "kretprobe" },
                { "fentry+fexit",       "kprobe+kretprobe" },
        };

        for (unsigned i = 0; family == HOOK_FAMILY_PROBES && i < sizeof(mechanisms) / sizeof(mechanisms[0]); i++)
                if (strcmp(candidate->mechanism, mechanisms[i].typed) == 0)
                        return mechanisms[i].probes;
        return candidate->mechanism;
}
