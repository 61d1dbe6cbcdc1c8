"""What a fit may move: the parameters that its runs touch, with what is known of them before.

Before the runs are seen, a parameter is log-normal around the profile's value. All share the unknown speed of a core
(`SPEED_SPREAD`); beyond that each has a spread of its own, wide enough that runs decide wherever they say anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.calibration import Calibration, Parameter
from ..model.demands import PARAMETERS
from ..model.errors import CalibrationError, Problem
from ..model.network import Floats

SPEED_SPREAD = 1.0
"""Standard deviation of the logarithm of a core's speed against the profile's: a factor 5 either way at 90 %. Source:
published-runs.csv: one CPU second makes from 800 operations (C06) to above 20,000 (lab study)."""
OWN_SPREAD = 0.7
"""Standard deviation of the logarithm of a demand relative to the others. Source: the split between coordinator,
replica and messages that published rows allow differs by about a factor 2 between them (background/profiles)."""
EFFECT_SPREAD = 1.2
"""The same for a load effect, which some nodes hardly show."""
EFFECTS_S = {
    "block_and_wake_s": 89e-6,
    "coordinator_wake_up_s": 201e-6,
    "message_wake_up_s": 8e-6,
    "block_wake_up_s": 85e-6,
}
"""Load effects for a profile that lacks them. Source: lab-fidelity.md, section 6: W 89, c 201, h 8, v 85 µs."""
IDLE = Parameter(
    value=0.4,
    std_err=0.1,
    unit="1",
    source="lab-fidelity.md, section 8: idle workers of a node on one core use about 0.4 core",
)
"""Idle work of nodes under a quota for a profile that lacks it: there it decides when they are stopped."""
HOP_RATIO, HOP_SPREAD = "hop_ratio", 0.5
"""Message delays over the scenario's, and the standard deviation of the logarithm where the profile does not state it:
those of a scenario are defaults where nobody measured them, and within a data centre one way takes from 20 to over
100 µs. Source: round trips published for racks and zones of public clouds, 0.05 to 0.5 ms."""
STATION_PARAMETERS = ("idle_cores", "sharing_ratio", "contention_ratio", "contention_knee", "service_variation")
"""Parameters of stations; they stay as the profile has them unless a fit is asked for them by name."""
REACH = 5.0
"""Standard deviations to either side of the profile's value within which a fit looks."""


@dataclass(frozen=True)
class Prior:
    """What is known before the runs: normal logarithms of some parameters."""

    names: tuple[str, ...]
    log_median: Floats
    """[parameters]"""
    covariance: Floats
    """[parameters, parameters]"""

    @property
    def spread(self) -> Floats:
        """Standard deviation of each logarithm, [parameters]."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def whitener(self) -> Floats:
        """Matrix that turns deviations from the median into independent standard normals, [parameters, parameters]."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.covariance)))

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the lowest and highest logarithms that are looked at, [parameters] each."""
        reach = REACH * self.spread
        return self.log_median - reach, self.log_median + reach

    def values(self, logs: Floats) -> dict[str, Floats]:
        """Return parameters by name from logarithms [..., parameters]."""
        return {name: np.exp(logs[..., i]) for i, name in enumerate(self.names)}


def profile_values(profile: Calibration) -> dict[str, float]:
    """Return the values of a profile that the model knows, load effects it lacks filled in."""
    given = {name: parameter.value for name, parameter in profile.parameters.items() if name in PARAMETERS}
    return {**EFFECTS_S, HOP_RATIO: 1.0, **given}


def with_idle_work(profile: Calibration, capped: bool) -> Calibration:
    """Return a profile that knows of idle work where some nodes are capped by a quota."""
    if not capped or "idle_cores" in profile.parameters:
        return profile
    return profile.model_copy(update={"parameters": {**profile.parameters, "idle_cores": IDLE}})


def prior_of(profile: Calibration, touched: Sequence[str], stations: Sequence[str] = ()) -> Prior:
    """Return what a profile says of the parameters that runs touch.

    Args:
        profile: values to start from.
        touched: names of the demand parameters that the runs' requests use.
        stations: station parameters that shall be fitted too.
    """
    values = profile_values(profile)
    names = [name for name in touched if values.get(name, 0.0) > 0]
    names += [HOP_RATIO]
    names += [name for name in stations if values.get(name, 0.0) > 0]
    speed = np.array([SPEED_SPREAD if name.endswith("_s") else 0.0 for name in names])
    own = np.array([_own_spread(name, profile) for name in names])
    return Prior(
        tuple(names),
        np.log([values[name] for name in names]),
        np.outer(speed, speed) + np.diag(own**2),
    )


def _own_spread(name: str, profile: Calibration) -> float:
    """Return a parameter's own spread: at least what the profile itself states beyond the common speed."""
    given = profile.parameters.get(name)
    if name == HOP_RATIO:
        return given.std_err / given.value if given and given.std_err > 0 else HOP_SPREAD
    least = EFFECT_SPREAD if name in EFFECTS_S or name in STATION_PARAMETERS else OWN_SPREAD
    return max(least, given.std_err / given.value if given and given.value > 0 else 0.0)


def checked_stations(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of station parameters.

    Raises:
        CalibrationError: a name that is none.
    """
    unknown = [name for name in names if name not in STATION_PARAMETERS]
    if unknown:
        right = f"one of {', '.join(STATION_PARAMETERS)}; demands are fitted wherever the runs touch them"
        raise CalibrationError([Problem("--fit", name, right) for name in unknown])
    return tuple(names)


def merged_values(values: Mapping[str, float], table: Mapping[str, Floats], members: int) -> dict[str, Floats]:
    """Return every parameter as an array [members]: those of the table, the others at their value.

    A demand of absent keys that the profile lacks follows that of a read.
    """
    merged = {name: table.get(name, np.full(members, value)) for name, value in values.items()}
    merged |= {name: drawn for name, drawn in table.items() if name not in merged}
    return merged
