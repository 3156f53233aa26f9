#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The report says what the recording holds, to the nanosecond; it travels as a file that nobody can change."""

import dataclasses
import fcntl
import json
import mmap
import os
import stat

from gi.repository import GLib

import make_replay
import tap
from service import MANAGER, ROOT, SESSION, Service, errors_of, private_bus

SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def reported(service: Service, recording: make_replay.Recording, speed: float = 20, **options: object) -> dict:
    service.start(recording, speed=speed)
    client = service.client()
    options.setdefault("sample", "all")
    path = client.start(**options)
    client.wait_state(path, "finished", "failed")
    assert client.get(path, "Result") == "done", client.get(path, "Message")
    report = client.report(path)
    lost = client.get(path, "Lost")
    assert lost == {k: n for k, n in report["losses"].items() if n}, (lost, report["losses"])
    return report


def group(report: dict, op: str, with_target: bool = True) -> dict:
    found = [g for g in report["groups"] if g["op"] == op and g["with_target"] == with_target]
    assert len(found) == 1, found
    return found[0]


def stages(entry: dict) -> dict[str, float]:
    return {s["id"]: s["mean_ns"] for s in entry["stages"]}


@tap.case
def facts_are_those_of_the_recording(service: Service) -> None:
    report = reported(service, make_replay.recording())
    assert report["schema"] == "org.ntprof.report/1"
    assert report["host"]["name"] == report["targets"][0]["name"] == "host-a"
    assert report["host"]["kernel"] == "6.1.0-test-amd64" and report["host"]["nqn"] == make_replay.HOSTNQN
    assert report["subsystem_nqn"] == make_replay.SUBSYSNQN
    assert report["paths"] == [{"namespace": "nvme6n1", "device": "nvme6c6n1", "controller": "nvme6", "transport": "tcp",
                                "traddr": "10.0.0.2", "block_size_bytes": 512, "target": 0}], report["paths"]
    assert report["host"]["hooks"][2] == {"boundary": "H3", "mechanism": "fexit", "symbol": "nvme_tcp_try_send"}
    assert [h["boundary"] for h in report["targets"][0]["hooks"]] == ["T1", "T9"]
    session = report["session"]
    assert session["duration_ns"] == 2_000_000_000 and session["seed"] == make_replay.SEED
    assert session["threshold"] == 0xFFFFFFFF and session["threshold_fixed"] is True


@tap.case
def every_command_is_in_it(service: Service) -> None:
    recording = make_replay.recording()
    report = reported(service, recording)
    assert report["session"]["commands"] == report["session"]["sampled"] == 2000
    assert not any(report["losses"].values()), report["losses"]
    for op, opcode, size in (("read", make_replay.OP_READ, 4096), ("write", make_replay.OP_WRITE, 65536)):
        commands = [c for c in recording.commands if c.opcode == opcode]
        entry = group(report, op)
        assert entry["size_bytes"] == size and entry["joined"] == entry["sampled"] == entry["commands"] == len(commands)
        assert abs(entry["rate_per_s"] - len(commands) / 2) < 0.01
        mean = sum(c.latency() for c in commands) / len(commands)
        assert abs(entry["latency"]["mean_ns"] - mean) < 1, (entry["latency"], mean)
        assert abs(sum(stages(entry).values()) - mean) < 1, stages(entry)
        assert entry["latency"]["max_ns"] == max(c.latency() for c in commands)
    assert len(report["groups"]) == 2


@tap.case
def stages_are_the_ones_put_in(service: Service) -> None:
    report = reported(service, make_replay.recording())
    read, write = stages(group(report, "read")), stages(group(report, "write"))
    # from the offsets in make_replay: (H2-H0)+(H8-H7), (H3-H2)+(H7-H6)[+r2t], away-residence, residence-storage
    assert read["host_block"] == 4000 and read["host_driver"] == 5000
    assert read["network"] == 60000 - 40000 and read["target_driver"] == 6000
    assert write["host_block"] == 4000 and write["host_driver"] == 25000
    assert write["network"] == (160000 - 20000) - (130000 - 50000) and write["target_driver"] == 80000 - 71000 + 0, write


def components(entry: dict) -> dict[str, float | str]:
    """By "stage/component": the mean, or why it is not known; without the 10 ns that the drive's time grows by."""
    found = {f"{s['id']}/{c['id']}": c["mean_ns_reason"] if c["mean_ns"] is None else c["mean_ns"]
             for s in entry["stages"] for c in s["components"]}
    return {k: round(v) if isinstance(v, float) else v for k, v in found.items()}


