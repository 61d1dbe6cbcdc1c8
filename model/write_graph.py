"""What a write does: it goes to all replicas whatever the level; the answer waits for as many as the level says.

A remote datacenter gets one message; the replica that receives it forwards to the others there, and each of them
acknowledges to the coordinator.

Source: Apache Cassandra documentation, "Dynamo"; DESIGN.md, section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from .answers import AnswerPlan, wait_for
from .graph import CLIENT, COORDINATOR, REPLICA, Detach, Graph, Hold, Link, Resource, Timeout, series
from .request_work import RequestWork


@dataclass(frozen=True)
class WriteGraph:
    """Builds the graph of a write for one place of the coordinator among the ordered replicas."""

    work: RequestWork
    timeout_s: float
    plan: AnswerPlan
    place: int
    remote_datacenters: tuple[tuple[int, ...], ...]
    """Positions of the replicas of every datacenter but the coordinator's."""

    def build(self) -> Graph:
        """Return the whole write, from the client's send to its receipt of the answer."""
        payload = self.work.row_bytes
        held = series(
            self.work.coordinate("write", self._messages, self.work.write_demand() if self._inline else None),
            *(Detach(self._branch(position)) for position in self.plan.beside),
            Timeout(self.timeout_s, self._waiting()),
            self.work.wake() if self.waits_remote else None,
        )
        return series(
            self.work.client(),
            self.work.travel(CLIENT, COORDINATOR, payload),
            Hold(Resource.NATIVE_TRANSPORT, COORDINATOR, held),
            self.work.travel(COORDINATOR, CLIENT, 0.0),
        )

    @property
    def _messages(self) -> int:
        far = {position for positions in self.remote_datacenters for position in positions}
        near = [p for p in (*self.plan.asked, *self.plan.beside) if p not in far and p != self.place]
        return len(near) + len(self.remote_datacenters)

    @property
    def waits_remote(self) -> bool:
        """Whether the answer waits for another node."""
        return any(needed > (self.place in positions) for needed, positions in self.plan.groups)

    @property
    def _inline(self) -> bool:
        return self.work.inline and self.place in self.plan.asked

    def _waiting(self) -> Graph:
        rest = self.work.after_inline("write", absent=False)
        return wait_for(self.plan, self.place if self._inline else None, rest, self._branch)

    def _branch(self, position: int) -> Graph:
        role = REPLICA + position
        if position == self.place:
            return self.work.write(role, remote=False)
        datacenter = next((dc for dc in self.remote_datacenters if position in dc), None)
        if datacenter is None or position == datacenter[0]:
            forwarded = len(datacenter) - 1 if datacenter else 0
            write = self.work.write(role, remote=True, forwarded=forwarded)
            return self.work.round_trip(position, self.work.row_bytes, write, 0.0)
        return self._forwarded(role, REPLICA + datacenter[0])

    def _forwarded(self, role: int, forwarder: int) -> Graph:
        return series(
            Link(COORDINATOR, forwarder, counts=False),
            self.work.travel(forwarder, role, self.work.row_bytes),
            self.work.write(role, remote=True),
            self.work.travel(role, COORDINATOR, 0.0),
            self.work.receive(0.0),
        )
