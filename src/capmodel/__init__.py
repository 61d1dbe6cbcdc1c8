"""Capacity model of Apache Cassandra clusters: will adding nodes help?

>>> from capmodel import Options, load_calibration, load_scenario, predict
>>> scenario = load_scenario("default", ["cluster.nodes=3", "cluster.replication.factor=2"])
>>> prediction = predict(scenario, load_calibration("default"), Options(solver="mva"))
>>> prediction.add_node.at_your_clients.verdict in ("helps", "no gain expected", "cannot tell")
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calibrate.fit import fit
    from .model.advice import advise
    from .model.calibration import Calibration
    from .model.calibration_file import load_calibration
    from .model.findings import Options
    from .model.measurement import Measurement
    from .model.measurement_file import load_measurement
    from .model.predict import predict
    from .model.prediction import Prediction
    from .model.scaling import scale
    from .model.scenario import Scenario
    from .model.scenario_file import load_scenario

_PLACES = {
    "Calibration": "model.calibration",
    "Measurement": "model.measurement",
    "Options": "model.findings",
    "Prediction": "model.prediction",
    "Scenario": "model.scenario",
    "advise": "model.advice",
    "fit": "calibrate.fit",
    "load_calibration": "model.calibration_file",
    "load_measurement": "model.measurement_file",
    "load_scenario": "model.scenario_file",
    "predict": "model.predict",
    "scale": "model.scaling",
}
__all__ = [
    "Calibration",
    "Measurement",
    "Options",
    "Prediction",
    "Scenario",
    "advise",
    "fit",
    "load_calibration",
    "load_measurement",
    "load_scenario",
    "predict",
    "scale",
]


def __getattr__(name: str) -> Any:
    """Return a public name; what it needs is imported when it is asked for, so that commands start fast."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)
