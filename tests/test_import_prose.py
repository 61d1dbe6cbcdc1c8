"""Figures given by hand: kept with the pair they stand in; what cannot be read is refused with what is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from capmodel.cli.app import app
from capmodel.live.imports.prose import read
from capmodel.model.errors import MeasurementError
from capmodel.model.measurement_file import load_measurement


def test_figures_keep_their_places() -> None:
    (run,) = read(["throughput=64488/s", "p99=12ms", "operation=read", "in_flight=50", "nodes=1"]).runs
    assert run.throughput_per_s is not None and run.throughput_per_s.value == 64488
    latency = run.operations["read"].latency_s
    assert latency is not None and latency.p99.value == pytest.approx(0.012)
    assert run.client is not None and run.client.facts["in_flight"] == 50
    assert run.provenance["throughput_per_s.value"].text == "64488/s"


@pytest.mark.parametrize(
    ("pairs", "right"),
    [
        (["p99=12ms"], "throughput=NUMBER"),
        (["throughput=fast"], "64488"),
        (["throughput=-3"], "64488"),
        (["throughput=5", "p99=soon"], "unit"),
        (["throughput=5", "threads=5"], "one of throughput"),
        (["throughput=5", "in_flight=1.5"], "whole"),
    ],
)
def test_what_cannot_be_read_is_refused(pairs: list[str], right: str) -> None:
    with pytest.raises(MeasurementError, match=right):
        read(pairs)


def test_the_command_writes_what_juho_wrote(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    words = ["import", "--set", "throughput=64488", "--set", "in_flight=50", "--scenario", "juho-1-node"]
    result = CliRunner().invoke(app, [*words, "-o", str(out)])
    assert result.exit_code == 0, result.output
    measurement = load_measurement(out)
    assert measurement.scenario is not None and measurement.scenario.clients.in_flight == 50
    assert CliRunner().invoke(app, ["import"]).exit_code != 0
