/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user's BTF file: whose it is, whether it is whole, and whether it is of the kernel that runs.
 *
 * pahole writes either a BTF that is split on vmlinux's (--btf_base): ids and strings go on where those of vmlinux end; or a
 * plain one. Neither says what kernel it is of. With another vmlinux below it, the references and the names of a split one land
 * at some other type, and in the middle of some other string: so all are looked at. A plain one repeats structures of the
 * kernel, and must agree with vmlinux about them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/stat.h>

#include "types-internal.h"

#define FILE_SIZE_MAX (64U << 20)       /* vmlinux's is some 6 MiB */

static int refuse(int r, char **ret_reason, char *reason)
{
        *ret_reason = reason;
        return r;
}

static const char *kind_name(const struct btf_type *type)
{
        return btf_is_struct(type) ? "struct " : btf_is_union(type) ? "union " : btf_is_func(type) ? "function " : "";
}

/* Where the strings of its own begin: those before are of the BTF that it is split from. */
static uint32_t first_string(const struct btf *btf)
{
        const struct btf *base = btf__base_btf(btf);
        const struct btf_header *header;
        uint32_t size;

        if (!base)
                return 0;
        header = btf__raw_data(base, &size);
        return header ? header->str_len : 0;
}

static bool is_name(const struct btf *btf, uint32_t offset, uint32_t first)
{
        const char *name = btf__name_by_offset(btf, offset);

        return name && (offset == 0 || offset == first || name[-1] == '\0');
}

/* A type that a variable could have, or void. */
static bool is_type(const struct btf *btf, uint32_t id)
{
        const struct btf_type *type = btf__type_by_id(btf, id);

        return type && !btf_is_func(type) && !btf_is_var(type) && !btf_is_datasec(type) && !btf_is_decl_tag(type);
}

static bool members_valid(const struct btf *btf, const struct btf_type *type, uint32_t first)
{
        for (unsigned i = 0; i < btf_vlen(type); i++) {
                const struct btf_member *member = &btf_members(type)[i];
                uint64_t bits = btf_member_bitfield_size(type, i);
                int64_t size;

                if (!is_name(btf, member->name_off, first) || !is_type(btf, member->type))
                        return false;
                size = btf__resolve_size(btf, member->type);
                if (size < 0 || btf_member_bit_offset(type, i) + (bits ?: (uint64_t) size * 8) > (uint64_t) type->size * 8)
                        return false;
        }
        return true;
}

static bool prototype_valid(const struct btf *btf, const struct btf_type *type, uint32_t first)
{
        for (unsigned i = 0; i < btf_vlen(type); i++)
                if (!is_name(btf, btf_params(type)[i].name_off, first) || !is_type(btf, btf_params(type)[i].type))
                        return false;
        return is_type(btf, type->type);
}

static bool type_valid(const struct btf *btf, const struct btf_type *type, uint32_t first)
{
        const struct btf_type *other;

        if (!is_name(btf, type->name_off, first))
                return false;
        switch (btf_kind(type)) {
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
                return members_valid(btf, type, first);
        case BTF_KIND_ARRAY:
                return is_type(btf, btf_array(type)->type) && is_type(btf, btf_array(type)->index_type);
        case BTF_KIND_FUNC:
                other = btf__type_by_id(btf, type->type);
                return other && btf_is_func_proto(other);
        case BTF_KIND_FUNC_PROTO:
                return prototype_valid(btf, type, first);
        case BTF_KIND_PTR:
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_CONST:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_RESTRICT:
        case BTF_KIND_TYPE_TAG:
        case BTF_KIND_VAR:
                return is_type(btf, type->type);
        case BTF_KIND_ENUM:
                for (unsigned i = 0; i < btf_vlen(type); i++)
                        if (!is_name(btf, btf_enum(type)[i].name_off, first))
                                return false;
                return true;
        default:
                return true;            /* nothing that a structure could be made of */
        }
}

static int check_types(const struct btf *btf, unsigned first_id, char **ret_reason)
{
        uint32_t first = first_string(btf);

        for (unsigned id = first_id, end = btf__type_cnt(btf); id < end; id++) {
                const struct btf_type *type = btf__type_by_id(btf, id);

                if (type_valid(btf, type, first))
                        continue;
                if (!is_name(btf, type->name_off, first))
                        return refuse(-ESTALE, ret_reason, g_strdup_printf("its type %u has a name that is none", id));
                return refuse(-ESTALE, ret_reason,
                              g_strdup_printf("its type %u (%s%s) refers to a name or a type that cannot be", id,
                                              kind_name(type), btf__name_by_offset(btf, type->name_off)));
        }
        return 0;
}

