"""What makes a load open: the intended starts of a scenario, dealt to the processes.

A constant load is dealt in turn; Poisson processes and bursts are dealt as processes of their own, whose sum is one
of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...model.arrivals import Arrivals
from ...model.rate_course import RateCourse
from ...model.scenario import Scenario
from .plan import LoadPlan

MOST_IN_FLIGHT = 10_000
"""Limit on requests in flight of an open load that states none: what a second of a fast cluster holds."""


@dataclass(frozen=True)
class Opening:
    """Intended starts of one process out of several."""

    arrivals: Arrivals
    """Of this process alone."""
    phase: float
    """Place of the first start within a gap of a constant load."""
    patience_s: float
    """The longest wait for a place in flight."""
    seed: int = 1

    def starts_s(self, part: int) -> Iterator[float]:
        """Yield the intended starts of one process."""
        return self.arrivals.starts_s(np.random.default_rng([self.seed, part, 2]), self.phase)


def opening_of(scenario: Scenario, plan: LoadPlan, part: int) -> Opening | None:
    """Return the intended starts of one process, None when the load is closed."""
    clients = scenario.clients
    if clients.rate is None:
        return None
    course = RateCourse.level(clients.rate) if plan.course is None else plan.course.after(plan.warm_up_s or 0.0)
    arrivals = Arrivals(course, clients.arrivals, clients.burst_size).dealt(plan.processes)
    return Opening(arrivals, (part + 0.5) / plan.processes, plan.timeout_s, plan.seed)


def at_rate(scenario: Scenario, rate_per_s: float) -> Scenario:
    """Return a scenario whose clients make an open load of that rate.

    >>> at_rate(Scenario.model_validate({"cluster": {"nodes": 3}}), 500.0).clients.rate
    500.0
    """
    open_only = {"rate": rate_per_s, "in_flight": None, "in_flight_per_node": None, "think_time": 0.0}
    return scenario.model_copy(update={"clients": scenario.clients.model_copy(update=open_only)})
