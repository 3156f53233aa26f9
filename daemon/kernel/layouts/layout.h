/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For definitions of a kernel's structures, from which daemon/kernel/layouts.c makes a layout.
 *
 * What matters are the order of members, their sizes, and the names of those that bpf/kernel-types.h names. So a pointer
 * is a void *, a run of pointers is an array of them, and a structure ends where nothing behind is read, unless it is
 * part of another. There must be no bitfields, nothing packed, and no alignment by attribute: BTF doesn't tell of these.
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef _Bool bool;
typedef void *pointer;

/* What a program can ask for of a module. */
#define MODULE_HAS(module, structure) \
        static struct structure *module##_##structure __attribute__((used, section(".data." #module)))

/* The kernel's own, empty: their sizes and alignments are vmlinux's. */
#define OF_VMLINUX(structure) struct structure {}

OF_VMLINUX(bio);
OF_VMLINUX(bio_vec);
OF_VMLINUX(cdev);
OF_VMLINUX(completion);
OF_VMLINUX(delayed_work);
OF_VMLINUX(device);
OF_VMLINUX(kiocb);
OF_VMLINUX(list_head);
OF_VMLINUX(llist_head);
OF_VMLINUX(llist_node);
OF_VMLINUX(msghdr);
OF_VMLINUX(mutex);
OF_VMLINUX(percpu_ref);
OF_VMLINUX(rw_semaphore);
OF_VMLINUX(spinlock);
OF_VMLINUX(srcu_struct);
OF_VMLINUX(wait_queue_head);
OF_VMLINUX(work_struct);
OF_VMLINUX(xarray);
