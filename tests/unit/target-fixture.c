/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target-fixture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>

#define FINGERPRINT "sha256-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

const TargetSidePatience fixture_patience = {
        .settle_usec = 300 * USEC_PER_MSEC,
        .grace_usec = 100 * USEC_PER_MSEC,
        .close_usec = 300 * USEC_PER_MSEC,
};

static void on_ended(const TargetSidesEntry *entry, const char *why, void *userdata)
{
        Fixture *f = userdata;

        g_string_append_printf(f->told, "%s%s:%s", f->told->len ? "; " : "", entry->who.name, why);
        f->counts = *target_side_counts(entry->side);
}

void fixture_put(Fixture *f, const char *name, const char *text)
{
        g_autofree char *path = g_build_filename(f->folder, name, NULL);

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
        g_assert_cmpint(g_chmod(path, 0644), ==, 0);
}

void fixture_set_up(Fixture *f, gconstpointer data)
{
        target_side_patience = fixture_patience;
        g_assert_cmpint(sd_event_new(&f->event), >=, 0);
        f->fake = fake_backend_new();
        f->told = g_string_new(NULL);
        f->folder = g_dir_make_tmp("ntprof-target.XXXXXX", NULL);
        f->policy = (PeerPolicy) { .folder = f->folder, .own_files = true, .machine = "stor-a" };
        f->sides = target_sides_new(f->event, &f->fake->backend, &f->policy,
                                    &(TargetSidesObserver) { .ended = on_ended, .userdata = f });
        f->link.fd = -1;
        fixture_put(f, "host-a.conf", "[Peer]\nHostNQN=nqn.host-a\n");
        fixture_put(f, "host-b.conf", "[Peer]\nHostNQN=nqn.host-b\n");
        fixture_put(f, "host-c.conf", "[Peer]\nHostNQN=nqn.host-c\n");
}

void link_clear(Link *link)
{
        if (link->fd >= 0)
                close(link->fd);
        wire_reader_free(link->reader);
        wire_writer_free(link->writer);
        g_free(link->facts);
        g_free(link->ended);
        *link = (Link) { .fd = -1 };
}

void fixture_run_once(Fixture *f)
{
        g_assert_cmpint(sd_event_run(f->event, 10 * USEC_PER_MSEC), >=, 0);
}

void fixture_run_for(Fixture *f, unsigned msec)
{
        uint64_t until = now_ns(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

        while (now_ns(CLOCK_MONOTONIC) < until)
                fixture_run_once(f);
}

void fixture_tear_down(Fixture *f, gconstpointer data)
{
        static const char *const names[] = { "host-a.conf", "host-b.conf", "host-c.conf" };

        link_clear(&f->link);
        for (int i = 0; i < 1000 && (target_sides_count(f->sides) > 0 || f->fake->open_captures > 0); i++)
                fixture_run_once(f);
        target_sides_free(f->sides);
        fake_backend_free(f->fake);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                g_autofree char *path = g_build_filename(f->folder, names[i], NULL);

                g_assert_cmpint(g_unlink(path), ==, 0);
        }
        g_assert_cmpint(g_rmdir(f->folder), ==, 0);
        g_free(f->folder);
        g_string_free(f->told, true);
        g_assert_null(sd_event_unref(f->event));
}

int fixture_open(Fixture *f, const char *name, uint64_t duration_usec, Link *link, Error *error)
{
        g_autofree char *hostnqn = g_strdup_printf("nqn.%s", name);
        PeerWho who = { .name = (char *) name, .fingerprint = (char *) FINGERPRINT, .address = (char *) "10.0.0.1" };
        PeerRequest request = {
                .n_filters = 1,
                .filters = { { .subsysnqn = (char *) "nqn.sub", .hostnqn = hostnqn, .nsid = 7 } },
                .transports = TRANSPORT_TCP,
                .detail = true,
                .duration_usec = duration_usec,
                .user = (char *) "alice",
        };
        _cleanup_free_ char *problems = NULL;
        int r;

        r = target_sides_open(f->sides, &who, &request, &link->fd, &problems, error);
        g_assert_cmpstr(problems, ==, NULL);
        if (r < 0)
                return r;
        link->reader = wire_reader_new(WIRE_SIDE_TARGET);
        link->writer = wire_writer_new();
        return 0;
}

