# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m bed"""

import sys

from .cli import main

sys.exit(main())
