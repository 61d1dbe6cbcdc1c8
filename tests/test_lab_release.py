"""Where Apache Cassandra comes from: a stand-in for Maven, and a folder like an installation."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from capmodel.live.lab.release import POM, fetched, find_release, installed
from capmodel.live.lab.spec import LabSpec
from capmodel.model.errors import RunError

MAVEN = """#!/bin/sh
echo "$@" >> {calls}
for word; do case $word in
  -DoutputDirectory=*) folder=${{word#*=}};;
  -Dcassandra.version=*) version=${{word#*=}};;
esac; done
mkdir -p "$folder" && touch "$folder/cassandra-all-$version.jar" "$folder/jamm-0.4.0.jar"
{end}
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "capmodel"


def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str = "") -> Path:
    """Put a stand-in for `mvn` first on the path and return the file in which it notes its calls."""
    calls = tmp_path / "calls"
    script = tmp_path / "bin" / "mvn"
    script.parent.mkdir()
    script.write_text(MAVEN.format(calls=calls, end=end))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    return calls


def test_a_version_is_fetched_once(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = maven(tmp_path, monkeypatch)
    said: list[str] = []
    first, second = (fetched("5.0.6", said.append) for _ in range(2))

    assert first == second
    assert first.version == "5.0.6"
    assert first.agent is not None
    assert first.agent.name == "jamm-0.4.0.jar"
    assert len(calls.read_text().splitlines()) == len(said) == 1
    assert [entry.name for entry in cache.iterdir()] == [Path(first.jars).name]


def test_another_version_is_another_entry(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven(tmp_path, monkeypatch)
    jars = {fetched(version, lambda line: None).jars for version in ("5.0.5", "5.0.6")}

    assert len(jars) == len(list(cache.iterdir())) == 2


def test_a_failure_leaves_nothing_and_is_said(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven(tmp_path, monkeypatch, end="echo '[ERROR] no such version'; exit 1")

    with pytest.raises(RunError, match=r"could not fetch Apache Cassandra 9\.9.*no such version"):
        fetched("9.9", lambda line: None)
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("cache")
def test_without_maven_the_way_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RunError, match="--cassandra-home"):
        fetched("5.0.6", lambda line: None)


def test_an_installation_at_hand_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "apache-cassandra-4.1.7.jar").touch()
    release = find_release(LabSpec(cassandra_home=str(tmp_path)), lambda line: None)

    assert (release.version, release.source) == ("4.1.7", "cassandra-home")
    assert release.classpath == f"{tmp_path}/lib/*"
    assert release.agent is None


def test_a_folder_that_is_no_installation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no apache-cassandra jar"):
        installed(tmp_path)


def test_the_pom_names_cassandra_and_the_default_version() -> None:
    space = "{http://maven.apache.org/POM/4.0.0}"
    root = ElementTree.parse(POM).getroot()
    artifacts = [element.text for element in root.iter(f"{space}artifactId")]

    assert "cassandra-all" in artifacts
    assert [element.text for element in root.iter(f"{space}cassandra.version")] == [LabSpec().version]
