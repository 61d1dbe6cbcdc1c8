"""Che's approximation on chunks against a simulated least-recently-used cache, and against what must hold."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise

import numpy as np
import pytest

from capmodel.live.load.keys import draw_partitions
from capmodel.model.page_cache import cache_hit, hit_ratio
from capmodel.model.scenario_file import load_scenario
from capmodel.model.topology import nodes_of
from capmodel.model.workload import Popularity, Workload

PARTITIONS = 40_000
UNIFORM = Popularity(kind="uniform")
ZIPF = Popularity(kind="zipf", exponent=0.99)
HOT = Popularity(kind="hot_set", hot_partitions=400, hot_share=0.8)


def simulated(workload: Workload, cached_share: float, per_chunk: int) -> float:
    """Return the hit share of a cache of whole chunks, partitions dealt to chunks by chance."""
    rng = np.random.default_rng(5)
    chunk_of = rng.permutation(PARTITIONS) // per_chunk
    room = round(cached_share * PARTITIONS / per_chunk)
    asked = chunk_of[draw_partitions(workload, rng, 400_000)]
    cache: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for number, chunk in enumerate(asked.tolist()):
        if chunk in cache:
            cache.move_to_end(chunk)
            hits += number >= 200_000
        else:
            cache[chunk] = None
            if len(cache) > room:
                cache.popitem(last=False)
    return hits / 200_000


@pytest.mark.parametrize("popularity", [UNIFORM, ZIPF, HOT], ids=lambda one: one.kind)
@pytest.mark.parametrize(("cached_share", "per_chunk"), [(0.05, 1), (0.05, 16), (0.3, 1), (0.3, 16), (0.8, 4)])
def test_as_a_simulated_cache(popularity: Popularity, cached_share: float, per_chunk: int) -> None:
    workload = Workload(partitions=PARTITIONS, popularity=popularity)
    expected = simulated(workload, cached_share, per_chunk)
    assert hit_ratio(workload, cached_share, per_chunk) == pytest.approx(expected, abs=0.01)


def test_chunks_dilute_hot_rows() -> None:
    """Negative control: leaving chunks out is far off where rows are small."""
    workload = Workload(partitions=PARTITIONS, popularity=ZIPF)
    assert hit_ratio(workload, 0.05, 1) > hit_ratio(workload, 0.05, 16) + 0.1


def test_uniform_rows_hit_as_often_as_data_is_cached() -> None:
    for per_chunk in (1.0, 7.5, 100.0):
        assert hit_ratio(Workload(partitions=10**9), 0.37, per_chunk) == pytest.approx(0.37, abs=1e-4)


@pytest.mark.parametrize("popularity", [UNIFORM, ZIPF, HOT], ids=lambda one: one.kind)
def test_more_memory_never_lowers_hits(popularity: Popularity) -> None:
    workload = Workload(partitions=10**8, popularity=popularity)
    hits = [hit_ratio(workload, share, 20.0) for share in np.linspace(0, 1.2, 25)]
    assert hits[0] == 0 and hits[-1] == 1
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(hits))


def test_nodes_bring_memory() -> None:
    """The hit share of a scenario grows with its nodes until all data is in memory; given shares are taken."""
    def hit(nodes: int, *changes: str) -> float:
        scenario = load_scenario("default", [f"cluster.nodes={nodes}", "workload.partitions=500000000", *changes])
        return cache_hit(scenario, nodes_of(scenario))

    hits = [hit(nodes) for nodes in (3, 6, 12, 48)]
    assert hits == sorted(hits) and hits[0] < 0.5 and hits[-1] == 1.0
    assert hit(3, "workload.popularity={kind: zipf}") > hits[0]
    assert hit(3, "workload.cache_hit=0.25") == 0.25
