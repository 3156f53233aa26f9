# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cases, the demo and the bench share: load, sessions, delays, checks."""
