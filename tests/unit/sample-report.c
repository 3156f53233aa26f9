/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sample-report.h"

NpReportFacts *sample_facts(gboolean with_target)
{
        NpReportFacts *facts = np_report_facts_new();

        facts->session_id = g_strdup("7");
        facts->ntprof_version = g_strdup("0.1.0");
        facts->host_name = g_strdup("alpha");
        facts->host_kernel = g_strdup("6.12.95+deb13-amd64");
        facts->host_nqn = g_strdup("nqn.2014-08.org.nvmexpress:uuid:3b2e5f0c-9a1d-4d8e-8f57-0c6a2b9d1e44");
        facts->subsystem_nqn = g_strdup("nqn.2014-08.org.example:disks");
        if (with_target) {
                NpReportTarget *target = np_report_target_new("beta", "6.1.0-37-amd64", "0.1.0", "stor-a");

                target->recorded_ns = G_GUINT64_CONSTANT(10002000000);
                g_ptr_array_add(facts->targets, target);
        }
        facts->started_realtime_us = G_GINT64_CONSTANT(1796025600000000);
        facts->duration_ns = G_GUINT64_CONSTANT(10002000000);
        facts->seed = 0x1234abcd;
        facts->threshold = 0x05e45a00;
        facts->commands = 133026;
        facts->sampled = 3066;
        facts->diskstats.valid = TRUE;
        facts->diskstats.avg_qd = 0.98;
        facts->diskstats.ios = 133020;
        return facts;
}

void sample_target(NpReportFacts *facts, guint path, gboolean recorded)
{
        NpReportPath *p = facts->paths->pdata[path];

        p->target = recorded ? 0 : -1;
        if (!recorded)
                p->no_target_reason = g_strdup("the target is another machine (192.0.2.7); only this machine's side is recorded");
}

static void add_path(NpReportFacts *facts, const char *namespace_name, const char *device, const char *transport)
{
        g_ptr_array_add(facts->paths, np_report_path_new(namespace_name, device, "nvme6", transport, "192.0.2.7", 512));
        sample_target(facts, facts->paths->len - 1, facts->targets->len > 0);
}

static GPtrArray *target_hooks(NpReportFacts *facts)
{
        return ((NpReportTarget *) facts->targets->pdata[0])->hooks;
}

static void set_path(NpReportFacts *facts, guint index, const char *controller, const char *traddr, gint target)
{
        NpReportPath *path = facts->paths->pdata[index];

        g_free(path->controller);
        g_free(path->traddr);
        path->controller = g_strdup(controller);
        path->traddr = g_strdup(traddr);
        path->target = target;
        if (target < 0)
                path->no_target_reason = g_strdup_printf("no peer is the target at %s; see 'ntprofctl peer list'", traddr);
}

static void add_hook(GPtrArray *hooks, const char *boundary, const char *mechanism, const char *symbol)
{
        g_ptr_array_add(hooks, np_report_hook_new(boundary, mechanism, symbol));
}

static void set_offset(NpReportFacts *facts, gint64 min_ns, gint64 max_ns)
{
        NpReportTarget *target = facts->targets->pdata[0];

        target->offset_known = TRUE;
        target->offset_min_ns = min_ns;
        target->offset_max_ns = max_ns;
}

static NpReportStage *add_stage(NpReportGroup *group, NpStage id, double mean_ns)
{
        NpReportStage *stage = np_report_stage_new(id);

        stage->mean_ns = mean_ns;
        stage->share = mean_ns / group->mean_ns;
        stage->avg_qd = mean_ns * group->rate_per_s / 1e9;
        stage->p50_ns = mean_ns > 0 ? mean_ns * 0.96 : 0;
        stage->p99_ns = mean_ns > 0 ? mean_ns * 1.25 : 0;
        g_ptr_array_add(group->stages, stage);
        return stage;
}

static NpReportGroup *add_group_to(GPtrArray *groups, NpReport *report, const char *op, guint64 size_bytes, double rate_per_s,
                                   guint64 sampled)
{
        NpReportGroup *group = np_report_group_new(op, "nvme6n1");

        group->size_bytes = size_bytes;
        group->rate_per_s = rate_per_s;
        group->commands = rate_per_s * report->facts->duration_ns / 1e9;
        group->sampled = sampled;
        g_ptr_array_add(groups, group);
        return group;
}

