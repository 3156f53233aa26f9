/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bounded-stream.h"

#define NP_TYPE_BOUNDED_INPUT (np_bounded_input_get_type())
G_DECLARE_FINAL_TYPE(NpBoundedInput, np_bounded_input, NP, BOUNDED_INPUT, GInputStream)

/* GDBus authenticates from one thread and then reads from another, never from two at once. */
struct _NpBoundedInput {
        GInputStream parent;
        GInputStream *base;
        NpMessageBounds bounds;
        GError *failed;
};

static void pollable_init(GPollableInputStreamInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE(NpBoundedInput, np_bounded_input, G_TYPE_INPUT_STREAM,
                              G_IMPLEMENT_INTERFACE(G_TYPE_POLLABLE_INPUT_STREAM, pollable_init))

struct _NpBoundedStream {
        GIOStream parent;
        GIOStream *base;
        GInputStream *input;
};

G_DEFINE_FINAL_TYPE(NpBoundedStream, np_bounded_stream, G_TYPE_IO_STREAM)

static gssize checked(NpBoundedInput *self, const void *buffer, gssize n, GError **error)
{
        if (n > 0 && !np_message_bounds_feed(&self->bounds, buffer, n, &self->failed)) {
                g_propagate_error(error, g_error_copy(self->failed));
                return -1;
        }
        return n;
}

static gssize input_read(GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable, GError **error)
{
        NpBoundedInput *self = NP_BOUNDED_INPUT(stream);
        gssize n;

        if (self->failed) {
                g_propagate_error(error, g_error_copy(self->failed));
                return -1;
        }
        n = g_input_stream_read(self->base, buffer, np_message_bounds_window(&self->bounds, count), cancellable, error);
        return checked(self, buffer, n, error);
}

static gssize input_read_nonblocking(GPollableInputStream *stream, void *buffer, gsize count, GError **error)
{
        NpBoundedInput *self = NP_BOUNDED_INPUT(stream);
        gssize n;

        if (self->failed) {
                g_propagate_error(error, g_error_copy(self->failed));
                return -1;
        }
        n = g_pollable_input_stream_read_nonblocking(G_POLLABLE_INPUT_STREAM(self->base), buffer,
                                                     np_message_bounds_window(&self->bounds, count), NULL, error);
        return checked(self, buffer, n, error);
}

static gboolean input_can_poll(GPollableInputStream *stream)
{
        GInputStream *base = NP_BOUNDED_INPUT(stream)->base;

        return G_IS_POLLABLE_INPUT_STREAM(base) && g_pollable_input_stream_can_poll(G_POLLABLE_INPUT_STREAM(base));
}

static gboolean input_is_readable(GPollableInputStream *stream)
{
        NpBoundedInput *self = NP_BOUNDED_INPUT(stream);

        return self->failed || g_pollable_input_stream_is_readable(G_POLLABLE_INPUT_STREAM(self->base));
}

static GSource *input_create_source(GPollableInputStream *stream, GCancellable *cancellable)
{
        NpBoundedInput *self = NP_BOUNDED_INPUT(stream);
        g_autoptr(GSource) of_base = g_pollable_input_stream_create_source(G_POLLABLE_INPUT_STREAM(self->base), cancellable);

        return g_pollable_source_new_full(self, of_base, NULL);
}

static void pollable_init(GPollableInputStreamInterface *iface)
{
        iface->can_poll = input_can_poll;
        iface->is_readable = input_is_readable;
        iface->create_source = input_create_source;
        iface->read_nonblocking = input_read_nonblocking;
}

static void np_bounded_input_finalize(GObject *object)
{
        NpBoundedInput *self = NP_BOUNDED_INPUT(object);

        g_clear_error(&self->failed);
        g_clear_object(&self->base);
        G_OBJECT_CLASS(np_bounded_input_parent_class)->finalize(object);
}

static void np_bounded_input_class_init(NpBoundedInputClass *class)
{
        G_OBJECT_CLASS(class)->finalize = np_bounded_input_finalize;
        G_INPUT_STREAM_CLASS(class)->read_fn = input_read;
}

static void np_bounded_input_init(NpBoundedInput *self)
{
}

static GInputStream *stream_get_input(GIOStream *stream)
{
        return NP_BOUNDED_STREAM(stream)->input;
}

static GOutputStream *stream_get_output(GIOStream *stream)
{
        return g_io_stream_get_output_stream(NP_BOUNDED_STREAM(stream)->base);
}

static gboolean stream_close(GIOStream *stream, GCancellable *cancellable, GError **error)
{
        return g_io_stream_close(NP_BOUNDED_STREAM(stream)->base, cancellable, error);
}

static void np_bounded_stream_dispose(GObject *object)
{
        NpBoundedStream *self = NP_BOUNDED_STREAM(object);

        /* The parent's closes the stream, for which the base must be there still. */
        G_OBJECT_CLASS(np_bounded_stream_parent_class)->dispose(object);
        g_clear_object(&self->input);
}

static void np_bounded_stream_finalize(GObject *object)
{
        g_clear_object(&NP_BOUNDED_STREAM(object)->base);
        G_OBJECT_CLASS(np_bounded_stream_parent_class)->finalize(object);
}

static void np_bounded_stream_class_init(NpBoundedStreamClass *class)
{
        G_OBJECT_CLASS(class)->dispose = np_bounded_stream_dispose;
        G_OBJECT_CLASS(class)->finalize = np_bounded_stream_finalize;
        G_IO_STREAM_CLASS(class)->get_input_stream = stream_get_input;
        G_IO_STREAM_CLASS(class)->get_output_stream = stream_get_output;
        G_IO_STREAM_CLASS(class)->close_fn = stream_close;
}

static void np_bounded_stream_init(NpBoundedStream *self)
{
}

GIOStream *np_bounded_stream_new(GIOStream *base, gboolean from_client, gsize max)
{
        NpBoundedStream *self = g_object_new(NP_TYPE_BOUNDED_STREAM, NULL);
        NpBoundedInput *input;

        self->base = g_object_ref(base);
        self->input = g_object_new(NP_TYPE_BOUNDED_INPUT, NULL);
        input = NP_BOUNDED_INPUT(self->input);
        input->base = g_object_ref(g_io_stream_get_input_stream(base));
        np_message_bounds_init(&input->bounds, from_client, max);
        return G_IO_STREAM(self);
}
