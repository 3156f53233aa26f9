# SPDX-License-Identifier: GPL-2.0-or-later
"""What ntprof promises of two machines, a file each. run(lab) makes the tests of one; ORDER is the order they run in, and the
first always runs: it pairs the machines. Two beds run them, each with another kernel on the target than on the host: those of
EACH_WAY in both, the others in one of them (--every: in both, too)."""

ORDER = (
    "pairing_takes_one_line",
    "a_remote_session_is_joined",
    "rdma_is_joined_across_machines",
    "members_may_record_at_a_peer",
    "the_targets_administrator_decides",
    "a_busy_processor_shows_on_its_machine",
    "a_delay_shows_in_its_stage_and_direction",
    "responses_in_one_piece_arrived_apart",
    "a_cut_link_costs_what_it_cuts",
    "a_killed_daemon_costs_its_side_only",
    "a_reset_controller_is_joined_again",
    "a_stepped_clock_does_no_harm",
    "a_bad_or_slow_link_is_waited_for",
    "the_matrix_is_true",
    "a_target_may_lose_power",
)

EACH_WAY = ("pairing_takes_one_line", "a_remote_session_is_joined", "rdma_is_joined_across_machines")
