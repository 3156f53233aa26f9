/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording.h"

#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define ALIGNED(n) (((uint64_t) (n) + 7) & ~(uint64_t) 7)

struct RecordingReader {
        const char *path;
        FILE *file;
        uint64_t size, offset;
        uint8_t *buffer;                /* REPLAY_FRAME_MAX bytes */
};

static int file_open(const char *path, FILE **ret_file, uint64_t *ret_size, Error *error)
{
        _cleanup_close_ int fd = -1;
        struct stat st;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: %s", path, g_strerror(errno));
        if (!S_ISREG(st.st_mode))
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: not a file", path);

        *ret_file = fdopen(fd, "re");
        if (!*ret_file)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: %s", path, g_strerror(errno));
        TAKE_FD(fd);
        *ret_size = st.st_size;
        return 0;
}

static int corrupt(const char *path, uint64_t offset, Error *error, const char *what)
{
        return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: offset %" PRIu64 ": %s", path, offset, what);
}

static int read_header(FILE *file, uint64_t size, const char *path, RecordingFacts **ret, long *ret_first_frame, Error *error)
{
        _cleanup_free_ char *text = NULL, *why = NULL, *message = NULL;
        struct replay_header header;
        int r;

        if (fread(&header, sizeof(header), 1, file) != 1 || memcmp(header.magic, REPLAY_MAGIC, sizeof(header.magic)) != 0)
                return corrupt(path, 0, error, "not a recording of ntprofd --record");
        if (header.version != REPLAY_VERSION) {
                message = g_strdup_printf("version %u of the format; this ntprofd reads version %d", header.version,
                                          REPLAY_VERSION);
                return corrupt(path, offsetof(struct replay_header, version), error, message);
        }
        if (header.facts_size > REPLAY_FACTS_MAX || sizeof(header) + ALIGNED(header.facts_size) > size) {
                message = g_strdup_printf("facts of %u bytes are longer than the file or than %u bytes", header.facts_size,
                                          REPLAY_FACTS_MAX);
                return corrupt(path, offsetof(struct replay_header, facts_size), error, message);
        }

        text = g_malloc(ALIGNED(header.facts_size) + 1);
        if (fread(text, 1, ALIGNED(header.facts_size), file) != ALIGNED(header.facts_size))
                return corrupt(path, sizeof(header), error, "facts cannot be read");

        r = recording_facts_from_json(text, header.facts_size, ret, &why);
        if (r < 0) {
                message = g_strdup_printf("facts: %s", why);
                return corrupt(path, sizeof(header), error, message);
        }

        *ret_first_frame = sizeof(header) + ALIGNED(header.facts_size);
        return 0;
}

static bool size_is_right(enum replay_frame_type type, uint32_t size)
{
        switch (type) {
        case REPLAY_HOST_RECORD:
                return size == sizeof(struct np_host_record);
        case REPLAY_TARGET_RECORD:
                return size == sizeof(struct np_target_record);
        case REPLAY_COUNTERS:
                return size >= sizeof(struct replay_counters);
        case REPLAY_IOSTAT:
                return size >= sizeof(struct replay_iostat);
        case REPLAY_END:
                return size == sizeof(struct replay_end);
        }
        return false;
}

static uint64_t frame_time(enum replay_frame_type type, const void *data)
{
        switch (type) {
        case REPLAY_HOST_RECORD:
                return ((const struct np_host_record *) data)->h[NP_H8];
        case REPLAY_TARGET_RECORD:
                return ((const struct np_target_record *) data)->t[NP_T9];
        case REPLAY_COUNTERS:
                return ((const struct replay_counters *) data)->time_ns;
        case REPLAY_IOSTAT:
                return ((const struct replay_iostat *) data)->time_ns;
        case REPLAY_END:
                return ((const struct replay_end *) data)->time_ns;
        }
        return 0;
}

int recording_reader_new(const Recording *recording, RecordingReader **ret, Error *error)
{
        _cleanup_(recording_reader_freep) RecordingReader *reader = g_new0(RecordingReader, 1);
        int r;

        reader->path = recording->path;
        reader->buffer = g_malloc(REPLAY_FRAME_MAX);
        r = file_open(recording->path, &reader->file, &reader->size, error);
        if (r < 0)
                return r;

        reader->offset = recording->first_frame;
        if (fseek(reader->file, recording->first_frame, SEEK_SET) < 0)
                return error_set(error, NTPROF_ERROR_CAPTURE_FAILED, "%s: %s", reader->path, g_strerror(errno));

        *ret = TAKE_PTR(reader);
        return 0;
}

void recording_reader_free(RecordingReader *reader)
{
        if (!reader)
                return;
        if (reader->file)
                fclose(reader->file);
        g_free(reader->buffer);
        g_free(reader);
}