void fixture_begin(Fixture *f)
{
        _cleanup_error_ Error error = ERROR_INIT;

        g_assert_cmpint(fixture_open(f, "host-a", 0, &f->link, &error), ==, 0);
        g_assert_cmpstr(error.message, ==, NULL);
}

static void take_frame(Link *link, const WireFrame *frame)
{
        const struct np_target_record *records = frame->data;

        link->n[frame->type]++;
        switch (frame->type) {
        case WIRE_FACTS:
                link->facts = g_strndup(frame->data, frame->size);
                break;
        case WIRE_CHANGED:
                link->changed = *(const struct wire_changed *) frame->data;
                break;
        case WIRE_RECORDS:
                link->records += frame->size / sizeof(*records);
                link->last_t9 = records[frame->size / sizeof(*records) - 1].t[NP_T9];
                break;
        case WIRE_SYNC: {
                const struct wire_sync *sync = frame->data;

                g_assert_cmpuint(sync->target_ns, >=, link->sync.target_ns);
                link->sync = *sync;
                break;
        }
        case WIRE_ENDED:
                link->ended = g_strndup(frame->data, frame->size);
                break;
        default:
                g_assert_not_reached();
        }
}

void link_receive(Link *link)
{
        g_autofree unsigned char *buffer = g_malloc(1 << 16);
        WireFrame frame;
        const char *why;
        ssize_t n;
        int r;

        while (!link->eof && (n = recv(link->fd, buffer, 1 << 16, MSG_DONTWAIT)) >= 0) {
                const void *data = buffer;
                size_t size = n;

                link->eof = n == 0;
                while ((r = wire_reader_next(link->reader, &data, &size, &frame, &why)) > 0)
                        take_frame(link, &frame);
                g_assert_cmpint(r, ==, 0);
        }
        if (!link->eof && errno == ECONNRESET)
                link->eof = link->reset = true;
}

void link_say(Link *link, enum wire_type type, const void *data, size_t size)
{
        wire_writer_add(link->writer, type, data, size);
        (void) wire_writer_flush(link->writer, link->fd);
}

void link_say_threshold(Link *link, uint32_t threshold)
{
        link_say(link, WIRE_THRESHOLD, &(struct wire_threshold) { .threshold = threshold }, sizeof(struct wire_threshold));
}

void fixture_wait_frames(Fixture *f, enum wire_type type, unsigned n)
{
        for (int i = 0; i < 1000 && f->link.n[type] < n && !f->link.eof; i++) {
                fixture_run_once(f);
                link_receive(&f->link);
        }
        g_assert_cmpuint(f->link.n[type], >=, n);
}

void fixture_wait_eof(Fixture *f)
{
        for (int i = 0; i < 1000 && !(f->link.eof && target_sides_count(f->sides) == 0 && f->fake->open_captures == 0); i++) {
                fixture_run_once(f);
                link_receive(&f->link);
        }
        g_assert_true(f->link.eof);
        g_assert_cmpuint(target_sides_count(f->sides), ==, 0);
        g_assert_cmpint(f->fake->open_captures, ==, 0);
}

void fixture_record_all(Fixture *f)
{
        fixture_wait_frames(f, WIRE_FACTS, 1);
        link_say_threshold(&f->link, UINT32_MAX);
        link_say(&f->link, WIRE_RESUME, NULL, 0);
        fixture_wait_frames(f, WIRE_CHANGED, 1);
}

unsigned fixture_to_emit;

void fixture_emit(FakeBackend *fake)
{
        for (; fixture_to_emit > 0; fixture_to_emit--) {
                fake_command(fake, true);
                fake->counters.target[NP_C_COMMANDS]++;
                fake->counters.target[NP_C_SAMPLED]++;
                fake->counters.target[NP_C_EMITTED]++;
        }
}
