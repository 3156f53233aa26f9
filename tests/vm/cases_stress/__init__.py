# SPDX-License-Identifier: GPL-2.0-or-later
"""What ntprof promises of use for long, a file each; half an hour a kernel, so only with --stress. run(lab) makes the tests of one;
ORDER is the order they run in."""

ORDER = (
    "two_hundred_sessions_lose_nothing",
    "ten_minutes_at_queue_depth_32_lose_nothing",
)
