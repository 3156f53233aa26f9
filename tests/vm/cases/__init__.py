# SPDX-License-Identifier: GPL-2.0-or-later
"""What ntprof promises, a file each. run(lab) makes the tests of one; ORDER is the order they run in."""

ORDER = (
    "every_command_is_counted_and_joined",
    "rdma_is_recorded_like_tcp",
    "kinds_of_io_are_told_apart",
    "connections_of_all_kinds_are_measured",
    "connections_with_tls_are_measured",
    "drives_of_all_kinds_are_measured",
    "commands_that_fail_are_accounted_for",
    "an_injected_delay_shows_in_its_stage_only",
    "a_full_socket_buffer_is_the_networks_time",
    "bytes_are_seen_to_arrive",
    "the_mean_is_what_bpftrace_measures",
    "both_sides_sample_the_same_commands",
    "attaching_under_load_loses_nothing",
    "the_service_starts_on_demand_and_is_confined",
    "check_tells_what_a_session_will_do",
    "what_cannot_be_recorded_is_told",
    "sessions_are_managed_by_id",
    "members_may_record_others_may_not",
    "a_killed_daemon_leaves_nothing_attached",
    "tags_and_queues_are_told",
    "a_lost_controller_ends_no_session_badly",
    "modules_come_and_go",
)