static NpReportGroup *add_group(NpReport *report, const char *op, guint64 size_bytes, double rate_per_s, guint64 sampled)
{
        return add_group_to(report->groups, report, op, size_bytes, rate_per_s, sampled);
}

static void add_one_way(NpReportStage *stage, NpComponent component, double mean_ns, double margin_ns)
{
        NpReportComponent *c = np_report_component_new(component, mean_ns, NULL);

        c->margin_ns = margin_ns;
        g_ptr_array_add(stage->components, c);
}

static void add_component(NpReportStage *stage, NpComponent component, double mean_ns)
{
        g_ptr_array_add(stage->components, np_report_component_new(component, mean_ns, NULL));
}

static void add_absent(NpReportStage *stage, NpComponent component, const char *reason)
{
        g_ptr_array_add(stage->components, np_report_component_new(component, 0, reason));
}

static void set_latency(NpReportGroup *group, double mean_ns, guint64 p50_ns, guint64 p99_ns, guint64 p999_ns, guint64 max_ns)
{
        group->mean_ns = mean_ns;
        group->p50_ns = p50_ns;
        group->p99_ns = p99_ns;
        group->p999_ns = p999_ns;
        group->max_ns = max_ns;
}

static void set_cores(NpReportCores *cores, const char *list, guint busiest, double share)
{
        g_free(cores->list);
        *cores = (NpReportCores) { g_strdup(list), busiest, share, 0 };
}

static NpReportViewRow *add_view_row(NpReport *report, NpView view, guint64 key, double rate_per_s, gboolean with_target)
{
        static const double means[] = { 490, 1260, 10030, 1020, 59970 };
        NpReportViewRow *row = np_report_view_row_new("nvme6n1");

        row->key = key;
        row->path = view == NP_VIEW_QUEUE ? 0 : -1;
        row->rate_per_s = rate_per_s;
        row->commands = rate_per_s * report->facts->duration_ns / 1e9;
        row->mean_ns = 72770;
        row->avg_qd = rate_per_s * row->mean_ns / 1e9;
        row->sampled = 1500;
        row->with_target = with_target;
        row->joined = with_target ? 1500 : 0;
        row->p50_ns = 69540;
        row->p99_ns = 80300;
        row->max_ns = 95004;
        row->n_stages = with_target ? 5 : 3;
        for (guint i = 0; i < row->n_stages; i++) {
                double mean_ns = !with_target && i == 2 ? 71020 : means[i];

                row->stages[i] = (NpReportViewStage) { np_view_stage(with_target, i), mean_ns, mean_ns / row->mean_ns,
                                                       mean_ns * rate_per_s / 1e9 };
        }
        row->largest = with_target ? NP_STAGE_STORAGE : NP_STAGE_NETWORK_TARGET;
        set_cores(&row->host_cores, "0", 0, 1);
        set_cores(&row->response_cores, "0-1", 1, 0.75);
        if (with_target)
                set_cores(&row->target_cores, "0-3,8-11,16", 9, 0.208);
        g_ptr_array_add(report->views[view], row);
        return row;
}

static void add_views(NpReport *report)
{
        NpReportViewRow *row;

        add_view_row(report, NP_VIEW_QUEUE, 1, 9300, TRUE);
        row = add_view_row(report, NP_VIEW_QUEUE, 12, 4000, TRUE);
        set_cores(&row->target_cores, "3", 3, 1);
        add_view_row(report, NP_VIEW_CPU, 0, 13300, TRUE);
        add_view_row(report, NP_VIEW_SIZE, 4096, 13300, TRUE);
        row = add_view_row(report, NP_VIEW_SIZE, 0, 0.2, FALSE);
        row->largest = NP_STAGE_HOST_BLOCK;
        row = add_view_row(report, NP_VIEW_PROCESS, 4711, 13000, TRUE);
        row->comm = g_strdup("fio");
        row->target_cores.others_share = 0.03;
        add_view_row(report, NP_VIEW_PROCESS, 0, 299, TRUE);
        row = add_view_row(report, NP_VIEW_PROCESS, 0, 1, TRUE);
        row->others = TRUE;
}

