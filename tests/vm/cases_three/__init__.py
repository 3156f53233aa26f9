# SPDX-License-Identifier: GPL-2.0-or-later
"""What ntprof promises of a host and two targets, a file each. run(lab) makes the tests of one; ORDER is the order they run
in."""

ORDER = (
    "each_path_has_its_own_target",
)
