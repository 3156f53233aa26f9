/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the host's processor where only nvme-rdma's own work waits for it. That is done by interrupts and by who submits, so a
 * program that takes the processor from threads does not hold it up.
 *
 * With -DSUBMISSION: for SPIN_NS before each command that the driver is given. Else: for SPIN_NS before the completion queue is
 * polled, if no command was given within QUIET_NS: the completions of sends, which come at once, are not held up, for soft-RoCE
 * does its own work in the same interrupts.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define SPIN_NS 400000000ULL
#define QUIET_NS 40000000ULL
/* More looks at the clock than fit. */
#define LOOKS (1 << 23)

static __u64 given;

static long look(__u32 number, void *until)
{
        (void) number;
        return bpf_ktime_get_ns() >= *(__u64 *) until;
}

static void spin(void)
{
        __u64 until = bpf_ktime_get_ns() + SPIN_NS;

        bpf_loop(LOOKS, look, &until, 0);
}

SEC("kprobe/nvme_rdma_queue_rq")
int submission(void *ctx)
{
        (void) ctx;
#ifdef SUBMISSION
        spin();
#else
        given = bpf_ktime_get_ns();
#endif
        return 0;
}

#ifndef SUBMISSION
SEC("kprobe/ib_poll_handler")
int poll(void *ctx)
{
        (void) ctx;
        if (bpf_ktime_get_ns() - given > QUIET_NS)
                spin();
        return 0;
}
#endif

char spin_license[] SEC("license") = "GPL";
