"""Version facts against what the releases' own configuration files and classes say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from capmodel.model.errors import InputError
from capmodel.model.versions import VersionFacts, known_versions, version_facts

PAGE = Path(__file__).parents[1] / "docs" / "background" / "versions.md"
SERIES = ("0.6", "0.7", "0.8", "1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "3.0", "3.11", "4.0", "4.1", "5.0")


def test_all_series_are_known_in_order() -> None:
    assert known_versions() == SERIES


@pytest.mark.parametrize(
    ("version", "name", "value"),
    [
        ("0.6", "concurrent_reads", 8),  # storage-conf.xml 0.6.13
        ("0.6", "dynamic_snitch", False),
        ("0.7.0", "concurrent_reads", 8),  # conf/cassandra.yaml 0.7.0
        ("0.7.1", "concurrent_reads", 32),
        ("0.8", "read_repair_chance", 1.0),  # CFMetaData 0.8.10
        ("1.0", "read_repair_chance", 0.1),  # CASSANDRA-3169
        ("1.0", "dynamic_snitch_badness_threshold", 0.1),  # CASSANDRA-3229
        ("1.2", "num_tokens", 1),  # Config 1.2.19; a comment in the file
        ("2.0.1", "speculative_retry", None),  # CFMetaData 2.0.1: NONE
        ("2.0.2", "speculative_retry", "99PERCENTILE"),  # CFMetaData 2.0.2
        ("2.0.8", "read_repair_chance", 0.1),  # CASSANDRA-7320 is in 2.0.9
        ("2.0.9", "read_repair_chance", 0.0),
        ("2.0.9", "dclocal_read_repair_chance", 0.1),
        ("2.0", "inline_local", False),
        ("2.1", "inline_local", True),  # CASSANDRA-4718
        ("3.11", "compression_chunk_bytes", 65536),
        ("4.0", "compression_chunk_bytes", 16384),  # CASSANDRA-13241
        ("4.0", "num_tokens", 16),  # CASSANDRA-13701
        ("4.0", "dynamic_snitch_badness_threshold", 1.0),
        ("5.0", "lightweight_transactions", ("v1", "v2")),
        ("5.0", "native_transport_max_threads", 128),
    ],
)
def test_published_defaults(version: str, name: str, value: object) -> None:
    assert getattr(version_facts(version), name) == value


@pytest.mark.parametrize(
    ("version", "series"),
    [
        ("5.0.6", "5.0"),
        ("3.0.0-SNAPSHOT", "3.0"),
        ("4.0.1", "4.0"),
        ("4.0-beta3", "4.0"),
        ("5.0-rc1", "5.0"),
        ("3.7", "3.11"),
        (" 2.1 ", "2.1"),
        ("3.11.10.1", "3.11"),
    ],
)
def test_series_of_a_version(version: str, series: str) -> None:
    assert version_facts(version).series == series


@pytest.mark.parametrize("version", ["6.0", "2.3", "4", "", "five", "3.12", "4.0;", "0.0"])
def test_unknown_versions_are_refused_with_the_known_ones(version: str) -> None:
    with pytest.raises(InputError, match=r"known are 0\.6, .* 5\.0"):
        version_facts(version)


@pytest.mark.parametrize(
    ("version", "chance"), [("0.6", 1.0), ("1.1", 0.1), ("2.0.8", 0.1), ("2.0.9", 0.1), ("3.11", 0.1), ("4.0", 0.0)]
)
def test_background_contact_is_the_larger_chance(version: str, chance: float) -> None:
    assert version_facts(version).background_contact == chance


@pytest.mark.parametrize("series", SERIES)
def test_every_value_has_a_source(series: str) -> None:
    facts = version_facts(series)
    without = set(VersionFacts.model_fields) - {"series", "sources"} - set(facts.sources)
    assert not without
    assert all(len(source) > 3 for source in facts.sources.values())


def row_of(series: str) -> list[str]:
    """Return the row that the page must have for a series."""
    facts = version_facts(series)
    chunk = facts.compression_chunk_bytes
    return [
        series,
        f"{facts.background_contact:g}",
        f"{facts.dynamic_snitch_badness_threshold:g}",
        facts.speculative_retry or "–",
        str(facts.concurrent_reads),
        str(facts.native_transport_max_threads or "–"),
        "yes" if facts.inline_local else "no",
        f"{chunk // 1024} KiB" if chunk else "–",
        str(facts.num_tokens),
        facts.counters,
        ", ".join(facts.lightweight_transactions) or "–",
        "yes" if facts.batchlog else "no",
    ]


@pytest.mark.parametrize("series", SERIES)
def test_the_page_says_what_the_data_says(series: str) -> None:
    rows = [re.split(r"\s*\|\s*", line)[1:-1] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    assert row_of(series) in rows
