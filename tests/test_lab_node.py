"""What a node is given and what it says: `cassandra.yaml`, command line, log."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from capmodel.live.lab import cassandra_yaml, jvm, node_log
from capmodel.live.lab.layout import joining, lay_out
from capmodel.live.lab.release import Release
from capmodel.live.lab.spec import LabSpec
from capmodel.model.errors import InputError

UP = "INFO  [GossipStage:1] 2026-01-01 00:00:00,000 Gossiper - InetAddress /127.0.0.{}:7000 is now UP\n"
DOWN = UP.replace("UP", "DOWN")
NORMAL = "DEBUG [GossipStage:1] 2026-01-01 StorageService - Node /127.0.0.{}:7000 state NORMAL, token [5]\n"
LISTENS = "INFO  [main] 2026 PipelineConfigurator - Starting listening for CQL clients on /127.0.0.1:9042\n"
STARTED = "INFO  [main] 2026 CassandraDaemon - Startup complete\n"
PEER = frozenset({"127.0.0.2"})


def test_a_node_alone_is_ready_when_it_says_both() -> None:
    assert node_log.view(LISTENS + STARTED).ready(frozenset())
    assert not node_log.view(LISTENS).ready(frozenset())
    assert not node_log.view(STARTED).ready(frozenset())


@pytest.mark.parametrize(
    ("gossip", "ready"),
    [
        (NORMAL.format(2) + UP.format(2), True),
        (UP.format(2) + NORMAL.format(2), True),
        ("", False),
        (UP.format(2), False),
        (NORMAL.format(2), False),
        (NORMAL.format(3) + UP.format(3), False),
        (NORMAL.format(2) + UP.format(2) + DOWN.format(2), False),
        (NORMAL.format(2) + UP.format(2) + DOWN.format(2) + UP.format(2), True),
        (NORMAL.format(22) + UP.format(22), False),
    ],
)
def test_a_node_with_a_peer_must_see_it_up_and_normal(gossip: str, ready: bool) -> None:
    assert node_log.view(LISTENS + STARTED + gossip).ready(PEER) is ready


def test_no_log_yet_is_not_ready(tmp_path: Path) -> None:
    assert not node_log.read_view(tmp_path).ready(frozenset())
    assert node_log.last_lines(tmp_path) == []


def test_last_words_leave_out_noise_and_are_short(tmp_path: Path) -> None:
    trace = (
        "org.apache.cassandra.exceptions.ConfigurationException: Invalid yaml\n\tat org.apache.X(Y.java:1)\n"
    )
    (tmp_path / "system.log").write_text(NORMAL.format(2) + STARTED)
    (tmp_path / "console.log").write_text("WARNING: A terminally deprecated method\n" + trace + "x" * 5000)

    lines = node_log.last_lines(tmp_path)
    assert lines == [STARTED.strip(), trace.splitlines()[0], "x" * 300]


def settings(**fields: object) -> dict[str, object]:
    spec = LabSpec.model_validate(fields)
    return dict(cassandra_yaml.settings(lay_out(spec, (0, 1))[0], spec, Path("/lab/node1")))


def test_a_setting_of_the_users_wins() -> None:
    assert settings()["hinted_handoff_enabled"] is False
    changed = settings(settings={"hinted_handoff_enabled": True, "concurrent_reads": 64})
    assert changed["hinted_handoff_enabled"] is True
    assert changed["concurrent_reads"] == 64


def test_caps_choose_how_files_are_read_and_written() -> None:
    assert "disk_access_mode" not in settings()
    assert "commitlog_disk_access_mode" not in settings()
    assert settings(memory="2GiB")["disk_access_mode"] == "standard"
    assert settings(write_iops="100/s")["commitlog_disk_access_mode"] == "direct"


def test_files_stay_under_the_nodes_folder() -> None:
    directories = {key: value for key, value in settings().items() if "director" in key}

    assert len(directories) == 5
    assert all("/lab/node1/" in str(value) for value in directories.values())


def test_a_node_of_a_new_cluster_has_tokens_and_one_that_joins_gets_them() -> None:
    spec = LabSpec(nodes=2)
    plans = lay_out(spec, (0, 1))
    new = cassandra_yaml.settings(plans[0], spec, Path("/n"))
    joined = cassandra_yaml.settings(joining(spec, 2, plans, (0, 1)), spec, Path("/n"))

    assert len(str(new["initial_token"]).split(",")) == new["num_tokens"] == 16
    assert new["auto_bootstrap"] is False
    assert "initial_token" not in joined
    assert joined["auto_bootstrap"] is True


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    spec = LabSpec(nodes=2, settings={"sai_options": {"segment_write_buffer_size": "1GiB"}})
    plan = lay_out(spec, (0, 1))[1]

    path = cassandra_yaml.write(plan, spec, tmp_path)
    assert yaml.safe_load(path.read_text()) == cassandra_yaml.settings(plan, spec, tmp_path)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("concurrent_reads=64", ("concurrent_reads", 64)),
        ("endpoint_snitch=SimpleSnitch", ("endpoint_snitch", "SimpleSnitch")),
        (
            "sai_options={segment_write_buffer_size: 1GiB}",
            ("sai_options", {"segment_write_buffer_size": "1GiB"}),
        ),
        ("a=b=c", ("a", "b=c")),
    ],
)
def test_overrides_are_read_as_yaml(text: str, parsed: tuple[str, object]) -> None:
    assert cassandra_yaml.parse_override(text) == parsed


@pytest.mark.parametrize("text", ["concurrent_reads", "=64", "a={"])
def test_an_override_that_is_none_says_what_would_be_right(text: str) -> None:
    with pytest.raises(InputError, match="right would be key=value"):
        cassandra_yaml.parse_override(text)


def test_the_command_line_carries_core_heap_marker_and_the_users_options_last(tmp_path: Path) -> None:
    spec = LabSpec(heap="512MiB", jvm_options=("-XX:-TieredCompilation",))
    plan = lay_out(spec, (1,))[0]
    release = Release(version="5.0.6", jars=str(tmp_path), source="cassandra-home")
    command = jvm.arguments(plan, spec, release, tmp_path, "abc")

    assert command[:3] == ["taskset", "-c", "1"]
    assert {"-Xms512M", "-Xmx512M", jvm.marker("abc")} <= set(command)
    assert command.index("-XX:-TieredCompilation") > command.index("-XX:TieredStopAtLevel=1")
    assert command[-2:] == [f"{tmp_path}/*", "org.apache.cassandra.service.CassandraDaemon"]
