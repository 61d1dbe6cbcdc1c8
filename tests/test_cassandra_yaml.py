"""`cassandra.yaml` as overrides: old and new spellings, wrong values with their lines, unused settings named."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from capmodel.cli.app import app
from capmodel.model.cassandra_yaml import read_cassandra_yaml
from capmodel.model.errors import InputError
from capmodel.model.scenario_file import load_scenario
from capmodel.model.settings import settings_of

OLD = """# 3.11
cluster_name: 'Shop'
num_tokens: 256
hinted_handoff_enabled: true
concurrent_reads: 16
commitlog_sync: periodic
commitlog_sync_period_in_ms: 10000
seed_provider:
    - class_name: org.apache.cassandra.locator.SimpleSeedProvider
      parameters:
          - seeds: "127.0.0.1"
read_request_timeout_in_ms: 7000
endpoint_snitch: SimpleSnitch
dynamic_snitch: false
"""
NEW = """# 5.0
cluster_name: Shop
num_tokens: 16
allocate_tokens_for_local_replication_factor: 3
commitlog_sync: group
commitlog_sync_group_window: 20ms
read_request_timeout: 5s
concurrent_writes: 64
endpoint_snitch: org.apache.cassandra.locator.GossipingPropertyFileSnitch
initial_token:
"""


def written(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "cassandra.yaml"
    path.write_text(text)
    return path


def test_old_spellings(tmp_path: Path) -> None:
    found = read_cassandra_yaml(written(OLD, tmp_path))
    scenario = load_scenario("default", ["cluster.version=3.11", *found.overrides])
    assert (scenario.cluster.num_tokens, scenario.cluster.snitch.value) == (256, "SimpleSnitch")
    assert scenario.cluster.dynamic_snitch is False
    assert settings_of(scenario).read_timeout_s == 7.0
    assert found.unused == ("cluster_name", "commitlog_sync_period_in_ms", "hinted_handoff_enabled", "seed_provider")


def test_new_spellings(tmp_path: Path) -> None:
    found = read_cassandra_yaml(written(NEW, tmp_path))
    scenario = load_scenario("default", [*found.overrides])
    settings = settings_of(scenario)
    assert (settings.commit_log_sync, settings.commit_log_window_s, settings.read_timeout_s) == ("group", 0.02, 5.0)
    assert scenario.cluster.allocation.value == "replication-aware"
    assert scenario.cluster.snitch.value == "GossipingPropertyFileSnitch"


def test_all_wrong_values_are_told_with_their_lines(tmp_path: Path) -> None:
    text = OLD.replace("16", "many").replace("SimpleSnitch", "MySnitch").replace("256", "-1")
    with pytest.raises(InputError) as caught:
        read_cassandra_yaml(written(text, tmp_path))
    assert {(problem.key, problem.line) for problem in caught.value.problems} == {
        ("num_tokens", 3),
        ("concurrent_reads", 5),
        ("endpoint_snitch", 13),
    }


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a cassandra\.yaml"):
        read_cassandra_yaml(written("cluster: {nodes: 3}\n", tmp_path))


def test_the_option(tmp_path: Path) -> None:
    path = written(NEW, tmp_path)
    result = CliRunner().invoke(
        app, ["predict", "--nodes", "3", "--rf", "2", "--solver", "mva", "--cassandra-yaml", str(path), "--json"]
    )
    assert result.exit_code == 0, result.output
    assert '"commitlog_sync": "group"' in result.stdout
    assert "not used: cluster_name, initial_token" in result.stderr
