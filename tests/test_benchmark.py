"""The benchmark in a short form: a floor far below what any machine reaches, and growth by counts, not by clocks."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def measure():
    """The benchmark's function."""
    path = Path(__file__).with_name("benchmark_simulation.py")
    spec = importlib.util.spec_from_file_location("benchmark_simulation", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_simulation"] = module
    spec.loader.exec_module(module)
    return module.measure


def test_the_simulation_is_not_slow(measure):
    speed = measure(3, 64, 4_000)
    assert speed.requests_per_s > 2_000
    assert speed.visits_per_s > 30_000


def test_cost_grows_with_replicas_touched_and_not_with_nodes(measure):
    """Visits and events of a request in 48 nodes are those of a request in 12; all write to three replicas."""
    few, many = measure(12, 64, 3_000), measure(48, 64, 3_000)
    assert many.visits_per_request == pytest.approx(few.visits_per_request, rel=0.02)
    assert many.events_per_request == pytest.approx(few.events_per_request, rel=0.02)


def test_cost_does_not_grow_with_requests_in_flight(measure):
    few, many = measure(3, 64, 3_000), measure(3, 512, 3_000)
    assert many.events_per_request == pytest.approx(few.events_per_request, rel=0.1)
