"""Control groups of both versions, on folders that stand in for the hierarchy.

File names and formats are those of the kernel's documentation, admin-guide/cgroup-v1 and cgroup-v2.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from capmodel.live.lab.control_groups import DiskOperations, Limits, NodeGroup
from capmodel.live.lab.control_groups_v1 import HierarchyV1
from capmodel.live.lab.control_groups_v2 import HierarchyV2
from capmodel.live.lab.hierarchy import offered_hierarchy, usable_hierarchy

DISK = "254:0"


@pytest.fixture
def v1(tmp_path: Path) -> HierarchyV1:
    mounts = {name: tmp_path / name for name in ("cpu", "cpuacct", "memory", "blkio")}
    for mount in mounts.values():
        mount.mkdir()
    return HierarchyV1(mounts)


@pytest.fixture
def v2(tmp_path: Path) -> HierarchyV2:
    return HierarchyV2(tmp_path)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a folder with files be removed, as the kernel does with a group."""
    monkeypatch.setattr(Path, "rmdir", lambda folder: shutil.rmtree(folder))


def created(group: NodeGroup) -> NodeGroup:
    group.create()
    return group


def test_v1_limits_are_written_where_the_kernel_reads_them(v1: HierarchyV1, tmp_path: Path) -> None:
    group = created(v1.group("id", "node1"))
    group.limit_cpu(0.3, 0.005)
    group.limit_memory(2**30)
    group.limit_disk(DISK, 500, None)

    cpu = tmp_path / "cpu" / "capmodel" / "id" / "node1"
    assert (cpu / "cpu.cfs_quota_us").read_text() == "1500"
    assert (cpu / "cpu.cfs_period_us").read_text() == "5000"
    assert (tmp_path / "memory/capmodel/id/node1/memory.limit_in_bytes").read_text() == "1073741824"
    disk = tmp_path / "blkio" / "capmodel" / "id" / "node1"
    assert (disk / "blkio.throttle.read_iops_device").read_text() == "254:0 500"
    assert (disk / "blkio.throttle.write_iops_device").read_text() == "254:0 0"


def test_v2_limits_are_written_where_the_kernel_reads_them(v2: HierarchyV2, tmp_path: Path) -> None:
    group = created(v2.group("id", "node1"))
    group.limit_cpu(0.3, 0.005)
    group.limit_memory(2**30)
    group.limit_disk(DISK, 500, None)

    folder = tmp_path / "capmodel" / "id" / "node1"
    assert (folder / "cpu.max").read_text() == "1500 5000"
    assert (folder / "memory.max").read_text() == "1073741824"
    assert (folder / "io.max").read_text() == "254:0 riops=500 wiops=max"


def test_v2_enables_the_controllers_above_the_node_and_not_in_it(v2: HierarchyV2, tmp_path: Path) -> None:
    created(v2.group("id", "node1"))

    for above in (".", "capmodel", "capmodel/id"):
        assert (tmp_path / above / "cgroup.subtree_control").read_text() == "+cpu +memory +io"
    assert not (tmp_path / "capmodel/id/node1/cgroup.subtree_control").exists()


def test_v1_reads_limits_and_counts(v1: HierarchyV1, tmp_path: Path) -> None:
    group = created(v1.group("id", "node1"))
    group.limit_cpu(0.4, 0.005)
    group.limit_memory(2**31)
    write(tmp_path, "cpuacct", "cpuacct.usage", "2500000000\n")
    write(tmp_path, "cpu", "cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 750000000\n")
    write(tmp_path, "memory", "memory.usage_in_bytes", "4096\n")
    write(tmp_path, "blkio", "blkio.throttle.read_iops_device", "8:0 7\n254:0 500\n")
    write(tmp_path, "blkio", "blkio.throttle.write_iops_device", "")
    serviced = "8:0 Read 1\n254:0 Read 20\n254:0 Write 3\n254:0 Total 23\nTotal 24\n"
    write(tmp_path, "blkio", "blkio.throttle.io_serviced", serviced)

    assert group.limits(DISK) == Limits(0.4, 2**31, 500, None)
    assert (group.cpu_s(), group.throttled_s(), group.memory_bytes()) == (2.5, 0.75, 4096)
    assert group.disk_operations(DISK) == DiskOperations(20, 3)
    assert group.disk_operations("9:9") == DiskOperations(0, 0)


