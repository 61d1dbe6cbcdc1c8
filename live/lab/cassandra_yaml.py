"""The `cassandra.yaml` of a lab node.

Background work that would differ from run to run is off: hints, the dynamic snitch, snapshots. Timeouts are
long, so that a slow node shows as latency. Space for memtables and commit log is ample, so that a short run
does not flush.

Source: the study of such a lab (docs/decisions/0010-lab.md); names from Apache Cassandra's own
`cassandra.yaml` (4.1 and later).
"""

from __future__ import annotations

from pathlib import Path

import yaml

from ...model.errors import InputError
from .layout import NodePlan
from .spec import LabSpec, Setting

TIMEOUT = "20s"
NATIVE_PORT = 9042
STORAGE_PORT = 7000
_TIMEOUTS = (
    "read_request_timeout",
    "range_request_timeout",
    "write_request_timeout",
    "counter_write_request_timeout",
    "cas_contention_timeout",
    "truncate_request_timeout",
    "request_timeout",
)


def settings(plan: NodePlan, spec: LabSpec, home: Path) -> dict[str, Setting]:
    """Return all settings of a node that keeps its files under `home`; the spec's own come last."""
    merged: dict[str, Setting] = {
        **_identity(plan),
        **_directories(home),
        **_quiet(),
        **_memory(spec),
        **_disk(spec),
        **_ring(plan),
    }
    return merged | spec.settings


def write(plan: NodePlan, spec: LabSpec, home: Path) -> Path:
    """Write the node's `cassandra.yaml` and return its path."""
    path = home / "cassandra.yaml"
    path.write_text(yaml.safe_dump(settings(plan, spec, home), sort_keys=False))
    return path


def parse_override(text: str) -> tuple[str, Setting]:
    """Return name and value of `key=value`; the value is read as YAML.

    >>> parse_override("concurrent_reads=64")
    ('concurrent_reads', 64)
    """
    key, equals, value = text.partition("=")
    try:
        parsed: Setting = yaml.safe_load(value)
    except yaml.YAMLError:
        equals = ""
    if not equals or not key.strip():
        raise InputError(f"--set-yaml {text}: right would be key=value, such as concurrent_reads=64")
    return key.strip(), parsed


def _identity(plan: NodePlan) -> dict[str, Setting]:
    seeds: Setting = [{"seeds": ",".join(plan.seeds)}]
    return {
        "cluster_name": plan.cluster,
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "GossipingPropertyFileSnitch",
        "listen_address": plan.address,
        "rpc_address": plan.address,
        "storage_port": STORAGE_PORT,
        "native_transport_port": NATIVE_PORT,
        "seed_provider": [
            {"class_name": "org.apache.cassandra.locator.SimpleSeedProvider", "parameters": seeds}
        ],
    }


def _directories(home: Path) -> dict[str, Setting]:
    return {
        "data_file_directories": [str(home / "data")],
        "commitlog_directory": str(home / "commitlog"),
        "saved_caches_directory": str(home / "saved_caches"),
        "hints_directory": str(home / "hints"),
        "cdc_raw_directory": str(home / "cdc"),
    }


def _quiet() -> dict[str, Setting]:
    quiet: dict[str, Setting] = {
        "hinted_handoff_enabled": False,
        "dynamic_snitch": False,
        "auto_snapshot": False,
    }
    return quiet | dict.fromkeys(_TIMEOUTS, TIMEOUT)


def _memory(spec: LabSpec) -> dict[str, Setting]:
    memtable = f"{int(spec.heap // 2 // 2**20)}MiB"
    return {"memtable_heap_space": memtable, "memtable_offheap_space": memtable}


def _disk(spec: LabSpec) -> dict[str, Setting]:
    """Use read calls where memory is capped, direct writes where writes are.

    Mapped pages count against the memory limit and get the JVM killed; on control groups v1 buffered writes
    pass the write limit by.
    """
    chosen: dict[str, Setting] = {
        "commitlog_sync": "periodic",
        "commitlog_sync_period": "10s",
        "commitlog_total_space": "8192MiB",
    }
    if spec.memory is not None or spec.read_iops is not None:
        chosen["disk_access_mode"] = "standard"
    if spec.write_iops is not None:
        chosen["commitlog_disk_access_mode"] = "direct"
    return chosen


def _ring(plan: NodePlan) -> dict[str, Setting]:
    if plan.joins:
        return {"num_tokens": 16, "allocate_tokens_for_local_replication_factor": 3, "auto_bootstrap": True}
    return {
        "num_tokens": len(plan.tokens),
        "initial_token": ",".join(map(str, plan.tokens)),
        "auto_bootstrap": False,
    }
