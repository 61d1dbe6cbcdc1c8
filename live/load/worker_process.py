"""The program that a process of a load runs: `python -m capmodel.live.load.worker_process FD`, FD being its pipe.

A module apart from `worker`, because what is sent through the pipe is looked up by the name of its module, and the
program's own module has none.
"""

from __future__ import annotations

import signal
import sys
from multiprocessing.connection import Connection

from .worker import work

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work(Connection(int(sys.argv[1])))