/* The example of docs/model.md. */
static NpReport *make_joined(void)
{
        g_autoptr(NpReportFacts) facts = sample_facts(TRUE);
        NpReport *report;
        NpReportGroup *group;
        NpReportStage *stage;

        add_path(facts, "nvme6n1", "nvme6c6n1", "rdma");
        add_hook(facts->host_hooks, "H2", "tp_btf", "nvme_setup_cmd");
        add_hook(target_hooks(facts), "T1", "tp_btf", "nvmet_req_init");
        set_offset(facts, G_GINT64_CONSTANT(17999000012300), G_GINT64_CONSTANT(17999000012345));
        facts->detail = TRUE;
        ((NpReportTarget *) facts->targets->pdata[0])->drive_hidden = g_strdup("the namespace is a file");
        report = np_report_new(facts);

        group = add_group(report, "read", 4096, 13300, 3066);
        group->with_target = TRUE;
        group->joined = 3066;
        group->tag_wait_ns = 40;
        set_latency(group, 72770, 69540, 80300, 81830, 95004);
        stage = add_stage(group, NP_STAGE_HOST_BLOCK, 490);
        add_component(stage, NP_COMPONENT_TAG_WAIT, 40);
        add_component(stage, NP_COMPONENT_DISPATCH, 250.5);
        add_component(stage, NP_COMPONENT_BLOCK_COMPLETION, 199.5);
        stage = add_stage(group, NP_STAGE_HOST_DRIVER, 1260);
        add_component(stage, NP_COMPONENT_SUBMISSION, 700);
        add_component(stage, NP_COMPONENT_INVALIDATION, 310);
        add_component(stage, NP_COMPONENT_DRIVER_COMPLETION, 250);
        stage = add_stage(group, NP_STAGE_NETWORK, 10030);
        add_one_way(stage, NP_COMPONENT_REQUEST_WAY, 3400, 122.5);
        add_one_way(stage, NP_COMPONENT_REQUEST_WIRE, 2150, 122.5);
        add_component(stage, NP_COMPONENT_TARGET_RECEIVE, 1250);
        add_component(stage, NP_COMPONENT_TRANSFER, 0);
        add_component(stage, NP_COMPONENT_TRANSFER_WIRE, 0);
        add_component(stage, NP_COMPONENT_TRANSFER_TARGET_RECEIVE, 0);
        add_one_way(stage, NP_COMPONENT_RESPONSE_WAY, 6630, 122.5);
        add_absent(stage, NP_COMPONENT_RESPONSE_WIRE, "this kernel has no hook for HA: ib_cq_completion_softirq is inlined");
        add_absent(stage, NP_COMPONENT_HOST_RECEIVE, "this kernel has no hook for HA: ib_cq_completion_softirq is inlined");
        stage = add_stage(group, NP_STAGE_TARGET_DRIVER, 1020);
        add_component(stage, NP_COMPONENT_TO_STORAGE, 610);
        add_component(stage, NP_COMPONENT_RESPONSE, 410);
        add_component(stage, NP_COMPONENT_SEND_COMPLETION, 4180);
        stage = add_stage(group, NP_STAGE_STORAGE, 59970);
        add_absent(stage, NP_COMPONENT_TARGET_BLOCK, "the namespace is a file");
        add_absent(stage, NP_COMPONENT_DRIVE, "the namespace is a file");
        group->largest = NP_STAGE_STORAGE;
        report->qd_from_stages = 0.97;
        add_views(report);
        return report;
}

static NpReport *make_host_only(void)
{
        g_autoptr(NpReportFacts) facts = sample_facts(FALSE);
        NpReport *report;
        NpReportGroup *group;

        add_path(facts, "nvme6n1", "nvme6n1", "tcp");
        facts->threshold = G_MAXUINT32;
        facts->threshold_fixed = TRUE;
        facts->sampled = facts->commands;
        facts->diskstats = (NpReportDiskstats) { .reason = g_strdup("iostats are switched off for nvme6n1") };
        report = np_report_new(facts);

        group = add_group(report, "write", 131072, 2500.25, 25007);
        set_latency(group, 410123.4, 398000, 1250000, 12345678, 23456789);
        add_stage(group, NP_STAGE_HOST_BLOCK, 3210);
        add_stage(group, NP_STAGE_HOST_DRIVER, 45678.9);
        add_stage(group, NP_STAGE_NETWORK_TARGET, 361234.5);
        group->largest = NP_STAGE_NETWORK_TARGET;
        report->qd_from_stages = 1.02;
        return report;
}