@tap.case
def components_are_the_ones_put_in(service: Service) -> None:
    report = reported(service, make_replay.recording(detail=True), detail=True)
    assert report["session"]["detail"] is True
    read, write = components(group(report, "read")), components(group(report, "write"))
    assert {k: read[k] for k in read if k.startswith("network/")} == {
        "network/request": 10000, "network/request_wire": 9200, "network/target_receive": 800,
        "network/transfer": 0, "network/transfer_wire": 0, "network/transfer_host_receive": 0, "network/transfer_target_receive": 0,
        "network/response": 10000, "network/response_wire": 8500, "network/host_receive": 1500}, read
    assert {k: write[k] for k in write if k.startswith("network/")} == {
        "network/request": 10000, "network/request_wire": 9100, "network/target_receive": 900,
        "network/transfer": 30000, "network/transfer_wire": 28400, "network/transfer_host_receive": 700,
        "network/transfer_target_receive": 900,
        "network/response": 20000, "network/response_wire": 18000, "network/host_receive": 2000}, write
    assert read["host_block/tag_wait"] == 500 and write["host_driver/r2t"] == 20000
    assert read["storage/target_block"] == write["storage/target_block"] == 2000


@tap.case
def components_over_rdma_are_the_ones_put_in(service: Service) -> None:
    report = reported(service, make_replay.recording(transport="rdma", detail=True), detail=True)
    assert report["paths"][0]["transport"] == "rdma" and sum(g["joined"] for g in report["groups"]) == 2000
    read, write = components(group(report, "read")), components(group(report, "write"))
    assert read["host_driver/invalidation"] == 1200 and read["host_driver/completion"] == 800, read
    assert read["target_driver/send_completion"] == 3000 and read["network/transfer"] == 0, read
    assert write["network/transfer"] == 50000 and write["network/transfer_target_receive"] == 600, write
    assert "host_driver/r2t" not in write and "network/transfer_host_receive" not in write, write
    for entry in report["groups"]:
        assert abs(sum(stages(entry).values()) - entry["latency"]["mean_ns"]) < 1, entry


@tap.case
def a_plain_session_says_what_it_did_not_record(service: Service) -> None:
    report = reported(service, make_replay.recording())
    assert report["session"]["detail"] is False
    unknown = {k for k, v in components(group(report, "read")).items() if isinstance(v, str)}
    assert unknown == {"network/request_wire", "network/target_receive", "network/response_wire", "network/host_receive",
                       "storage/target_block", "storage/drive"}, unknown


@tap.case
def writes_with_fua_are_apart(service: Service) -> None:
    """With all their commands, sampled or not: the kernel counts them apart."""
    makes = (make_replay.write_4k, make_replay.write_4k, make_replay.write_4k_fua, make_replay.read_4k)
    report = reported(service, make_replay.recording(makes=makes), sample="1/4")
    counts = {(g["op"], g["fua"]): g["commands"] for g in report["groups"]}
    assert counts == {("write", False): 1000, ("write", True): 500, ("read", False): 500}, counts
    assert all(0 < g["sampled"] < g["commands"] / 2 for g in report["groups"]), report["groups"]


@tap.case
def who_did_it_is_told(service: Service) -> None:
    views = reported(service, make_replay.recording())["views"]
    by_process = {(row["tgid"], row["comm"]): row["commands"] for row in views["process"]}
    assert by_process == {(1001, "fio"): 1334, (2002, "postgres: walwr"): 666}, by_process
    assert {row["qid"]: row["host_cores"]["list"] for row in views["queue"]} == {1: "0", 2: "1"}, views["queue"]
    assert {row["cpu"]: row["response_cores"]["list"] for row in views["cpu"]} == {0: "2", 1: "3"}, views["cpu"]
    assert {row["size_bytes"]: row["commands"] for row in views["size"]} == {4096: 1500, 65536: 500}, views["size"]


@tap.case
def queue_depth_agrees_with_the_disk(service: Service) -> None:
    report = reported(service, make_replay.recording())
    depth = report["queue_depth"]
    assert depth["diskstats"]["ios"] == 2000
    assert abs(depth["from_stages"] - depth["diskstats"]["avg_qd"]) < 0.002, depth


@tap.case
def without_the_disks_counts_it_says_why(service: Service) -> None:
    depth = reported(service, make_replay.recording(iostat=False))["queue_depth"]
    assert "the recording does not have it" in json.dumps(depth), depth


@tap.case
def without_a_target_it_says_why(service: Service) -> None:
    report = reported(service, make_replay.recording(has_target=False))
    assert report["targets"] == [] and report["paths"][0]["target"] is None
    reason = report["paths"][0]["target_reason"]
    assert reason.startswith("the target is another machine (10.0.0.2): ") and "ntprof-peerd" in reason, reason
    entry = group(report, "read", with_target=False)
    assert entry["joined"] == 0 and set(stages(entry)) == {"host_block", "host_driver", "network_target"}
    assert stages(entry)["network_target"] == group(report, "read", False)["latency"]["mean_ns"] - 9000


