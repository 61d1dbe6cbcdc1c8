"""What a prediction is made from and what was found out, before it takes its published form."""

from __future__ import annotations

from dataclasses import dataclass, field

from .answer import Analysed, Answer
from .calibration import Calibration
from .explain import Term
from .hops import HopAnalysis
from .limit import Limit
from .neighbours import Neighbour
from .objective import Objective
from .scenario import Scenario
from .simulation.run import Budget
from .study import Study

SOLVERS = ("bounds", "mva", "simulate")


@dataclass(frozen=True)
class Options:
    """How a prediction is made."""

    solver: str = "simulate"
    seed: int = 1
    budget: Budget = field(default_factory=Budget)
    objectives: tuple[Objective, ...] = ()
    """Latencies to keep; capacity is then the largest load within them."""
    neighbours: bool = True
    """Whether one node more and one less are looked at."""
    explain: bool = False


@dataclass(frozen=True)
class Findings:
    """All that was found out, before it is put into the published form."""

    scenario: Scenario
    calibration: Calibration
    options: Options
    study: Study
    analysed: Analysed
    answer: Answer | None
    """None when an open load cannot be carried."""
    limit: Limit
    add_node: Neighbour | None
    remove_node: Neighbour | None
    hops: HopAnalysis
    inputs: tuple[str, ...]
    """The inputs that would change the answer most, most first."""
    terms: tuple[Term, ...]
    bound_per_s: float | None
    """Upper bound of the throughput, when that is what was asked for."""