/* All that can be in one. */
static NpReport *make_mixed(void)
{
        g_autoptr(NpReportFacts) facts = sample_facts(TRUE);
        NpReport *report;
        NpReportGroup *group;

        add_path(facts, "nvme6n1", "nvme6c6n1", "tcp");
        add_path(facts, "nvme6n1", "nvme6c7n1", "tcp");
        add_hook(facts->host_hooks, "H4", "merged", "nvme_tcp_setup_h2c_data_pdu is inlined");
        facts->losses[NP_LOSS_HOST_RING_FULL] = 12;
        facts->losses[NP_LOSS_AMBIGUOUS] = 3;
        facts->losses[NP_LOSS_TARGET_WITHOUT_HOST] = 1234567;
        facts->diskstats.avg_qd = 9.1;
        report = np_report_new(facts);

        group = add_group(report, "write", 65536, 1234567, 99000);
        group->with_target = TRUE;
        group->bucketed = TRUE;
        group->joined = 98001;
        group->network_negative = 700;
        group->failed = 40;
        set_latency(group, 61000, 60000, 90000, 120000, 1250000000);
        add_stage(group, NP_STAGE_HOST_BLOCK, 20000);
        add_stage(group, NP_STAGE_HOST_DRIVER, 39000);
        add_stage(group, NP_STAGE_NETWORK, -105);
        add_stage(group, NP_STAGE_TARGET_DRIVER, 105);
        add_stage(group, NP_STAGE_STORAGE, 2000);
        group->largest = NP_STAGE_HOST_DRIVER;

        group = add_group(report, "write", 65536, 12458, 999);
        group->bucketed = group->part_of_other = TRUE;
        set_latency(group, 1234567890, 1000000000, 2000000000, 2000000000, 2000000001);
        add_stage(group, NP_STAGE_HOST_BLOCK, 234567890);
        add_stage(group, NP_STAGE_HOST_DRIVER, 0);
        add_stage(group, NP_STAGE_NETWORK_TARGET, 1000000000);
        group->largest = NP_STAGE_NETWORK_TARGET;

        group = add_group(report, "write", 4096, 51.5, 4000);
        group->with_target = group->fua = TRUE;
        group->joined = 4000;
        set_latency(group, 62740, 60000, 90000, 120000, 1250000);
        add_stage(group, NP_STAGE_HOST_BLOCK, 490);
        add_stage(group, NP_STAGE_HOST_DRIVER, 1260);
        add_stage(group, NP_STAGE_NETWORK, 0);
        add_stage(group, NP_STAGE_TARGET_DRIVER, 1020);
        add_stage(group, NP_STAGE_STORAGE, 59970);
        group->largest = NP_STAGE_STORAGE;

        group = add_group(report, "flush", 0, 0.4, 4);
        group->with_target = TRUE;
        group->joined = 4;
        set_latency(group, 2500000, 2400000, 2800000, 2800000, 2800000);
        add_stage(group, NP_STAGE_HOST_BLOCK, 0);
        add_stage(group, NP_STAGE_HOST_DRIVER, 0);
        add_stage(group, NP_STAGE_NETWORK, 0);
        add_stage(group, NP_STAGE_TARGET_DRIVER, 0);
        add_stage(group, NP_STAGE_STORAGE, 2500000);
        group->largest = NP_STAGE_STORAGE;

        report->qd_from_stages = 75.31;
        g_ptr_array_add(report->warnings, g_strdup("By the stages the average queue depth is 75.31, by the kernel's disk "
                                                   "statistics 9.10: 728 % apart, so the sampled commands are not typical of "
                                                   "all, or some are not measured."));
        g_ptr_array_add(report->warnings, g_strdup("Something short, with \"quotes\", a \\ and \xc3\xa9\xc3\xa8."));
        return report;
}

static void fill_joined(NpReportGroup *group, double network_ns)
{
        NpReportStage *stage;

        group->with_target = TRUE;
        set_latency(group, 62740 + network_ns, 69540, 80300, 81830, 95004);
        add_stage(group, NP_STAGE_HOST_BLOCK, 490);
        add_stage(group, NP_STAGE_HOST_DRIVER, 1260);
        add_stage(group, NP_STAGE_NETWORK, network_ns);
        add_stage(group, NP_STAGE_TARGET_DRIVER, 1020);
        stage = add_stage(group, NP_STAGE_STORAGE, 59970);
        add_absent(stage, NP_COMPONENT_TARGET_BLOCK, NP_REPORT_NOT_IN_DETAIL);
        add_absent(stage, NP_COMPONENT_DRIVE, NP_REPORT_NOT_IN_DETAIL);
        group->largest = NP_STAGE_STORAGE;
}

