/* SPDX-License-Identifier: GPL-2.0-or-later */
/* include/linux/nvme.h: what goes over the wire, the same in all kernels (NVM Express Base Specification, 3.3.3). */
#pragma once

#include "layout.h"

struct nvme_common_command {
        u8 opcode, flags;
        u16 command_id;
        u32 nsid, cdw2[2];
        u64 metadata, dptr[2];
        u32 cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};

struct nvme_command {
        struct nvme_common_command common;
};

struct nvme_completion {
        u64 result;
        u16 sq_head, sq_id, command_id, status;
};
