# SPDX-License-Identifier: GPL-2.0-or-later
"""./dev bed ...: the bed by hand."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from typing import NoReturn

from . import console, kernels, places
from .awake import Awake
from .bed import Bed, down
from .errors import BedError, CommandTimeout
from .layout import ROLES
from .machine import Machine

_EXIT_BED = 125
"""Exit status of exec when the bed, not the command, failed (as env and containers do)."""
_EXIT_TIMEOUT = 124

_KERNELS = ", ".join(f"{name} ({suite})" for name, suite in kernels.SUITES.items())


def _machine(arguments: argparse.Namespace) -> Machine:
    bed = Bed.find(arguments.name)
    machine: Machine = getattr(bed, arguments.machine)
    return machine


def _up(arguments: argparse.Namespace) -> int:
    Bed.up(arguments.kernel, name=arguments.name, target_kernel=arguments.target_kernel, machines=arguments.machines,
           transport=arguments.transport, drive=arguments.drive, icount=arguments.icount,
           memory_mib=arguments.memory, install=not arguments.no_install, build=arguments.build)
    return 0


def _down(arguments: argparse.Namespace) -> int:
    for name in places.names() if arguments.all else [arguments.name]:
        print(f"bed {name}: {'ended' if down(name) else 'not up'}")
    return 0


def _list(_: argparse.Namespace) -> int:
    for name in places.names():
        try:
            bed = Bed.find(name)
        except BedError:
            print(f"{name}: half up (coming up, or left behind)")
            continue
        wish = bed.facts.wish
        print(f"{name}: {'up' if bed.alive else 'ENDED'}, kernel {' and '.join(bed.facts.releases.values())}, "
              f"machines {wish.machines}, {wish.transport}, drive {wish.drive}, namespace {bed.namespace}"
              f"{', icount' if wish.icount else ''}{', build installed' if bed.facts.installed else ''}, "
              f"for {(time.time() - bed.facts.since) / 60:.0f} min")
    return 0


def _exec(arguments: argparse.Namespace) -> int:
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise BedError("exec: no command given")
    stdin = sys.stdin.buffer.read() if arguments.stdin else None
    result = _machine(arguments).run(command, timeout=arguments.timeout, user=arguments.user, stdin=stdin)
    sys.stdout.buffer.write(result.stdout_bytes)
    sys.stdout.flush()
    sys.stderr.buffer.write(result.stderr_bytes)
    sys.stderr.flush()
    return result.status


def _put(arguments: argparse.Namespace) -> int:
    _machine(arguments).put(arguments.source, arguments.destination)
    return 0


def _get(arguments: argparse.Namespace) -> int:
    _machine(arguments).get(arguments.source, arguments.destination)
    return 0


def _connect(arguments: argparse.Namespace) -> int:
    print(Bed.find(arguments.name).connect(arguments.subsystem))
    return 0


def _slow(arguments: argparse.Namespace) -> int:
    print(Bed.find(arguments.name).slow_namespace)
    return 0


def _console(arguments: argparse.Namespace) -> int:
    process = _machine(arguments).process
    if arguments.log or not sys.stdin.isatty():
        print(process.console_tail(1_000_000))
    else:
        process.check_alive()
        with Awake(process):
            console.attach(process.console_socket)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bed", description="NVMe-oF host and target in virtual machines.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, function: object, text: str, machine: bool = False) -> argparse.ArgumentParser:
        found = verbs.add_parser(name, help=text, description=text)
        found.set_defaults(function=function)
        if name != "list":
            found.add_argument("--name", default="default", help="the bed's name, default: %(default)s")
        if machine:
            found.add_argument("machine", choices=ROLES)
        return found

    up = verb("up", _up, "boot a bed with the current build installed and its namespace connected")
    up.add_argument("--kernel", default="6.1", help=f"{_KERNELS}, or a release; default: %(default)s")
    up.add_argument("--target-kernel", help="another kernel on the target (two or three machines)")
    up.add_argument("--machines", type=int, choices=(1, 2, 3), default=1,
                    help="1: the target is a network namespace of the host's machine (default); 3: two targets")
    up.add_argument("--transport", choices=("tcp", "rdma"), default="tcp")
    up.add_argument("--drive", choices=("null", "nvme", "disk"), default="null",
                    help="the target's drive: null_blk of 100 us (default), an emulated NVMe drive, a virtio disk")
    up.add_argument("--icount", action="store_true", help="virtual time: repeatable numbers (one machine)")
    up.add_argument("--memory", type=int, default=2048, metavar="MIB", help="of each machine, default: %(default)s")
    up.add_argument("--build", metavar="DIR", help="the build to install, default: build")
    up.add_argument("--no-install", action="store_true", help="boot without the build")

    execute = verb("exec", _exec, "run a command and return its stdout, stderr and exit status (124: timed out, "
                   "125: the bed failed)", machine=True)
    execute.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="default: %(default)s")
    execute.add_argument("--user", help="run as this user (alice and bob exist)")
    execute.add_argument("--stdin", action="store_true", help="pass standard input on")
    execute.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD ...")

    for name, function, text in (("put", _put, "copy a file or folder to the guest"),
                                 ("get", _get, "copy a file or folder from the guest")):
        copy = verb(name, function, text, machine=True)
        copy.add_argument("source", metavar="FROM")
        copy.add_argument("destination", metavar="TO")

    connect = verb("connect", _connect, "connect a subsystem, if it is not, and print its namespace")
    connect.add_argument("subsystem", choices=("bed", "slow", "other", "both"))
    verb("slow", _slow, "connect the subsystem whose drive takes 5 ms, if it is not, and print its namespace")
    end = verb("down", _down, "end a bed")
    end.add_argument("--all", action="store_true", help="end all beds")
    verb("list", _list, "list the beds")
    look = verbs.add_parser("console", help="the serial console (Ctrl-] leaves it), or its log without a terminal")
    look.set_defaults(function=_console)
    look.add_argument("--name", default="default")
    look.add_argument("--log", action="store_true", help="print what it showed so far")
    look.add_argument("machine", choices=ROLES, nargs="?", default="host")
    return parser


def _terminated(*_: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


def main() -> int:
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, _terminated)  # so that a bed half up is torn down
    failed = _EXIT_BED if arguments.verb == "exec" else 1
    try:
        return int(arguments.function(arguments))
    except CommandTimeout as error:
        print(f"bed: {error}", file=sys.stderr)
        return _EXIT_TIMEOUT
    except BedError as error:
        print(f"bed: {error}", file=sys.stderr)
        return failed
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