def test_v2_reads_limits_and_counts(v2: HierarchyV2, tmp_path: Path) -> None:
    group = created(v2.group("id", "node1"))
    group.limit_cpu(0.4, 0.005)
    group.limit_memory(2**31)
    folder = tmp_path / "capmodel" / "id" / "node1"
    (folder / "io.max").write_text("8:0 riops=7\n254:0 rbps=max wbps=max riops=500 wiops=max\n")
    (folder / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\nthrottled_usec 750000\n")
    (folder / "memory.current").write_text("4096\n")
    (folder / "io.stat").write_text("8:0 rios=1\n254:0 rbytes=9 wbytes=9 rios=20 wios=3 dbytes=0 dios=0\n")

    assert group.limits(DISK) == Limits(0.4, 2**31, 500, None)
    assert (group.cpu_s(), group.throttled_s(), group.memory_bytes()) == (2.5, 0.75, 4096)
    assert group.disk_operations(DISK) == DiskOperations(20, 3)
    assert group.disk_operations("9:9") == DiskOperations(0, 0)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_lifted_limits_read_as_none(version: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    group = created(request.getfixturevalue(version).group("id", "node1"))
    group.limit_cpu(None, 0.005)
    group.limit_memory(None)
    if version == "v1":  # what an unlimited group reads as there
        write(tmp_path, "memory", "memory.limit_in_bytes", "9223372036854771712\n")
        write(tmp_path, "blkio", "blkio.throttle.read_iops_device", "")
        write(tmp_path, "blkio", "blkio.throttle.write_iops_device", "")
    else:
        group.limit_disk(DISK, None, None)

    assert group.limits(DISK) == Limits()


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_removal_leaves_nothing_and_spares_other_labs(
    version: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    hierarchy = request.getfixturevalue(version)
    mine, other = created(hierarchy.group("mine", "node1")), created(hierarchy.group("other", "node1"))
    for entrance in (*mine.entrances(), *other.entrances()):
        entrance.write_text("17\n")
    assert mine.pids() == (17,)
    assert hierarchy.nodes("mine") == ("node1",)

    mine.remove()
    hierarchy.remove_lab("mine")
    assert hierarchy.nodes("mine") == ()
    assert mine.pids() == ()
    assert hierarchy.nodes("other") == ("node1",)

    other.remove()
    hierarchy.remove_lab("other")
    assert list(tmp_path.rglob("capmodel")) == []


def test_a_group_that_stays_busy_is_an_error(v2: HierarchyV2, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capmodel.live.lab.control_groups.REMOVAL_S", 0.05)
    group = created(v2.group("id", "node1"))
    group.entrances()[0].write_text("17\n")  # an ordinary folder with a file in it cannot be removed

    with pytest.raises(OSError, match="not empty"):
        group.remove()


def mounts(tmp_path: Path, *lines: str) -> str:
    return "".join(f"31 23 0:28 / {tmp_path}/{line}\n" for line in lines)


def test_v1_is_found_mounted_together_or_apart(tmp_path: Path) -> None:
    text = mounts(
        tmp_path,
        "cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct",
        "memory rw - cgroup cgroup rw,memory",
        r"block\040io rw - cgroup cgroup rw,blkio",
        "systemd rw - cgroup cgroup rw,name=systemd",
        "unified rw - cgroup2 cgroup2 rw",
    )
    found = offered_hierarchy(text)

    assert isinstance(found, HierarchyV1)
    assert found.mounts["cpu"] == found.mounts["cpuacct"] == tmp_path / "cpu,cpuacct"
    assert found.mounts["blkio"] == tmp_path / "block io"
    entrances = [entrance.relative_to(tmp_path) for entrance in found.group("id", "node1").entrances()]
    assert len(entrances) == 3  # the hierarchy mounted once is entered once


def test_v2_is_found_where_it_has_the_controllers(tmp_path: Path) -> None:
    (tmp_path / "unified").mkdir()
    text = mounts(tmp_path, "unified rw - cgroup2 cgroup2 rw,nsdelegate")
    controllers = tmp_path / "unified" / "cgroup.controllers"

    controllers.write_text("cpuset cpu io memory pids\n")
    assert offered_hierarchy(text) == HierarchyV2(tmp_path / "unified")

    controllers.write_text("pids\n")
    assert offered_hierarchy(text) is None
    assert "mounts no control groups" in str(usable_hierarchy(text))


def test_no_right_to_make_a_group_is_said_in_words(tmp_path: Path) -> None:
    """A file where a folder would have to be stands in for a refusal, which root never gets."""
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified" / "cgroup.controllers").write_text("cpu io memory\n")
    (tmp_path / "unified" / "capmodel").write_text("")

    answer = usable_hierarchy(mounts(tmp_path, "unified rw - cgroup2 cgroup2 rw"))
    assert isinstance(answer, str)
    assert answer.startswith("no right to make a control group under")


def write(root: Path, controller: str, name: str, text: str) -> None:
    (root / controller / "capmodel" / "id" / "node1" / name).write_text(text)