static void fill_rest(NpReportGroup *group)
{
        set_latency(group, 72770, 69540, 80300, 81830, 95004);
        add_stage(group, NP_STAGE_HOST_BLOCK, 490);
        add_stage(group, NP_STAGE_HOST_DRIVER, 1260);
        add_stage(group, NP_STAGE_NETWORK_TARGET, 71020);
        group->largest = NP_STAGE_NETWORK_TARGET;
}

/* Three paths: to two machines, of which one ended early, and to one that is no peer. */
static NpReport *make_multipath(void)
{
        g_autoptr(NpReportFacts) facts = sample_facts(TRUE);
        NpReportTarget *second = np_report_target_new("stor-b", "6.12.95+deb13-amd64", "0.2.0", "stor-b");
        NpReport *report;
        NpReportGroup *group;

        second->recorded_ns = G_GUINT64_CONSTANT(4200000000);
        second->ended_reason = g_strdup("the link to it broke (connection reset by peer)");
        g_ptr_array_add(facts->targets, second);
        add_path(facts, "nvme6n1", "nvme6c6n1", "tcp");
        add_path(facts, "nvme6n1", "nvme6c7n1", "tcp");
        add_path(facts, "nvme6n1", "nvme6c8n1", "tcp");
        set_path(facts, 0, "nvme6", "192.0.2.7", 0);
        set_path(facts, 1, "nvme7", "192.0.2.8", 1);
        set_path(facts, 2, "nvme8", "192.0.2.9", -1);
        facts->losses[NP_LOSS_TARGET_GONE] = 600;
        facts->losses[NP_LOSS_LINK_FULL] = 17;
        set_offset(facts, -100, 200);
        report = np_report_new(facts);

        group = add_group(report, "read", 4096, 13300, 3066);
        fill_joined(group, 10030);
        group->joined = 1466;
        group = add_group(report, "read", 4096, 6900, 1600);
        fill_rest(group);
        group->part_of_other = TRUE;

        group = add_group_to(report->groups_by_path, report, "read", 4096, 4500, 1066);
        group->path = 0;
        fill_joined(group, 8030);
        group->joined = 1066;
        group = add_group_to(report->groups_by_path, report, "read", 4096, 4400, 1000);
        group->path = 1;
        fill_joined(group, 15360);
        group->joined = 400;
        group = add_group_to(report->groups_by_path, report, "read", 4096, 2640, 600);
        group->path = 1;
        fill_rest(group);
        group->part_of_other = TRUE;
        group = add_group_to(report->groups_by_path, report, "read", 4096, 4400, 1000);
        group->path = 2;
        fill_rest(group);
        report->qd_from_stages = 0.97;

        add_view_row(report, NP_VIEW_QUEUE, 3, 9000, TRUE)->path = 1;
        add_view_row(report, NP_VIEW_QUEUE, 3, 4300, FALSE)->path = 2;
        return report;
}

/* Nothing known and nothing seen. */
static NpReport *make_empty(void)
{
        g_autoptr(NpReportFacts) facts = np_report_facts_new();
        NpReport *report = np_report_new(facts);

        g_ptr_array_add(report->warnings, g_strdup("No command was seen."));
        return report;
}

const SampleReport sample_reports[] = {
        { "joined", make_joined },
        { "host-only", make_host_only },
        { "mixed", make_mixed },
        { "multipath", make_multipath },
        { "empty", make_empty },
};
const gsize n_sample_reports = G_N_ELEMENTS(sample_reports);

char *sample_fixture(const char *name, const char *suffix, const char *actual)
{
        g_autofree char *file = g_strconcat(name, suffix, NULL);
        g_autofree char *path = g_test_build_filename(G_TEST_DIST, "..", "fixtures", "report", file, NULL);
        g_autoptr(GError) error = NULL;
        char *expected = NULL;

        if (g_getenv("NTPROF_WRITE_FIXTURES"))
                g_file_set_contents(path, actual, -1, &error);
        else
                g_file_get_contents(path, &expected, NULL, &error);
        g_assert_no_error(error);
        return expected ? expected : g_strdup(actual);
}
