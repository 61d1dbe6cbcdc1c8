"""The program that a process of a load runs: `python -m capmodel.live.load.worker_process FD`, FD being its pipe.

A module apart from `worker`, because what is sent through the pipe is looked up by the name of its module, and the
program's own module has none.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection

from .worker import work

if __name__ == "__main__":
    if hasattr(os, "SCHED_BATCH"):
        # On a machine that nodes share, a client that preempts them at every answer doubles the context switches.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work(Connection(int(sys.argv[1])))
