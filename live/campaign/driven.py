"""One cluster of a lab as a campaign drives it: its tables, its console, and processes that stay from cell to cell."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType

from ...model.scenario import Scenario
from ..lab.record import Lab
from ..load.access import Access
from ..load.backends import backend_of
from ..load.console import Console
from ..load.interruption import Interruption
from ..load.look import show_nothing
from ..load.plan import LoadPlan
from ..load.processes import Processes
from ..load.run import console_on, in_flight_of, jobs_of, prepare, tables_of
from ..load.site import approach_of
from ..load.worker import Backend, Job


class DrivenCluster:
    """A cluster with what is needed to put one cell after the other on it; a context that leaves no process."""

    def __init__(self, lab: Lab, name: str, backend: str) -> None:
        self.name = name
        self.addresses = tuple(node.plan.address for node in lab.cluster(name))
        self._access = Access(self.addresses)
        self._backend_name = backend
        self._stack = ExitStack()
        self._crew: Processes | None = None

    def __enter__(self) -> DrivenCluster:
        self.console: Console = self._stack.enter_context(console_on(self._access))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def prepare(self, scenario: Scenario, plan: LoadPlan) -> None:
        """Make and load the tables of a cell, where they are not there yet."""
        reads, _ = tables_of(self.console, scenario, plan)
        backend = self._backend(scenario, plan)
        prepare(self.console, backend, reads, scenario, plan, show_nothing, Interruption())

    def crew(self, scenario: Scenario, plan: LoadPlan) -> Processes:
        """Return the processes with the job to put a cell on this cluster, not yet begun."""
        jobs = self._jobs(scenario, plan)
        if self._crew is None:
            self._crew = self._stack.enter_context(Processes(jobs))
        else:
            self._crew.again(jobs)
        return self._crew

    def _jobs(self, scenario: Scenario, plan: LoadPlan) -> Sequence[Job]:
        reads, writes = tables_of(self.console, scenario, plan)
        backend = self._backend(scenario, plan)
        return jobs_of(scenario, plan, backend, reads, writes, in_flight_of(scenario, plan))

    def _backend(self, scenario: Scenario, plan: LoadPlan) -> Backend:
        return backend_of(
            self._backend_name, self._access, approach_of(scenario, plan, self._access, self.console.nodes)
        )


def on_size(scenario: Scenario, nodes: int) -> Scenario:
    """Return a cell for a cluster of another size that stands beside the studied one: as much in flight per node.

    >>> small = on_size(Scenario.model_validate({"cluster": {"nodes": 3}, "clients": {"in_flight": 32}}), 1)
    >>> small.clients.in_flight, small.cluster.replication.factor
    (11, 1)
    """
    count = scenario.cluster.node_count
    if count == nodes:
        return scenario
    factor = scenario.cluster.replication.factor
    whole = factor if isinstance(factor, int) else sum(factor.values())
    replication = scenario.cluster.replication.model_copy(update={"factor": min(whole, nodes)})
    in_flight = max(1, round((scenario.clients.in_flight or count) * nodes / count))
    return scenario.model_copy(
        update={
            "cluster": scenario.cluster.model_copy(update={"nodes": nodes, "replication": replication}),
            "clients": scenario.clients.model_copy(update={"in_flight": in_flight, "coordinators": ()}),
        }
    )
