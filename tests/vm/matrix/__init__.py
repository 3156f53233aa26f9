# SPDX-License-Identifier: GPL-2.0-or-later
"""Ground truth as a matrix: what is injected by means that know nothing of ntprof, and measured by fio, against where the
report has it."""
