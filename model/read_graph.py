"""What a read does: one data read, digests, speculation, digest mismatch, background contact of old versions.

Source: Apache Cassandra documentation, "Dynamo" and "Read repair"; DESIGN.md, section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from .answers import AnswerPlan, wait_for
from .graph import (
    CLIENT,
    COORDINATOR,
    REPLICA,
    After,
    Choice,
    Detach,
    Fork,
    Graph,
    Hold,
    Resource,
    Timeout,
    series,
)
from .request_work import RequestWork
from .units import parse_duration


@dataclass(frozen=True)
class ReadRules:
    """What version and table say about reads."""

    speculative_retry: str
    """`NONE`, `ALWAYS`, a percentile such as `99p`, or a time such as `50ms`."""
    background_contact: float
    """Probability that all remaining replicas are asked too, without waiting for them."""
    digest_mismatch: float
    absent: float
    timeout_s: float


@dataclass(frozen=True)
class ReadGraph:
    """Builds the graph of a read for one place of the coordinator among the ordered replicas."""

    work: RequestWork
    rules: ReadRules
    plan: AnswerPlan
    place: int

    def build(self) -> Graph:
        """Return the whole read, from the client's send to its receipt of the answer."""
        absent = self.rules.absent
        present_case = self._body(absent=False)
        body = Choice(absent, self._body(absent=True), present_case) if absent else present_case
        return series(self.work.client(), self.work.travel(CLIENT, COORDINATOR, 0.0), body)

    def _body(self, *, absent: bool) -> Graph:
        answer_bytes = 0.0 if absent else self.work.row_bytes
        contact = self.rules.background_contact
        always = self.plan.spare if contact >= 1.0 else ()
        local = self.work.read_demand(absent=absent) if self._inline else None
        held = series(
            self.work.coordinate("read", self._remote(self.plan.asked) + self._remote(always), local),
            self._contact(always, 1.0, absent=absent) if always else None,
            self._contact(self.plan.spare, contact, absent=absent) if 0 < contact < 1 else None,
            Timeout(self.rules.timeout_s, self._first_round(absent=absent)),
            self.work.wake() if self.waits_remote else None,
            self._second_round() if not absent else None,
        )
        return series(
            Hold(Resource.NATIVE_TRANSPORT, COORDINATOR, held),
            self.work.travel(COORDINATOR, CLIENT, answer_bytes),
        )

    @property
    def waits_remote(self) -> bool:
        """Whether the answer waits for another node."""
        return any(needed > (self.place in positions) for needed, positions in self.plan.groups)

    def _remote(self, positions: tuple[int, ...]) -> int:
        return sum(position != self.place for position in positions)

    def _branch(self, position: int, *, absent: bool, digest: bool) -> Graph:
        remote = position != self.place
        read = self.work.read(REPLICA + position, remote=remote, absent=absent, digest=digest)
        if not remote:
            return read
        return self.work.round_trip(position, 0.0, read, 0.0 if digest or absent else self.work.row_bytes)

    @property
    def _inline(self) -> bool:
        return self.work.inline and self.place in self.plan.asked

    def _first_round(self, *, absent: bool) -> Graph:
        first = self.plan.asked[0]
        return wait_for(
            self.plan,
            self.place if self._inline else None,
            self.work.after_inline("read", absent=absent),
            lambda position: self._branch(position, absent=absent, digest=position != first),
            self._speculation(absent=absent),
        )

    def _speculation(self, *, absent: bool) -> tuple[Graph, ...]:
        rule = self.rules.speculative_retry.strip()
        if len(self.plan.groups) > 1 or not self.plan.spare or rule.upper() in ("NONE", "NEVER"):
            return ()
        spare = self.plan.spare[0]
        extra = series(
            self.work.send(self._remote((spare,))), self._branch(spare, absent=absent, digest=False)
        )
        if rule.upper() == "ALWAYS":
            return (extra,)
        percentile = rule.lower().removesuffix("percentile").removesuffix("p")
        if percentile != rule.lower():
            return (After(extra, percentile=float(percentile) / 100),)
        return (After(extra, delay_s=float(parse_duration(rule))),)  # type: ignore[arg-type]

    def _second_round(self) -> Graph | None:
        if not self.rules.digest_mismatch or len(self.plan.asked) < 2:
            return None
        reads = tuple(self._branch(p, absent=False, digest=False) for p in self.plan.asked)
        stale = self.plan.asked[-1]
        write = self.work.write(REPLICA + stale, remote=stale != self.place)
        if stale != self.place:
            write = self.work.round_trip(stale, self.work.row_bytes, write, 0.0)
        return Choice(
            self.rules.digest_mismatch, series(Fork(len(reads), reads), self.work.wake(), write)
        )

    def _contact(self, positions: tuple[int, ...], probability: float, *, absent: bool) -> Graph:
        asked = series(*(Detach(self._branch(p, absent=absent, digest=True)) for p in positions))
        if probability >= 1.0:
            return asked
        return Choice(probability, series(self.work.send(self._remote(positions)), asked))