int recording_reader_next(RecordingReader *reader, RecordingFrame *ret, Error *error)
{
        _cleanup_free_ char *message = NULL;
        struct replay_frame frame;
        size_t n;

        n = fread(&frame, 1, sizeof(frame), reader->file);
        if (n == 0 && feof(reader->file))
                return 0;
        if (n != sizeof(frame))
                return corrupt(reader->path, reader->offset, error, "the file ends within a frame");

        if (!size_is_right(frame.type, frame.size) || frame.size > REPLAY_FRAME_MAX) {
                message = g_strdup_printf("a frame of type %u cannot have %u bytes", frame.type, frame.size);
                return corrupt(reader->path, reader->offset, error, message);
        }
        if (fread(reader->buffer, 1, ALIGNED(frame.size), reader->file) != ALIGNED(frame.size))
                return corrupt(reader->path, reader->offset, error, "the file ends within a frame");

        *ret = (RecordingFrame) {
                .type = frame.type,
                .size = frame.size,
                .time_ns = frame_time(frame.type, reader->buffer),
                .data = reader->buffer,
        };
        if (ret->time_ns > INT64_MAX)
                return corrupt(reader->path, reader->offset, error, "a time beyond any uptime");
        reader->offset += sizeof(frame) + ALIGNED(frame.size);
        return 1;
}

int recording_frame_counters(const RecordingFrame *frame, CaptureCounters *ret)
{
        const struct replay_counters *c = frame->data;
        const uint64_t *values = (const uint64_t *) (c + 1);

        if (c->n_counters > NP_C_COUNT || c->n_kinds > ELEMENTSOF(ret->kinds) ||
            frame->size != sizeof(*c) + (2 * (uint64_t) c->n_counters + 2 * (uint64_t) c->n_kinds) * sizeof(uint64_t))
                return -EBADMSG;

        *ret = (CaptureCounters) {};
        memcpy(ret->host, values, c->n_counters * sizeof(uint64_t));
        memcpy(ret->target, values + c->n_counters, c->n_counters * sizeof(uint64_t));
        values += 2 * c->n_counters;
        ret->host_recursion = c->host_recursion;
        ret->target_recursion = c->target_recursion;
        ret->host_in_flight = c->host_in_flight;
        ret->target_in_flight = c->target_in_flight;
        ret->n_kinds = c->n_kinds;
        for (unsigned i = 0; i < c->n_kinds; i++) {
                if (values[2 * i] >> 32 == 0 || values[2 * i] >> 32 > NP_FILTERS_MAX)
                        return -EBADMSG;
                ret->kinds[i] = (CaptureKind) { .key = values[2 * i], .count = values[2 * i + 1] };
        }
        return 0;
}

int recording_frame_iostat(const RecordingFrame *frame, struct replay_iostat *ret, char **ret_reason)
{
        const struct replay_iostat *iostat = frame->data;
        const char *reason = (const char *) (iostat + 1);

        if (frame->size != sizeof(*iostat) + (uint64_t) iostat->reason_size ||
            !g_utf8_validate(reason, iostat->reason_size, NULL))
                return -EBADMSG;

        *ret = *iostat;
        if (ret_reason)
                *ret_reason = iostat->reason_size > 0 ? g_strndup(reason, iostat->reason_size) : NULL;
        return 0;
}

static int check_frame(const RecordingFrame *frame)
{
        _cleanup_free_ CaptureCounters *counters = NULL;
        struct replay_iostat iostat;

        if (frame->type == REPLAY_COUNTERS) {
                counters = g_new(CaptureCounters, 1);
                return recording_frame_counters(frame, counters);
        }
        if (frame->type == REPLAY_IOSTAT)
                return recording_frame_iostat(frame, &iostat, NULL);
        return 0;
}

static int check_frames(Recording *recording, Error *error)
{
        _cleanup_(recording_reader_freep) RecordingReader *reader = NULL;
        uint64_t last = recording->facts->start_ns, offset;
        RecordingFrame frame;
        bool ended = false;
        int r;

        r = recording_reader_new(recording, &reader, error);
        if (r < 0)
                return r;

        for (;;) {
                offset = reader->offset;
                r = recording_reader_next(reader, &frame, error);
                if (r < 0)
                        return r;
                if (r == 0)
                        break;
                if (ended)
                        return corrupt(recording->path, offset, error, "a frame follows the end of the recording");
                if (check_frame(&frame) < 0)
                        return corrupt(recording->path, offset, error, "a frame's counts contradict its size");

                ended = frame.type == REPLAY_END;
                last = ended ? frame.time_ns : MAX(last, frame.time_ns);
        }

        if (last < recording->facts->start_ns)
                return corrupt(recording->path, offset, error, "it ends before it starts");
        recording->end_ns = last;
        return 0;
}

int recording_open(const char *path, Recording **ret, Error *error)
{
        _cleanup_(recording_freep) Recording *recording = g_new0(Recording, 1);
        uint64_t size;
        FILE *file;
        int r;

        recording->path = g_strdup(path);
        r = file_open(path, &file, &size, error);
        if (r < 0)
                return r;
        r = read_header(file, size, path, &recording->facts, &recording->first_frame, error);
        fclose(file);
        if (r < 0)
                return r;

        r = check_frames(recording, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(recording);
        return 0;
}

void recording_free(Recording *recording)
{
        if (!recording)
                return;
        recording_facts_free(recording->facts);
        g_free(recording->path);
        g_free(recording);
}
