#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The man page has what the program's help has: verbs, options, exit statuses."""

import contextlib
import os
import re
import subprocess
from pathlib import Path

import tap

NTPROFCTL = os.environ.get("NTPROFCTL", "build/client/ntprofctl/ntprofctl")
MANUAL = (Path(__file__).parents[2] / "docs/man/ntprofctl.1.rst").read_text(encoding="utf-8")


def help_of(*verb: str) -> str:
    return subprocess.run([NTPROFCTL, *verb, "--help"], capture_output=True, text=True, check=True).stdout


def verbs() -> list[str]:
    listed = re.search(r"^Verbs:\n((?:  .*\n)+)", help_of(), re.M)
    assert listed
    found = [re.split(r"  +", line.strip())[0] for line in listed[1].splitlines()]
    assert "session start" in found and "peer show-identity" in found and len(found) >= 18, found
    return found


@tap.case
def every_verb(_: None) -> None:
    for verb in verbs():
        assert re.search(rf"^{verb}\n    \S", MANUAL, re.M), verb


@tap.case
def every_option(_: None) -> None:
    for verb in verbs():
        if verb == "help":
            continue
        options = set(re.findall(r"--([a-z-]+)", help_of(*verb.split()).split("\nOptions:\n")[1])) - {"help"}
        for option in options:
            assert f"--{option}" in MANUAL, (verb, option)
    for option in set(re.findall(r"--([a-z]+)", MANUAL)) - {"help", "bus"}:
        assert any(f"--{option}" in help_of(*verb.split()) for verb in verbs()), option


@tap.case
def every_exit_status(_: None) -> None:
    table = re.findall(r"^ +(\d+)  (.+)$", help_of().split("Exit status:\n")[1], re.M)
    manual = dict(re.findall(r"^    (\d+) +(.+)$", MANUAL.split("EXIT STATUS")[1], re.M))
    assert len(table) >= 19 and [n for n, _ in table] == list(manual), (table, manual)
    for number, words in table:
        assert manual[number].startswith(words.split(" (")[0].split(":")[0]), (number, words, manual[number])


tap.main(lambda: contextlib.nullcontext(None))
