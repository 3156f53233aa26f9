/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "types-internal.h"

/* Below kernel/ of a modules' folder. */
static const struct {
        const char *module, *file;
} files[] = {
        { "nvme_core", "drivers/nvme/host/nvme-core.ko" },
        { "nvme_fabrics", "drivers/nvme/host/nvme-fabrics.ko" },
        { "nvme_tcp", "drivers/nvme/host/nvme-tcp.ko" },
        { "nvme_rdma", "drivers/nvme/host/nvme-rdma.ko" },
        { "nvmet", "drivers/nvme/target/nvmet.ko" },
        { "nvmet_tcp", "drivers/nvme/target/nvmet-tcp.ko" },
        { "nvmet_rdma", "drivers/nvme/target/nvmet-rdma.ko" },
        { "ib_core", "drivers/infiniband/core/ib_core.ko" },
};

static const char *file_of(const char *module)
{
        for (size_t i = 0; i < ELEMENTSOF(files); i++)
                if (g_str_equal(files[i].module, module))
                        return files[i].file;
        return NULL;
}

/* pahole makes the file readable by its group only, and ntprofd is a user of its own. */
char *kernel_types_advice(const char *release, const char *module, bool out_of_tree)
{
        g_autofree char *folder = g_strdup_printf("/etc/ntprof/btf/%s", release), *object = NULL, *base = NULL;
        const char *file = file_of(module), *needs;

        if (g_str_equal(module, VMLINUX)) {
                object = g_strdup_printf("/usr/lib/debug/boot/vmlinux-%s", release);
                base = g_strdup("");
                needs = "the kernel's debug symbols";
        } else {
                base = g_strdup("--btf_base=/sys/kernel/btf/vmlinux ");
                needs = out_of_tree ? "the module with its debug symbols (built with -g, not stripped)" :
                                      "the kernel's debug symbols";
                if (out_of_tree || !file)
                        object = g_strdup_printf("$(modinfo -n %s)", module);
                else
                        object = g_strdup_printf("/usr/lib/debug/lib/modules/%s/kernel/%s", release, file);
        }
        return g_strdup_printf(
                "with pahole and %s installed, as root: mkdir -p %s && pahole -J %s--btf_encode_detached=%s/%s.btf %s && "
                "chmod a+r %s/%s.btf",
                needs, folder, base, folder, module, object, folder, module);
}
