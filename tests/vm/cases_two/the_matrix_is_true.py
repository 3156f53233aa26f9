# SPDX-License-Identifier: GPL-2.0-or-later
"""Half of the matrix of ground truth (matrix/, docs/ground-truth.md): each injection over both transports, and each kind of
command.

`./dev test vm --matrix` measures all of it, and twice as many commands.
"""

from __future__ import annotations

from matrix import plan
from matrix.matrix import Matrix
from support.lab_two import Lab


def run(lab: Lab) -> None:
    Matrix(lab.bed, lab.scope, briefly=True).run(plan.half())
