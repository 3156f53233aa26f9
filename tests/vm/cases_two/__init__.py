# SPDX-License-Identifier: GPL-2.0-or-later
"""What ntprof promises of two machines, a file each. run(lab) makes the tests of one; ORDER is the order they run in, and the
first always runs: it pairs the machines."""

ORDER = (
    "pairing_takes_one_line",
    "a_remote_session_is_joined",
    "members_may_record_at_a_peer",
    "the_targets_administrator_decides",
    "a_killed_daemon_costs_its_side_only",
)
