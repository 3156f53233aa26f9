/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memfd.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "../util.h"

int memfd_new_sealed(const char *name, const void *data, size_t size)
{
        _cleanup_close_ int fd = -1;
        const char *p = data;

        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0)
                return -errno;

        while (size > 0) {
                ssize_t n = write(fd, p, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                p += n;
                size -= n;
        }

        if (lseek(fd, 0, SEEK_SET) < 0)
                return -errno;
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
                return -errno;
        return TAKE_FD(fd);
}
