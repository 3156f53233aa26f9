/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake-remote.h"

static void write_down(FakeFinder *f, const char *call, const char *what)
{
        g_string_append_printf(f->calls, "%s%s:%s", f->calls->len > 0 ? " " : "", call, what);
}

static void remote_set_threshold(Remote *remote, uint32_t threshold)
{
        FakeRemote *r = (FakeRemote *) remote;

        g_assert_false(r->freed);
        r->threshold = threshold;
        write_down(r->finder, "threshold", r->peer);
}

static void remote_resume(Remote *remote)
{
        FakeRemote *r = (FakeRemote *) remote;

        g_assert_false(r->freed);
        write_down(r->finder, "resume", r->peer);
}

static void remote_pause(Remote *remote)
{
        FakeRemote *r = (FakeRemote *) remote;

        g_assert_false(r->freed);
        write_down(r->finder, "pause", r->peer);
}

static void remote_free(Remote *remote)
{
        FakeRemote *r = (FakeRemote *) remote;

        g_assert_false(r->freed);
        r->freed = true;
        write_down(r->finder, "free", r->peer);
}

static int finder_find(RemoteFinder *finder, const RemoteWhere *where, RemoteFound found, void *userdata, void **ret_ticket)
{
        FakeFinder *f = (FakeFinder *) finder;
        FakeLookup *lookup;

        write_down(f, "find", where->peer ?: where->traddr);
        if (f->find_error < 0)
                return f->find_error;

        lookup = g_new0(FakeLookup, 1);
        lookup->traddr = g_strdup(where->traddr);
        lookup->peer = g_strdup(where->peer);
        lookup->found = found;
        lookup->userdata = userdata;
        g_ptr_array_add(f->lookups, lookup);
        *ret_ticket = lookup;
        return 0;
}

static void finder_cancel(RemoteFinder *finder, void *ticket)
{
        FakeLookup *lookup = ticket;

        g_assert_false(lookup->done);
        lookup->done = true;
        write_down((FakeFinder *) finder, "cancel", lookup->peer ?: lookup->traddr);
}

static int finder_open(RemoteFinder *finder, const char *peer, const RemoteRequest *request, const RemoteHandlers *handlers,
                       Remote **ret)
{
        static const RemoteOps ops = {
                .set_threshold = remote_set_threshold,
                .resume = remote_resume,
                .pause = remote_pause,
                .free = remote_free,
        };
        FakeFinder *f = (FakeFinder *) finder;
        FakeRemote *r;

        write_down(f, "open", peer);
        if (f->open_error < 0)
                return f->open_error;

        r = g_new0(FakeRemote, 1);
        r->remote.ops = &ops;
        r->remote.handlers = *handlers;
        r->finder = f;
        r->peer = g_strdup(peer);
        r->request = *request;
        g_ptr_array_add(f->remotes, r);
        *ret = &r->remote;
        return 0;
}

static void lookup_free(void *data)
{
        FakeLookup *lookup = data;

        g_free(lookup->traddr);
        g_free(lookup->peer);
        g_free(lookup);
}

static void fake_remote_free(void *data)
{
        FakeRemote *r = data;

        g_free(r->peer);
        g_free(r);
}

FakeFinder *fake_finder_new(void)
{
        static const RemoteFinderOps ops = {
                .find = finder_find,
                .cancel = finder_cancel,
                .open = finder_open,
        };
        FakeFinder *f = g_new0(FakeFinder, 1);

        f->finder.ops = &ops;
        f->lookups = g_ptr_array_new_with_free_func(lookup_free);
        f->remotes = g_ptr_array_new_with_free_func(fake_remote_free);
        f->calls = g_string_new(NULL);
        return f;
}

void fake_finder_free(FakeFinder *f)
{
        for (guint i = 0; i < f->lookups->len; i++)
                g_assert_true(((FakeLookup *) f->lookups->pdata[i])->done);
        for (guint i = 0; i < f->remotes->len; i++)
                g_assert_true(((FakeRemote *) f->remotes->pdata[i])->freed);
        g_ptr_array_unref(f->lookups);
        g_ptr_array_unref(f->remotes);
        g_string_free(f->calls, true);
        g_free(f);
}

void fake_found(FakeFinder *f, const char *peer, const char *message)
{
        _cleanup_error_ Error error = ERROR_INIT;
        FakeLookup *lookup = NULL;
        int r = 0;

        for (guint i = 0; i < f->lookups->len && !lookup; i++)
                if (!((FakeLookup *) f->lookups->pdata[i])->done)
                        lookup = f->lookups->pdata[i];
        g_assert_nonnull(lookup);

        if (!peer)
                r = error_set(&error, NTPROF_ERROR_NO_PEER, "%s", message);
        lookup->done = true;
        lookup->found(r, peer, &error, lookup->userdata);
}

FakeRemote *fake_remote(FakeFinder *f, guint index)
{
        g_assert_cmpuint(index, <, f->remotes->len);
        return f->remotes->pdata[index];
}

void fake_remote_ready(FakeRemote *r)
{
        static const RemoteHook hooks[] = {
                { "T1", "tp_btf", "nvmet_req_init" },
                { "T9", "fexit", "kernel_sendpage" },
        };
        _cleanup_free_ char *machine = g_strdup_printf("%s.example", r->peer);

        g_assert_false(r->freed);
        r->remote.handlers.ready(&r->remote, &(RemoteFacts) {
                .peer = r->peer,
                .machine = machine,
                .kernel = "6.12.0-target",
                .version = "9.9",
                .hooks = hooks,
                .n_hooks = ELEMENTSOF(hooks),
                .drive_hidden = r->drive_hidden,
        }, r->remote.handlers.userdata);
}

void fake_remote_heard(FakeRemote *r)
{
        g_assert_false(r->freed);
        r->remote.handlers.heard(&r->remote, r->remote.handlers.userdata);
}

void fake_remote_changed(FakeRemote *r, uint64_t target_ns)
{
        g_assert_false(r->freed);
        r->remote.handlers.changed(&r->remote, target_ns, r->threshold, r->remote.handlers.userdata);
}

void fake_remote_synced(FakeRemote *r, const struct wire_sync *sync)
{
        g_assert_false(r->freed);
        r->remote.handlers.synced(&r->remote, sync, r->remote.handlers.userdata);
}

void fake_remote_ended(FakeRemote *r, NtprofError code, const char *message)
{
        g_assert_false(r->freed);
        r->remote.handlers.ended(&r->remote, code, message, r->remote.handlers.userdata);
}

void fake_remote_command(FakeBackend *fake, unsigned path, FakeRemote *r, uint64_t offset_ns)
{
        struct np_target_record record;

        fake_command_on(fake, path, &record);
        for (int i = NP_T1; i < NP_T_COUNT; i++)
                if (record.t[i])
                        record.t[i] += offset_ns;
        r->remote.handlers.record(&r->remote, &record, r->remote.handlers.userdata);
}