@tap.case
def losses_are_counted_by_cause(service: Service) -> None:
    recording = make_replay.recording()
    changes = {10: {"target_recorded": False}, 20: {"target_recorded": False}, 30: {"host_flags": make_replay.FLAG_CANCELLED},
               41: {"host_flags": make_replay.FLAG_RETRIED}, 50: {"host_recorded": False, "target_recorded": False}}
    for index, change in changes.items():
        recording.commands[index] = dataclasses.replace(recording.commands[index], **change)
    recording.host_counters = {make_replay.RING_FULL: 1}
    report = reported(service, recording)
    lost = {k: n for k, n in report["losses"].items() if n}
    assert lost == {"no_target": 2, "cancelled": 1, "retried": 1, "ring_full": 1}, lost
    assert report["session"]["sampled"] == 2000
    assert sum(g["joined"] for g in report["groups"]) == 1995
    assert sum(n for n in lost.values()) + 1995 == 2000


@tap.case
def unsampled_commands_count_in_rates(service: Service) -> None:
    report = reported(service, make_replay.recording(unsampled=30000))
    assert report["session"]["commands"] == 32000 and report["session"]["sampled"] == 2000
    assert group(report, "read")["commands"] == 31500
    assert abs(group(report, "read")["rate_per_s"] - 15750) < 1


@tap.case
def a_fraction_is_what_the_hash_says(service: Service) -> None:
    recording = make_replay.recording()
    expected = sum(c.hash() < 2 ** 32 // 16 for c in recording.commands)
    report = reported(service, recording, sample="1/16")
    assert report["session"]["sampled"] == expected and report["session"]["threshold"] == 2 ** 32 // 16
    assert sum(g["joined"] for g in report["groups"]) == expected
    assert report["session"]["commands"] == 2000 and report["session"]["threshold_fixed"]


@tap.case
def auto_samples_all_of_a_slow_workload(service: Service) -> None:
    report = reported(service, make_replay.recording(seconds=3, rate=400), speed=1, sample="auto")
    assert report["session"]["threshold"] == 0xFFFFFFFF and not report["session"]["threshold_fixed"]
    assert 800 < report["session"]["sampled"] <= 1200, report["session"]
    assert not any(report["losses"].values()), report["losses"]


@tap.case
def auto_samples_a_share_of_a_fast_one(service: Service) -> None:
    report = reported(service, make_replay.recording(seconds=2, rate=20000), speed=1, sample="auto")
    assert 0.05 < report["session"]["threshold"] / 2 ** 32 < 0.2, report["session"]
    assert 1500 < report["session"]["sampled"] < 6000, report["session"]
    assert report["session"]["commands"] == 40000


@tap.case
def a_report_is_sealed(service: Service) -> None:
    service.start()
    client = service.client()
    path = client.start()
    client.wait_state(path, "finished")
    fd = client.report_fd(path)
    try:
        assert fcntl.fcntl(fd, fcntl.F_GET_SEALS) == SEALS
        assert stat.S_ISREG(os.fstat(fd).st_mode) and os.lseek(fd, 0, os.SEEK_CUR) == 0
        for attempt in (lambda: os.write(fd, b"x"), lambda: os.ftruncate(fd, 0),
                        lambda: mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)):
            try:
                attempt()
            except PermissionError:
                continue
            raise AssertionError("it can be changed")
    finally:
        os.close(fd)


@tap.case
def two_callers_get_the_same_report(service: Service) -> None:
    service.start()
    client = service.client()
    path = client.start(keep=True)
    client.wait_state(path, "finished")
    assert client.report(path) == service.client().report(path)


@tap.case
def an_inspection_is_a_sealed_document(service: Service) -> None:
    service.start()
    (index,), fds = service.client().call_fds(ROOT, MANAGER, "Inspect", GLib.Variant("(a{sv})", ({},)))
    assert fcntl.fcntl(fds[index], fcntl.F_GET_SEALS) == SEALS
    with os.fdopen(fds[index]) as file:
        assert json.load(file)["schema"] == "org.ntprof.inspection/1"


@tap.case
def a_kernel_that_was_not_inspected_is_an_error(service: Service) -> None:
    recording = make_replay.recording()
    recording.facts = {"inspection": None}
    facts = recording.all_facts()
    del facts["inspection"]
    recording.all_facts = lambda: facts     # type: ignore[method-assign]
    service.start(recording)
    client = service.client()
    name, _ = errors_of(lambda: client.call(ROOT, MANAGER, "Inspect", GLib.Variant("(a{sv})", ({},))))
    assert name == "KernelUnsupported"
    assert SESSION not in client.sessions()


tap.main(private_bus)
