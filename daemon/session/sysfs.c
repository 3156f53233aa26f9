/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

static int read_attribute_at(const char *path, char **ret)
{
        _cleanup_close_ int fd = -1;
        char buffer[4096];
        ssize_t n;

        /* O_NONBLOCK: never wait for whoever put a fifo where sysfs should be */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
                return -errno;

        n = read(fd, buffer, sizeof(buffer) - 1);
        if (n < 0)
                return -errno;

        buffer[n] = 0;
        buffer[strcspn(buffer, "\n")] = 0;
        *ret = g_strdup(g_strchomp(buffer));
        return 0;
}

#define PATH_FROM_FORMAT(format)                                \
        ({                                                      \
                va_list _ap_;                                   \
                char *_path_;                                   \
                va_start(_ap_, format);                         \
                _path_ = g_strdup_vprintf(format, _ap_);        \
                va_end(_ap_);                                   \
                _path_;                                         \
        })

int read_attribute(char **ret, const char *path_format, ...)
{
        _cleanup_free_ char *path = PATH_FROM_FORMAT(path_format);

        return read_attribute_at(path, ret);
}

int read_attribute_u64(uint64_t *ret, const char *path_format, ...)
{
        _cleanup_free_ char *path = PATH_FROM_FORMAT(path_format);
        _cleanup_free_ char *text = NULL;
        guint64 value;
        int r;

        r = read_attribute_at(path, &text);
        if (r < 0)
                return r;
        if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &value, NULL))
                return -EBADMSG;

        *ret = value;
        return 0;
}

bool path_exists(const char *path_format, ...)
{
        _cleanup_free_ char *path = PATH_FROM_FORMAT(path_format);

        return access(path, F_OK) >= 0;
}

int read_link_name(char **ret, const char *path_format, ...)
{
        _cleanup_free_ char *path = PATH_FROM_FORMAT(path_format);
        char target[PATH_MAX];
        ssize_t n;

        n = readlink(path, target, sizeof(target) - 1);
        if (n < 0)
                return -errno;

        target[n] = 0;
        *ret = g_path_get_basename(target);
        return 0;
}

static int compare_strings(const void *a, const void *b)
{
        return strverscmp(*(const char *const *) a, *(const char *const *) b);
}

int list_directory(char ***ret, bool (*accept)(const char *name, const void *userdata), const void *userdata,
                   const char *path_format, ...)
{
        _cleanup_free_ char *path = PATH_FROM_FORMAT(path_format);
        GPtrArray *names;
        struct dirent *entry;
        DIR *dir;

        dir = opendir(path);
        if (!dir)
                return -errno;

        names = g_ptr_array_new();
        while ((entry = readdir(dir)))
                if (entry->d_name[0] != '.' && (!accept || accept(entry->d_name, userdata)))
                        g_ptr_array_add(names, g_strdup(entry->d_name));
        closedir(dir);

        g_ptr_array_sort(names, compare_strings);
        g_ptr_array_add(names, NULL);
        *ret = (char **) g_ptr_array_free(names, false);
        return 0;
}
