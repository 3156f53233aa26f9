/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memfd.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ntprof-error.h"

/* Of a document; a report of ten thousand groups is a tenth of this. */
#define DOCUMENT_SIZE_MAX (256 * 1024 * 1024)

static char *fail(const char *what, const char *why, GError **error)
{
        g_set_error(error, NTPROF_ERROR, NTPROF_ERROR_INVALID_DOCUMENT, "ntprofd's %s can't be read: %s", what, why);
        return NULL;
}

char *np_read_handle(GUnixFDList *fds, GVariant *handle, const char *what, GError **error)
{
        struct stat st;

        if (!fds)
                return fail(what, "no file descriptor in the reply", error);

        int fd = g_unix_fd_list_get(fds, g_variant_get_handle(handle), error);
        if (fd < 0) {
                g_prefix_error(error, "ntprofd's %s can't be read: ", what);
                return NULL;
        }
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > DOCUMENT_SIZE_MAX) {
                close(fd);
                return fail(what, "not a file, or too large", error);
        }

        /* The descriptor's offset is shared with whoever else holds it. */
        g_autofree char *text = g_malloc((gsize) st.st_size + 1);
        gsize length = 0;
        while (length < (gsize) st.st_size) {
                ssize_t n = pread(fd, text + length, (gsize) st.st_size - length, (off_t) length);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        const char *why = n < 0 ? g_strerror(errno) : "it shrank";
                        close(fd);
                        return fail(what, why, error);
                }
                length += (gsize) n;
        }
        close(fd);
        text[length] = 0;
        return g_steal_pointer(&text);
}
