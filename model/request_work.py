"""The pieces of work that read and write graphs are made of: coordinator work, replica work, messages.

Work on one node without a wait between is one visit; a message is the sender's CPU (in the visit before it), its
network interface, the way, the receiver's interface, and the receiver's CPU (in the visit after it).
"""

from __future__ import annotations

from dataclasses import dataclass

from .demands import DemandRecorder, add, times
from .graph import (
    CLIENT,
    COORDINATOR,
    REPLICA,
    Choice,
    Delay,
    Detach,
    Graph,
    Hold,
    Link,
    Resource,
    Visit,
    series,
)

MESSAGE_OVERHEAD_BYTES = 120.0
"""Bytes of an internode message or CQL frame around the payload: headers of TCP/IP (52 with timestamps) and of
the frame, keys, ids and timestamps. Estimated from the protocol specification (native protocol v4); the error
matters only where payloads are small, and there no network is near its limit."""
LOG_OVERHEAD_BYTES = 90.0
"""Bytes that a mutation adds to its payload in the commit log: entry header, two checksums, ids, timestamps."""
READS_PER_MISS = 1.11
"""Random reads of the device per read that misses memory; measured as 1.11 to 1.12 on a real 5.0.6 node."""


@dataclass(frozen=True)
class CommitLogMode:
    """How writes wait for the commit log."""

    sync: str
    """`periodic`, `batch` or `group`."""
    window_s: float = 0.0
    """Group: the time over which writes are gathered."""


@dataclass(frozen=True)
class RequestWork:
    """Builds visits and messages for one scenario; demands go to `rows`."""

    rows: DemandRecorder
    columns: int
    row_bytes: float
    cache_miss: float
    log: CommitLogMode
    variation: float
    client_cpu_s: float
    inline: bool
    """Whether the coordinator's thread does its own replica's work itself, right after its own."""

    @property
    def _kib(self) -> float:
        return self.row_bytes / 1024

    def client(self) -> Graph:
        """Return the client's own work."""
        return Visit(Resource.CLIENT_CPU, CLIENT, self.rows.constant(self.client_cpu_s, self.variation))

    def coordinate(self, operation: str, messages: int, local: dict[str, float] | None) -> Graph:
        """Return the coordinator's work before it waits: the messages it sends, its own replica's part if any."""
        base = {
            f"coordinator_{operation}_s": 1.0,
            "coordinator_column_s": self.columns,
            "coordinator_kib_s": self._kib,
        }
        sent = times(messages, self._message("send", self.row_bytes if operation == "write" else 0))
        return self._cpu(COORDINATOR, add(base, sent, local or {}), {"coordinator_wake_up_s": 1.0})

    def send(self, messages: int) -> Graph | None:
        """Return the coordinator's work of sending some messages without payload."""
        if not messages:
            return None
        return self._cpu(COORDINATOR, times(messages, self._message("send", 0.0)), {})

    def wake(self) -> Graph:
        """Return the coordinator's work when an answer had to wait for another node."""
        return self._cpu(COORDINATOR, {"block_and_wake_s": 1.0}, {"block_wake_up_s": 1.0})

    def receive(self, payload_bytes: float) -> Graph:
        """Return the coordinator's work for one answer of a replica."""
        return self._cpu(COORDINATOR, self._message("receive", payload_bytes), {"message_wake_up_s": 0.5})

    def read_demand(self, *, absent: bool) -> dict[str, float]:
        """Return the CPU demand of a replica's read."""
        if absent:
            return {"replica_absent_s": 1.0}
        return {"replica_read_s": 1.0, "replica_read_column_s": self.columns, "replica_read_kib_s": self._kib}

    def write_demand(self) -> dict[str, float]:
        """Return the CPU demand of a replica's write."""
        return {"replica_write_s": 1.0, "replica_write_column_s": self.columns, "replica_write_kib_s": self._kib}

    def read(self, role: int, *, remote: bool, absent: bool, digest: bool) -> Graph:
        """Return a replica's read, with its messages when it is not the coordinator."""
        answer = 0.0 if digest or absent else self.row_bytes
        base = self.read_demand(absent=absent)
        work = self._replica_cpu(role, base, remote=remote, received=0.0, sent=answer)
        return Hold(Resource.READ_STAGE, role, series(work, self._disk(role, absent=absent)))

    def write(self, role: int, *, remote: bool, forwarded: int = 0) -> Graph:
        """Return a replica's write; a forwarder also sends it on to replicas of its datacenter."""
        base = add(self.write_demand(), times(forwarded, self._message("send", self.row_bytes)))
        work = self._replica_cpu(role, base, remote=remote, received=self.row_bytes, sent=0.0)
        return Hold(Resource.MUTATION_STAGE, role, series(work, self._append(role)))

    def after_inline(self, operation: str, *, absent: bool) -> Graph:
        """Return what the coordinator's own replica still has to do when its CPU work was done in line.

        It passes its stage: where replica work has piled up there, requests are held back.
        """
        if operation == "read":
            return Hold(Resource.READ_STAGE, COORDINATOR, series(self._disk(COORDINATOR, absent=absent)))
        return Hold(Resource.MUTATION_STAGE, COORDINATOR, series(self._append(COORDINATOR)))

    def _disk(self, role: int, *, absent: bool) -> Graph | None:
        if absent or not self.cache_miss:
            return None
        return Choice(self.cache_miss, Visit(Resource.DISK, role, self.rows.constant(READS_PER_MISS)))

    def _append(self, role: int) -> Graph:
        append = Visit(
            Resource.COMMIT_LOG, role, self.rows.constant(self.row_bytes + LOG_OVERHEAD_BYTES)
        )
        if self.log.sync == "periodic":
            return Detach(append)
        gathered = Delay(self.log.window_s / 2) if self.log.sync == "group" else None
        return series(gathered, append)

    def travel(self, sender: int, receiver: int, payload_bytes: float) -> Graph:
        """Return the way of a message between two units, network interfaces included."""
        row = self.rows.constant(payload_bytes + MESSAGE_OVERHEAD_BYTES)
        out = Visit(Resource.NIC_OUT, sender, row) if sender != CLIENT else None
        into = Visit(Resource.NIC_IN, receiver, row) if receiver != CLIENT else None
        return series(out, Link(sender, receiver), into)

    def round_trip(self, position: int, there_bytes: float, work: Graph, back_bytes: float) -> Graph:
        """Return a message to the replica at a position, its work, its answer, and the answer's receipt."""
        role = REPLICA + position
        return series(
            self.travel(COORDINATOR, role, there_bytes),
            work,
            self.travel(role, COORDINATOR, back_bytes),
            self.receive(back_bytes),
        )

    def _replica_cpu(
        self, role: int, base: dict[str, float], *, remote: bool, received: float, sent: float
    ) -> Graph:
        if not remote:
            return self._cpu(role, base, {})
        messages = add(self._message("receive", received), self._message("send", sent))
        return self._cpu(role, add(base, messages), {"message_wake_up_s": 0.5})

    def _message(self, end: str, payload_bytes: float) -> dict[str, float]:
        return {f"message_{end}_s": 1.0, "message_kib_s": payload_bytes / 1024}

    def _cpu(self, role: int, base: dict[str, float], wake_up: dict[str, float]) -> Graph:
        return Visit(Resource.CPU, role, self.rows.row(base, wake_up, self.variation))
