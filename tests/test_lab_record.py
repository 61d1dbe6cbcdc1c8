"""The record of a lab, its lock, what is refused before a start, and a removal without Cassandra."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from capmodel.live.lab import preparation, process, record, teardown
from capmodel.live.lab.jvm import marker, spawn
from capmodel.live.lab.layout import lay_out
from capmodel.live.lab.record import Lab, NodeRecord, lab_id, load_lab, locked, save
from capmodel.live.lab.release import Release
from capmodel.live.lab.spec import LabSpec
from capmodel.live.lab.status import lab_status
from capmodel.model.errors import RunError

ADDRESS = "127.0.91.1"


def a_lab(directory: Path, **fields: object) -> Lab:
    spec = LabSpec.model_validate({"first_address": ADDRESS} | fields)
    nodes = tuple(NodeRecord(plan=plan) for plan in lay_out(spec, (0, 1)))
    release = Release(version="5.0.6", jars="/jars", source="maven")
    return Lab(
        directory=directory, id=lab_id(directory), spec=spec, release=release, nodes=nodes, cores=(0, 1)
    )


def sleeping(lab: Lab, name: str) -> Lab:
    """Return the lab with a sleeping process in place of a node's JVM."""
    home = lab.home(lab.node(name))
    home.mkdir()
    command = [sys.executable, "-c", "import time; time.sleep(60)", marker(lab.id)]
    started = spawn(command, home, home / "console.log", [])
    return lab.with_node(lab.node(name).model_copy(update={"process": started}))


def test_a_record_reads_back_as_it_was(tmp_path: Path) -> None:
    lab = a_lab(tmp_path, nodes=3, memory="2GiB", settings={"a": [1, {"b": None}]})

    assert load_lab(tmp_path) is None
    assert load_lab(save(lab).directory) == lab
    assert [entry.name for entry in tmp_path.iterdir()] == ["lab.json"]


def test_a_record_of_another_version_says_so(tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_text('{"format": 99}')

    with pytest.raises(RunError, match="is no record of this version"):
        load_lab(tmp_path)
    assert teardown.tear_down(tmp_path)
    assert not tmp_path.exists()


def test_the_lock_keeps_a_second_capmodel_out(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(RunError, match="another capmodel"), locked(tmp_path):
        pass


def test_a_directory_without_a_lab_does_not_stay(tmp_path: Path) -> None:
    with locked(tmp_path / "a"):
        pass
    with locked(tmp_path / "b"):
        save(a_lab(tmp_path / "b"))

    assert [entry.name for entry in tmp_path.iterdir()] == ["b"]


def test_removal_ends_processes_of_the_record_and_others_with_its_mark(tmp_path: Path) -> None:
    """One process is in the record, one was started just before its starter was killed."""
    directory = tmp_path / "lab"
    directory.mkdir()
    lab = a_lab(directory, nodes=2)
    both = sleeping(sleeping(lab, "node1"), "node2")
    save(lab.with_node(both.node("node1")))
    assert len(teardown.leftovers(directory)) == 3

    assert teardown.tear_down(directory)
    assert teardown.leftovers(directory) == []
    assert not any(node.running for node in both.nodes)
    assert not directory.exists()
    assert not teardown.tear_down(directory)


def test_removal_spares_processes_and_files_that_are_not_the_labs(tmp_path: Path) -> None:
    """The recorded id belongs to a later process by now; a folder beside the nodes' is somebody's."""
    directory, other = tmp_path / "lab", tmp_path / "other"
    directory.mkdir()
    other.mkdir()
    stranger = sleeping(a_lab(other), "node1").node("node1").process
    assert stranger is not None
    stale = stranger.model_copy(update={"start_ticks": stranger.start_ticks - 1})
    lab = a_lab(directory)
    save(lab.with_node(lab.node("node1").model_copy(update={"process": stale})))
    (directory / "notes").write_text("mine")
    try:
        teardown.tear_down(directory)
        assert process.runs(stranger)
    finally:
        process.kill([stranger])
    assert [entry.name for entry in directory.iterdir()] == ["notes"]


def test_a_node_that_nobody_stopped_is_told_from_one_that_was(tmp_path: Path) -> None:
    lab = sleeping(a_lab(tmp_path, nodes=3), "node1")
    running = lab.node("node1").process
    assert running is not None
    gone = running.model_copy(update={"start_ticks": 1})
    lab = lab.with_node(lab.node("node2").model_copy(update={"process": gone}))
    lab = lab.with_node(lab.node("node3").model_copy(update={"process": gone, "stopped": True}))
    try:
        states = [node.state for node in lab_status(lab).nodes]
    finally:
        process.kill([running])

    assert states == ["starting", "ended", "stopped"]
    assert lab_status(a_lab(tmp_path)).nodes[0].state == "not started"


def plan(directory: Path, **fields: object) -> Lab:
    (directory / "home" / "lib").mkdir(parents=True)
    (directory / "home" / "lib" / "apache-cassandra-5.0.6.jar").touch()
    spec = {"cassandra_home": directory / "home", "first_address": ADDRESS} | fields
    (directory / "lab").mkdir()
    return preparation.plan_lab(
        LabSpec.model_validate(spec | {"cassandra_home": str(directory / "home")}), directory / "lab", print
    )


def test_a_directory_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "node1").mkdir()

    with pytest.raises(RunError, match="name an empty directory"):
        preparation.plan_lab(LabSpec(), tmp_path, print)


def test_too_little_memory_for_the_heap_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="a node needs 1392MiB"):
        plan(tmp_path, memory="1GiB")


def test_an_address_in_use_is_refused(tmp_path: Path) -> None:
    with socket.create_server((ADDRESS, 9042)), pytest.raises(RunError, match=f"{ADDRESS}:9042"):
        plan(tmp_path)


@pytest.mark.parametrize(
    ("fields", "notes"),
    [
        ({"layout": "equal", "nodes_per_core": 1, "nodes": 1}, []),
        ({"cores_per_node": 0.2}, ["uncapped: no right; the caps asked for are not in force"]),
        ({}, ["uncapped: no right; nothing was to be capped"]),
    ],
)
def test_what_limits_a_measurement_is_noted(
    fields: dict[str, object], notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: object = "no right" if notes else preparation.usable_hierarchy()
    monkeypatch.setattr(preparation, "usable_hierarchy", lambda: offered)

    lab = plan(tmp_path, **fields)
    if not isinstance(offered, str):
        notes = []
    assert list(lab.notes) == notes
    assert (lab.groups is None) == isinstance(offered, str)


def test_crowded_and_lopsided_layouts_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation.os, "sched_getaffinity", lambda pid: {0, 1})
    lab = plan(tmp_path, layout="equal", nodes=3, cores_per_node=0.6)

    assert [note.split(":")[0] for note in lab.notes if not note.startswith("uncapped")] == [
        "lopsided",
        "over-committed",
    ]


def test_the_default_directory_is_in_the_users_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    assert record.default_directory() == tmp_path / "capmodel" / "lab"
