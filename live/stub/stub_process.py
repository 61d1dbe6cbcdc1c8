"""The program that a stub runs: `python -m capmodel.live.stub.stub_process [--port N] [--core N]`.

It prints its port, serves until its standard input is closed, and so never outlives who started it.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading

from .server import StubServer


def main() -> None:
    """Run the program."""
    options = argparse.ArgumentParser(description="A server that speaks the native protocol and stores nothing.")
    options.add_argument("--address", default="127.0.0.1")
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--core", type=int, help="the only processor that it runs on")
    options.add_argument("--cell-bytes", type=int, default=34)
    given = options.parse_args()
    if given.core is not None:
        os.sched_setaffinity(0, {given.core})
    server = StubServer(given.address, given.port, given.cell_bytes)
    print(server.port, flush=True)
    threading.Thread(target=_end_with_input, daemon=True).start()
    server.serve()


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
