"""The members of an ensemble that answer a prediction's questions, in named blocks.

`nominal`: the profile's values. `limits`: each resource 10 % larger. `inputs`: each uncertain input moved by its
standard error (or by 20 % where a scenario says it). `draws`: draws of the profile. `rings`: other ring draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .demands import complete
from .ensemble import Ensemble, ensemble
from .network import Floats
from .offered import offered
from .study import Study

LARGER = 1.1
"""Factor by which a resource is made larger to find the limit."""
MOVED = 1.2
"""Factor by which an input of the scenario is moved to see how much it matters."""
HOTTEST = "hottest node"
IN_FLIGHT = "in flight"


@dataclass(frozen=True)
class Blocks:
    """Where the blocks of an ensemble's members lie."""

    limits: tuple[str, ...]
    inputs: tuple[str, ...]
    draws: int
    rings: int

    def __getitem__(self, name: str) -> slice:
        """Return the members of a block: `nominal`, `limits`, `inputs`, `draws` or `rings`."""
        start = 0
        for block, size in self._sizes.items():
            if block == name:
                return slice(start, start + size)
            start += size
        raise KeyError(name)

    @property
    def _sizes(self) -> dict[str, int]:
        return {
            "nominal": 1,
            "limits": len(self.limits),
            "inputs": len(self.inputs),
            "draws": self.draws,
            "rings": self.rings,
        }

    @property
    def size(self) -> int:
        """Number of members."""
        return sum(self._sizes.values())

    def paired(self, metric: Floats) -> Floats:
        """Return a metric without the block `limits`, so that two studies can be compared member by member."""
        return np.concatenate([metric[self[name]] for name in ("nominal", "inputs", "draws", "rings")])

    def without_limits(self) -> Blocks:
        """Return the blocks of a paired metric."""
        return replace(self, limits=())


@dataclass(frozen=True)
class Members:
    """An ensemble and its blocks."""

    ensemble: Ensemble
    blocks: Blocks


Mask = npt.NDArray[np.bool_]
Change = Callable[[Ensemble, int], None]
"""Changes one member in place, before the ensemble is used."""


def members_of(
    study: Study, values: Mapping[str, float], moved: Mapping[str, float], draws: Mapping[str, Floats]
) -> Members:
    """Return the members for a study.

    Args:
        study: the scenario with its rings.
        values: the profile's values.
        moved: for each uncertain parameter the value it would have one standard error up.
        draws: draws of the profile, [draws] each.
    """
    limits, inputs = _limits(study), _inputs(study)
    blocks = Blocks(
        tuple(limits),
        (*moved, *inputs),
        len(next(iter(draws.values()))) if draws else 0,
        len(study.bindings) - 1,
    )
    table = _parameters(values, moved, draws, blocks)
    ring = np.zeros(blocks.size, dtype=np.int64)
    ring[blocks["rings"]] = 1 + np.arange(blocks.rings)
    members = replace(ensemble(study.network, table, study.bindings), ring=ring)
    for index, change in enumerate(limits.values(), blocks["limits"].start):
        change(members, index)
    for index, change in enumerate(inputs.values(), blocks["inputs"].start + len(moved)):
        change(members, index)
    return Members(members, blocks)


def _parameters(
    values: Mapping[str, float], moved: Mapping[str, float], draws: Mapping[str, Floats], blocks: Blocks
) -> dict[str, Floats]:
    """Return every parameter's value for each member; one that the profile lacks follows its rule."""
    table = {name: np.full(blocks.size, value) for name, value in complete(values).items()}
    for index, (name, value) in enumerate(moved.items(), blocks["inputs"].start):
        table[name][index] = value
    for name, drawn in draws.items():
        table[name][blocks["draws"]] = drawn
    if "replica_absent_s" not in values:
        table["replica_absent_s"] = table["replica_read_s"]
    return table


def _faster(stations: Mask, factor: float) -> Change:
    def change(members: Ensemble, index: int) -> None:
        members.speed[index, stations] *= factor

    return change


def _limits(study: Study) -> dict[str, Change]:
    """Return each resource that can be the limit, with the change that makes it larger."""
    network = study.network
    kinds = np.array([station.kind for station in network.stations])
    used = np.array([station.queues for station in network.stations])
    changes = {kind: _faster(kinds == kind, LARGER) for kind in dict.fromkeys(kinds[used].tolist())}
    hottest = np.zeros(len(kinds), dtype=bool)
    hottest[network.cpu_stations[_hottest(study)]] = True
    if len(network.cpu_stations) > 1:
        changes[HOTTEST] = _faster(hottest, LARGER)
    pools = np.array([pool.kind for pool in network.pools])
    for kind in dict.fromkeys(pools.tolist()):
        changes[kind] = _more_permits(pools == kind)
    if network.load.in_flight is not None:
        changes[IN_FLIGHT] = _more_in_flight(LARGER)
    return changes


def _hottest(study: Study) -> int:
    """Return the position among the CPU stations of the one with most visits."""
    return int(np.argmax(offered(study.network).visits[study.network.cpu_stations]))


def _more_permits(pools: Mask) -> Change:
    def change(members: Ensemble, index: int) -> None:
        members.permits[index, pools] *= LARGER

    return change


def _more_in_flight(factor: float) -> Change:
    def change(members: Ensemble, index: int) -> None:
        members.population[index] *= factor

    return change


def _longer_hops(members: Ensemble, index: int) -> None:
    members.hop_ratio[index] *= MOVED


def _inputs(study: Study) -> dict[str, Change]:
    """Return the inputs of the scenario whose weight is asked, by their keys."""
    network = study.network
    kinds = np.array([station.kind for station in network.stations])
    changes: dict[str, Change] = {
        "hardware.hops": _longer_hops,
        "hardware.cores": _faster(kinds == "CPU", MOVED),
        "clients.cpu_per_operation": _faster(kinds == "client CPU", 1 / MOVED),
    }
    if network.load.in_flight is not None:
        changes["clients.in_flight"] = _more_in_flight(MOVED)
    if network.load.rate_per_s is not None:
        changes["clients.rate"] = _higher_rate
    if any(station.kind == "data disk" and station.queues for station in network.stations):
        changes["hardware.data_disks"] = _faster(kinds == "data disk", MOVED)
    return changes


def _higher_rate(members: Ensemble, index: int) -> None:
    members.rate_per_s[index] *= MOVED
