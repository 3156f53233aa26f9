# SPDX-License-Identifier: GPL-2.0-or-later
"""What ntprofctl check says of a namespace is what a session of it does, and its report lacks what check says it will."""

from __future__ import annotations

from typing import Any

from support.lab import Lab
from support.ntprofctl import ctl, session

_NO_SUCH, _NOT_FABRICS = 3, 4
_SCREEN_LINES, _SCREEN_COLUMNS = 24, 79


def _inspect(lab: Lab, *options: str) -> dict[str, Any]:
    return dict(ctl(lab.host, "check", "--json", *options).check().json())


def _planned(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Boundary and mechanism of each row, as a session shows them."""
    return [(row["boundary"] + (f" ({row['covers']})" if row["covers"] else ""),
             row["chosen"]["mechanism"] if row["chosen"] else "merged") for row in document["plan"]]


def run(lab: Lab) -> None:
    host, of_it = lab.host, ("--namespace", lab.namespace)
    with lab.scope.test("check names the hooks that a session of the namespace takes, and no others") as test:
        document = _inspect(lab, *of_it)
        test.equal("sides", document["usable"], {"host": True, "target": True})
        test.equal("transports", document["transports"], {"tcp": {"host": True, "target": True}})
        test.equal("namespace", document["namespace"]["name"], lab.namespace)
        test.equal("paths that are this machine's", [path["local"] for path in document["namespace"]["paths"]], [True])
        with session(host, lab.namespace, "all", "--detail") as recording:
            taken = [(hook["boundary"], hook["mechanism"]) for hook in recording.show()["hooks"]]
        test.equal("hooks", taken, _planned(document))
        merged = [row["boundary"] for row in document["plan"] if not row["chosen"]]
        test.equal("what a report lacks", [lack["what"].partition(" ")[0] for lack in document["lacks"]], merged)
        test.note(f"{document['kernel']}: {document['programs']['host']['family']} programs, without hook: {merged or 'none'}")

    with lab.scope.test("check fits a screen when nothing is lacking, and shows a row a boundary when it is asked to") as test:
        short, long = ctl(host, "check", *of_it), ctl(host, "check", "--verbose", *of_it)
        test.equal("exit statuses", (short.status, long.status), (0, 0))
        lines = short.stdout.splitlines()
        if not document["lacks"]:
            test.at_most("lines", len(lines), _SCREEN_LINES)
        test.at_most("columns", max(map(len, lines)), _SCREEN_COLUMNS)
        for row in document["plan"]:
            test.contains("check --verbose", long.stdout, f"\n{row['boundary']:<3} {row['description'].split()[0]}")

    with lab.scope.test("check tells of each loaded module where it is from and what its structures are known from") as test:
        modules = {module["name"]: module for module in document["inventory"]["modules"] if module["loaded"]}
        for name in ("nvme_core", "nvme_tcp", "nvmet", "nvmet_tcp"):
            btf = host.run(["test", "-e", f"/sys/kernel/btf/{name}"]).status == 0
            test.equal(f"{name}: origin", modules[name]["origin"], "in-tree")
            test.equal(f"{name}: types are the kernel's", modules[name]["types"] == "kernel", btf)
            test.true(f"{name}: types are known", modules[name]["types"] != "none")

    with lab.scope.test("check tells of a device whose requests the kernel does not time") as test:
        disk = document["namespace"]["paths"][0]["disk"]
        host.sh('echo 0 > "/sys/block/$1/queue/iostats"', disk)
        try:
            for options in (of_it, ()):
                lacks = [lack["what"] for lack in _inspect(lab, *options)["lacks"]]
                test.equal(f"H1 of {disk} in {lacks}", sum(what.startswith(f"H1 of {disk}") for what in lacks), 1)
        finally:
            host.sh('echo 1 > "/sys/block/$1/queue/iostats"', disk)
        test.equal("afterwards", _inspect(lab, *of_it)["lacks"], document["lacks"])

    with lab.scope.test("check of what is no NVMe-oF namespace fails as a session would") as test:
        for name, status in (("nvme77n1", _NO_SUCH), (lab.local_namespace, _NOT_FABRICS)):
            result = ctl(host, "check", "--namespace", name)
            test.equal(f"exit status for {name}", result.status, status)
            test.equal("standard output", result.stdout, "")