static bool same_members(const struct btf *btf, const struct btf_type *a, const struct btf *vmlinux, const struct btf_type *b)
{
        if (a->size != b->size || btf_vlen(a) != btf_vlen(b))
                return false;
        for (unsigned i = 0; i < btf_vlen(a); i++)
                if (btf_member_bit_offset(a, i) != btf_member_bit_offset(b, i) ||
                    !g_str_equal(btf__name_by_offset(btf, btf_members(a)[i].name_off),
                                 btf__name_by_offset(vmlinux, btf_members(b)[i].name_off)))
                        return false;
        return true;
}

/* Structures that most modules know, and that differ between kernels. */
static int check_kernel(const struct btf *btf, const struct btf *vmlinux, char **ret_reason)
{
        static const char *const known[] = { "module", "task_struct", "request", "bio", "device",
                                             "sock",   "sk_buff",     "page",    "file" };
        unsigned compared = 0;

        for (size_t i = 0; i < ELEMENTSOF(known); i++) {
                int a = btf__find_by_name_kind(btf, known[i], BTF_KIND_STRUCT);
                int b = btf__find_by_name_kind(vmlinux, known[i], BTF_KIND_STRUCT);

                if (a <= 0 || b <= 0)
                        continue;
                if (!same_members(btf, btf__type_by_id(btf, a), vmlinux, btf__type_by_id(vmlinux, b)))
                        return refuse(-ESTALE, ret_reason,
                                      g_strdup_printf("its struct %s is not this kernel's: it was made for another kernel",
                                                      known[i]));
                compared++;
        }
        if (compared == 0)
                return refuse(-ESTALE, ret_reason, g_strdup("it has no structure by which to tell that it is of this kernel"));
        return 0;
}

/* libbpf reads the rest safely when this is right; what it has to say of the rest is one number. */
static int check_header(int fd, bool *ret_plain, char **ret_reason)
{
        struct btf_header header;
        uint64_t strings, size;
        struct stat st;
        ssize_t n;
        char c;

        if (fstat(fd, &st) < 0)
                return refuse(-errno, ret_reason, g_strdup(strerror(errno)));
        if (!S_ISREG(st.st_mode))
                return refuse(-EINVAL, ret_reason, g_strdup("it is no regular file"));
        n = pread(fd, &header, sizeof(header), 0);
        if (n < 0)
                return refuse(-errno, ret_reason, g_strdup(strerror(errno)));
        size = st.st_size;
        if (n >= 4 && memcmp(&header, "\177ELF", 4) == 0)
                return refuse(-EINVAL, ret_reason,
                              g_strdup("it is an object file, not BTF: pahole's --btf_encode_detached=FILE writes BTF alone"));
        if (n < (ssize_t) sizeof(header))
                return refuse(-EINVAL, ret_reason, g_strdup(n == 0 ? "it is empty" : "it is no BTF: too short"));
        if (header.magic == GUINT16_SWAP_LE_BE(BTF_MAGIC))
                return refuse(-EINVAL, ret_reason, g_strdup("it is BTF of a machine of the other byte order"));
        if (header.magic != BTF_MAGIC)
                return refuse(-EINVAL, ret_reason, g_strdup_printf("it is no BTF (it begins with 0x%04x)", header.magic));
        if (header.version != BTF_VERSION)
                return refuse(-EINVAL, ret_reason,
                              g_strdup_printf("it is BTF of version %u, not %u", header.version, BTF_VERSION));
        if (size > FILE_SIZE_MAX)
                return refuse(-EFBIG, ret_reason, g_strdup_printf("it is larger than %u MiB", FILE_SIZE_MAX >> 20));

        strings = (uint64_t) header.hdr_len + header.str_off;
        if (header.hdr_len < sizeof(header) || strings + header.str_len > size ||
            (uint64_t) header.hdr_len + header.type_off + header.type_len > size)
                return refuse(-EINVAL, ret_reason, g_strdup("it is cut off"));
        /* a plain one's strings begin with the empty one, a split one's follow vmlinux's */
        *ret_plain = header.str_len > 0 && pread(fd, &c, 1, strings) == 1 && c == '\0';
        return 0;
}

