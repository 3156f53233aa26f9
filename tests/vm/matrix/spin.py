# SPDX-License-Identifier: GPL-2.0-or-later
"""In the host: attach all programs of a BPF object file, say so, and detach them when killed. spin.py FILE READY

READY is a file that is there while they are attached.
"""

import ctypes
import signal
import sys
from pathlib import Path

ready = Path(sys.argv[2])
bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
for name in ("bpf_object__open_file", "bpf_object__next_program", "bpf_program__attach"):
    getattr(bpf, name).restype = ctypes.c_void_p
found = bpf.bpf_object__open_file(sys.argv[1].encode(), None)
if not found or bpf.bpf_object__load(ctypes.c_void_p(found)):
    sys.exit(f"{sys.argv[1]} cannot be loaded")
program = None
while program := bpf.bpf_object__next_program(ctypes.c_void_p(found), ctypes.c_void_p(program)):
    if not bpf.bpf_program__attach(ctypes.c_void_p(program)):
        sys.exit(f"a program of {sys.argv[1]} cannot be attached")
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
ready.touch()
signal.sigwait([signal.SIGTERM, signal.SIGINT])
