"""`capmodel check --quick`: small clusters measured, four nodes predicted and measured, on a machine to itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from capmodel.live.campaign.cells import QUICK
from capmodel.live.lab.release import cache_directory

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.alone]
pytest.importorskip("acsylla", reason="acsylla is not installed")

MEDIAN = 0.40
"""Error of the throughput that a quick check stays below; without a calibration it is larger (test_lab_held_out.py). A
run of 3.5 s, once, in one start of each size: the model is right within 11 %, starts differ by up to 25 %."""


def test_four_nodes_are_predicted_from_one_and_two(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache_directory().parent)}
    words = [sys.executable, "-m", "capmodel", "check", "--quick", "--directory", str(tmp_path), "--json"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    cells = [cell for cell in report["pure"]["cells"] if cell["kind"] == "throughput"]
    assert 4 <= len(cells) <= len(QUICK.predicted[4]), done.stderr
    (throughput,) = (one for one in report["pure"]["summaries"] if one["what"] == "throughput")
    assert throughput["median"] < MEDIAN
    assert sum(bool(cell["held"]) for cell in cells) >= len(cells) / 2
    assert all(cell["measured"] > 0 and cell["low"] < cell["predicted"] < cell["high"] for cell in cells)
    for name in ("calibration.yaml", "report.json", "report.html"):
        assert (tmp_path / name).stat().st_size > 1000
    assert not (tmp_path / "lab").exists() or not any((tmp_path / "lab").glob("node*"))
    files = list((tmp_path / "measurements").rglob("*.json"))
    assert len(files) == sum(map(len, [*QUICK.fitted.values(), *QUICK.predicted.values()]))