/* libbpf takes a split BTF by name only. */
static int parse(int fd, struct btf *vmlinux, struct btf **ret, unsigned *ret_first, char **ret_reason)
{
        g_autofree char *name = g_strdup_printf("/proc/self/fd/%d", fd);
        struct btf *btf;
        bool plain = false;
        int r;

        r = check_header(fd, &plain, ret_reason);
        if (r < 0)
                return r;
        if (!plain && !vmlinux)
                return refuse(-EINVAL, ret_reason, g_strdup("it is split from another BTF, and vmlinux's has to be whole"));

        btf = btf__parse_raw_split(name, plain ? NULL : vmlinux);
        if (!btf)
                return refuse(-EINVAL, ret_reason,
                              g_strdup_printf("it is damaged: libbpf cannot read it (%s)", strerror(errno)));
        *ret_first = plain ? 1 : btf__type_cnt(vmlinux);

        r = check_types(btf, *ret_first, ret_reason);
        if (r < 0) {
                char *detail = *ret_reason;

                *ret_reason = g_strdup_printf("%s: it is damaged%s", detail,
                                              plain ? "" : ", or was made with the vmlinux of another kernel");
                g_free(detail);
        }
        if (r >= 0 && plain && vmlinux)
                r = check_kernel(btf, vmlinux, ret_reason);
        if (r < 0) {
                btf__free(btf);
                return r;
        }
        *ret = btf;
        return 0;
}

/* Of an open folder or file. */
static int check_owner(int fd, const char *path, uid_t owner, char **ret_reason)
{
        struct stat st;

        if (fstat(fd, &st) < 0)
                return refuse(-errno, ret_reason, g_strdup_printf("%s: %s", path, strerror(errno)));
        if (st.st_uid != owner || (st.st_mode & (S_IWGRP | S_IWOTH)))
                return refuse(
                        -EPERM, ret_reason,
                        g_strdup_printf(
                                "%s is not used, as others than root may write it (owner %u, mode %03o): chown root it, and "
                                "chmod go-w",
                                path, st.st_uid, st.st_mode & 0777));
        return 0;
}

/* -ENOENT without a reason. */
static int open_checked(int folder, const char *name, int flags, const char *path, uid_t owner, char **ret_reason)
{
        int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags), r;

        if (fd < 0 && errno == ENOENT)
                return -ENOENT;
        if (fd < 0)
                return refuse(-errno, ret_reason, g_strdup_printf("%s: %s%s", path, strerror(errno),
                                                                  errno == EACCES ? ": chmod a+rX it" : ""));
        r = check_owner(fd, path, owner, ret_reason);
        if (r < 0) {
                close(fd);
                return r;
        }
        return fd;
}

/* The file, or why not. */
static int open_file(const KernelTypesRoots *roots, const char *release, const char *name, const char *path, char **ret_reason)
{
        g_autofree char *folder_path = g_build_filename(roots->files, release, NULL);
        _cleanup_close_ int top = -1, folder = -1;

        top = open_checked(AT_FDCWD, roots->files, O_DIRECTORY, roots->files, roots->owner, ret_reason);
        if (top < 0)
                return top;
        folder = open_checked(top, release, O_DIRECTORY | O_NOFOLLOW, folder_path, roots->owner, ret_reason);
        if (folder < 0)
                return folder;
        return open_checked(folder, name, O_NOFOLLOW, path, roots->owner, ret_reason);
}

int types_file_read(const KernelTypesRoots *roots, const char *release, const char *module, struct btf *vmlinux,
                    struct btf **ret, unsigned *ret_first, char **ret_reason)
{
        g_autofree char *name = g_strconcat(module, ".btf", NULL), *path = g_build_filename(roots->files, release, name, NULL),
                        *detail = NULL;
        _cleanup_close_ int fd = -1;
        int r;

        fd = open_file(roots, release, name, path, ret_reason);
        if (fd == -ENOENT)
                return refuse(fd, ret_reason, g_strdup_printf("no %s", path));
        if (fd < 0)
                return fd;

        r = parse(fd, vmlinux, ret, ret_first, &detail);
        if (r < 0)
                return refuse(r, ret_reason, g_strdup_printf("%s is not used: %s", path, detail));
        return 0;
}
