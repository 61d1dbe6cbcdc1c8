"""The page cache of a node: which share of its row reads finds its chunk in memory.

A file is read in compression chunks; a chunk holds neighbours in the ring, whose popularity has nothing to do with
each other, so a cold row beside a hot one is in memory with it. By Che's approximation a chunk is in a
least-recently-used cache when it was asked for within a characteristic time T, the same for all:

    occupied share of chunks  1 - F ** m                         = cache / data, which gives T
    hit share of requests     1 - sum_k p_k exp(-p_k T) F ** (m - 1)

with m partitions a chunk, p_k the share of requests for the k-th, and F the mean of exp(-p_k T) over partitions.
Sums over many ranks are integrals in the logarithm of the rank beyond the first ranks.

Source: H. Che, Y. Tung, Z. Wang, "Hierarchical Web caching systems" (2002); C. Fricker, P. Robert, J. Roberts, "A
versatile and accurate approximation for LRU cache performance" (2012), why it is exact for large caches.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .popularity import partition_share
from .replication import factors_of
from .scenario import Scenario
from .topology import Node
from .versions import version_facts
from .workload import Workload

Floats = NDArray[np.float64]

STORAGE_OVERHEAD_RATIO = 0.5
"""Bytes on disk per byte of payload beyond the payload: row and cell headers, index, bloom filter, minus
compression. A coarse figure (±30 %) until the storage engine has its own model; give `workload.cache_hit` where
it is known."""
UNCOMPRESSED_CHUNK_BYTES = 4096
"""Read unit of a table without compression: a page."""
ONE_BY_ONE, GRID = 2_000, 4_000
"""Ranks summed one by one, and points of the integral over the others."""
MOST_LOG_TIME = 80.0
"""Logarithm of the longest characteristic time that is looked at, in requests over the mean time between two of one
partition."""


def cache_hit(scenario: Scenario, nodes: tuple[Node, ...]) -> float:
    """Return the share of reads served from memory: given, or by Che's approximation from RAM and data per node."""
    workload = scenario.workload
    if workload.cache_hit is not None:
        return workload.cache_hit
    copies = sum(factors_of(scenario.cluster, nodes).values()) / len(nodes)
    own_bytes = partition_bytes(workload)
    data_bytes = workload.partitions * own_bytes * copies
    hardware = scenario.hardware
    cache_bytes = max(0.0, hardware.ram - hardware.heap - hardware.off_heap)
    return hit_ratio(workload, cache_bytes / data_bytes, max(1.0, chunk_bytes(scenario) / own_bytes))


def partition_bytes(workload: Workload) -> float:
    """Return the bytes that one partition takes on the disks of one replica."""
    return workload.rows_per_partition * workload.row_bytes * (1 + STORAGE_OVERHEAD_RATIO)


def chunk_bytes(scenario: Scenario) -> float:
    """Return the bytes that a read of one row brings into memory."""
    given = scenario.cluster.table.compression_chunk
    usual = version_facts(scenario.cluster.version).compression_chunk_bytes
    return float(given or usual or UNCOMPRESSED_CHUNK_BYTES)


def hit_ratio(workload: Workload, cached_share: float, per_chunk: float) -> float:
    """Return the share of requests that find their chunk in memory.

    Args:
        workload: partitions and their popularity.
        cached_share: memory over data.
        per_chunk: partitions in a chunk, 1 or more.
    """
    if cached_share >= 1:
        return 1.0
    if cached_share <= 0:
        return 0.0
    ranks, weight = _ranks(workload.partitions)
    share = partition_share(workload, ranks)
    mean = 1 / workload.partitions

    def untouched(log_time: float) -> float:
        """Return the mean of exp(-p T) over partitions."""
        return float(weight @ np.exp(-share / mean * math.exp(log_time))) / workload.partitions

    def excess(log_time: float) -> float:
        return 1.0 - float(untouched(log_time) ** per_chunk) - cached_share

    log_time = float(brentq(excess, -MOST_LOG_TIME, MOST_LOG_TIME, xtol=1e-9)) if excess(MOST_LOG_TIME) > 0 else None
    if log_time is None:
        return 1.0
    missed = float((weight * share) @ np.exp(-share / mean * math.exp(log_time))) / float(weight @ share)
    return 1.0 - missed * float(untouched(log_time) ** (per_chunk - 1))


def _ranks(partitions: int) -> tuple[Floats, Floats]:
    """Return ranks and how many partitions each stands for: the first one by one, the others in logarithmic steps."""
    if partitions <= ONE_BY_ONE + GRID:
        return np.arange(1.0, partitions + 1), np.ones(partitions)
    edges = np.geomspace(ONE_BY_ONE + 0.5, partitions + 0.5, GRID + 1)
    ranks = np.concatenate([np.arange(1.0, ONE_BY_ONE + 1), np.sqrt(edges[1:] * edges[:-1])])
    return ranks, np.concatenate([np.ones(ONE_BY_ONE), np.diff(edges)])
