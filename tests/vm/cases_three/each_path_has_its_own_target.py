# SPDX-License-Identifier: GPL-2.0-or-later
"""A namespace with paths to two machines is one report, whose paths can be told apart; two namespaces on two machines are
two."""

from __future__ import annotations

from bed import TARGET2_ADDRESS, TARGET_ADDRESS
from support import fio, network
from support.fio import READ_4K, WRITE_64K, Load
from support.lab import prepare_host
from support.lab_two import PEER, PEER2, Lab, account
from support.leftovers import Leftovers
from support.ntprofctl import ctl, recorded, session, start_detached
from support.network import HOST_EGRESS
from support.report import Report

_LOADS = [Load(READ_4K, 1000, 4), Load(WRITE_64K, 100, 2)]
_ADDRESSES = {PEER: TARGET_ADDRESS, PEER2: TARGET2_ADDRESS}


def _one_namespace(lab: Lab) -> None:
    namespace = lab.bed.connect("both")
    prepare_host(lab.bed, namespace)
    with lab.scope.test("a namespace with a path to each of two targets: every I/O is in one report, joined with the machine "
                        "that served it, half at each") as test:
        leftovers = Leftovers(*lab.bed.virtual_machines)
        with session(lab.host, namespace) as recording:
            outcomes = fio.run(lab.host, namespace, _LOADS)
        report = recorded(recording)
        account(test, report)
        total = sum(outcome.ios for outcome in outcomes)
        test.equal("commands of the session, against fio's I/Os", report.commands, total)
        test.at_least("joined commands", report.joined, 0.999 * total - report.skipped)
        targets = report.data["targets"]
        test.equal("targets", sorted(target["peer"] for target in targets), sorted(_ADDRESSES))
        test.equal("kernels", {target["peer"]: target["kernel"] for target in targets},
                   {PEER: lab.bed.facts.releases["target"], PEER2: lab.bed.facts.releases["target2"]})
        test.equal("machine of each path", {path["traddr"]: targets[path["target"]]["peer"] for path in report.data["paths"]},
                   {address: peer for peer, address in _ADDRESSES.items()})
        for load, outcome in zip(_LOADS, outcomes, strict=True):
            test.equal(f"{load.kind.name}: commands", report.group(load.kind).commands, outcome.ios)
            paths = report.by_path(load.kind)
            test.equal(f"{load.kind.name}: paths", set(paths), set(_ADDRESSES.values()))
            test.equal(f"{load.kind.name}: commands of all paths", sum(group.commands for group in paths.values()), outcome.ios)
            for address, group in paths.items():
                test.within(f"{load.kind.name}: commands by {address}", group.commands, outcome.ios / 2, share=0.1)
                test.at_least(f"{load.kind.name}: joined commands by {address}", group.joined, group.sampled - report.skipped)
        leftovers.check(test)

    with lab.scope.test("20 ms on the wire to one of the targets show in the network of that path, and of no other; ntprofctl "
                        "prints a table for each") as test:
        with network.netem(lab.bed, HOST_EGRESS, "delay 20ms"):
            started = start_detached(lab.host, namespace)
            fio.run(lab.host, namespace, [Load(READ_4K, 120, 1)])
            started.end()
        text = ctl(lab.host, "report", "--by", "path", started.id).check().stdout
        report = Report(ctl(lab.host, "report", "--json", started.id).check().json())
        ctl(lab.host, "session", "remove", started.id).check()
        paths = report.by_path(READ_4K)
        slow, other = (paths[address].stages_p50["network"] for address in (TARGET_ADDRESS, TARGET2_ADDRESS))
        test.within("median network time of the one, above the other's", (slow - other) / 1e6, 20, share=0.2, unit="ms")
        test.at_most("median network time of the other", other / 1e6, 10, "ms")
        for path in report.data["paths"]:
            test.contains("report --by path", text, path["device"])


def _two_namespaces(lab: Lab) -> None:
    other = lab.bed.connect("other")
    prepare_host(lab.bed, other)
    with lab.scope.test("two namespaces on two targets, recorded at once: each has the commands of its own, joined with its "
                        "own machine") as test:
        leftovers = Leftovers(*lab.bed.virtual_machines)
        with session(lab.host, lab.namespace) as first, session(lab.host, other) as second:
            loads = [fio.start(lab.host, namespace, [Load(READ_4K, count, 2)]) for namespace, count in
                     ((lab.namespace, 400), (other, 300))]
            outcomes = [fio.outcomes(load, [Load(READ_4K, 0, 2)])[0] for load in loads]
        for recording, outcome, peer in zip((first, second), outcomes, (PEER, PEER2), strict=True):
            report = recorded(recording)
            account(test, report)
            test.equal(f"commands at {peer}, against fio's I/Os", report.commands, outcome.ios)
            test.at_least(f"joined commands at {peer}", report.joined, 0.999 * outcome.ios - report.skipped)
            test.equal("targets", [target["peer"] for target in report.data["targets"]], [peer])
        leftovers.check(test)


def run(lab: Lab) -> None:
    _one_namespace(lab)
    _two_namespaces(lab)
