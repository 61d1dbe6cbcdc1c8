"""What limited Juho Mäkinen's runs: an outcome of the sets that reproduce them, not a premise.

`limit_of` names the resource for one set as every prediction does. `shares_of_limits` counts over many sets at once
which kind leads: the nodes' CPU, the client's CPU, or requests in flight, which is to say delays and the time a hop
takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..model.ensemble import Ensemble
from ..model.limit import SHARED, TIE, WORDS, Limit, find_limit
from ..model.mva import solve
from ..model.network import Floats
from ..model.perturbation import IN_FLIGHT, LARGER, members_of
from .juho import ParameterSets, numbers_of, run_of, scenario_of, study_of

KINDS = ("CPU", "client CPU", IN_FLIGHT)
"""What can be the limit here; disks, network and stages are hardly used."""
NO_LIMIT = "shared"


def limit_of(one: ParameterSets, name: str, overrides: Sequence[str] = ()) -> Limit:
    """Return what limits a run with one set: the resource whose being 10 % larger brings most."""
    asked, values = study_of(scenario_of(one, name, overrides), one), numbers_of(one)
    members = members_of(asked, values, {}, {})
    return find_limit(members, solve(members.ensemble).throughput_per_s, asked, values)


def shares_of_limits(sets: ParameterSets, name: str) -> dict[str, float]:
    """Return the share of sets in which each kind is the limit of a run, by the rules of `find_limit`."""
    elasticity = elasticities(sets, name)
    order = np.sort(elasticity, axis=0)
    is_one = (order[-1] >= SHARED) & (order[-2] < TIE * order[-1])
    leads = np.where(is_one, elasticity.argmax(axis=0), len(KINDS))
    words = (*(WORDS[kind] for kind in KINDS), NO_LIMIT)
    return {word: float(np.mean(leads == number)) for number, word in enumerate(words)}


def elasticities(sets: ParameterSets, name: str) -> Floats:
    """Return per cent of throughput that one per cent more of each kind brings, [kinds, sets]."""
    run = run_of(name, sets)
    before = run.throughput_per_s(sets)
    after = [run.each(sets, partial(_throughput_with_more, kind)) for kind in KINDS]
    return np.asarray(np.maximum(np.log(np.array(after) / before) / np.log(LARGER), 0.0))


def _throughput_with_more(kind: str, members: Ensemble) -> Floats:
    return solve(_larger(members, kind)).throughput_per_s


def _larger(members: Ensemble, kind: str) -> Ensemble:
    """Return the members with 10 % more of a kind of resource."""
    if kind == IN_FLIGHT:
        return replace(members, population=members.population * LARGER)
    chosen = np.array([station.kind == kind for station in members.network.stations])
    return replace(members, speed=np.where(chosen, members.speed * LARGER, members.speed))
