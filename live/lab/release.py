"""Which Apache Cassandra a lab runs: fetched by Maven into a cache of the user, or an installation at hand.

The `pom.xml` beside this file names `org.apache.cassandra:cassandra-all`; Maven adds what it needs at run
time. A cache entry appears by one rename, so it is whole or not there.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from ...model.errors import RunError
from ...model.value import Value
from .spec import LabSpec

POM = Path(__file__).with_name("pom.xml")
Progress = Callable[[str], None]
"""Takes one line about what goes on."""
_JAR_VERSION = re.compile(r"(?:apache-cassandra|cassandra-all)-(\d[\w.]*?(?:-[\w.]+)?)\.jar$")


class Release(Value):
    """An Apache Cassandra that can be started."""

    version: str
    """Its version, as its jar says."""
    jars: str
    """The folder with its jars."""
    source: str
    """`maven` or `cassandra-home`."""

    @property
    def classpath(self) -> str:
        """The class path for `java -cp`."""
        return f"{self.jars}/*"

    @property
    def agent(self) -> Path | None:
        """The agent that measures objects, which Cassandra's own start script loads."""
        return next(iter(sorted(Path(self.jars).glob("jamm-*.jar"))), None)


def find_release(spec: LabSpec, progress: Progress) -> Release:
    """Return the release a spec asks for, fetching it when the cache does not have it."""
    if spec.cassandra_home is not None:
        return installed(Path(spec.cassandra_home))
    return fetched(spec.version, progress)


def installed(home: Path) -> Release:
    """Return the release installed under `home`, which has its jars in `lib`."""
    jars = home.expanduser().resolve() / "lib"
    version = _version(jars, f"--cassandra-home {home}")
    return Release(version=version, jars=str(jars), source="cassandra-home")


def fetched(version: str, progress: Progress) -> Release:
    """Return the release of that version from the cache, filled by Maven when need be."""
    jars = cache_directory() / f"cassandra-{version}-{_pom_digest()}"
    if not jars.is_dir():
        progress(f"fetching Apache Cassandra {version} by Maven, once (about a minute)")
        _fill(jars, version)
    return Release(version=_version(jars, str(jars)), jars=str(jars), source="maven")


def cache_directory() -> Path:
    """Return the folder for what can be fetched again."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "capmodel"


def _pom_digest() -> str:
    return hashlib.sha256(POM.read_bytes()).hexdigest()[:8]


def _version(jars: Path, place: str) -> str:
    names = sorted(path.name for path in jars.glob("*.jar")) if jars.is_dir() else []
    for name in names:
        if match := _JAR_VERSION.search(name):
            return match.group(1)
    raise RunError(f"{place}: no apache-cassandra jar in {jars}")


def _fill(jars: Path, version: str) -> None:
    jars.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jars.parent, prefix="fetching-") as folder:
        fresh = Path(folder) / "jars"
        _copy_dependencies(fresh, version)
        try:
            fresh.rename(jars)
        except OSError:
            if not jars.is_dir():  # otherwise another capmodel was faster, with the same jars
                raise


def _copy_dependencies(folder: Path, version: str) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise RunError("Apache Cassandra is fetched by Maven: install `mvn`, or give --cassandra-home")
    pom = shutil.copy(POM, folder.parent / "pom.xml")  # Maven writes beside the pom it is given
    call = [maven, "--batch-mode", "--quiet", "--file", str(pom), f"-Dcassandra.version={version}"]
    call += ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = [line for line in done.stdout.splitlines() if line.startswith("[ERROR]")]
        raise RunError(f"Maven could not fetch Apache Cassandra {version}: {' '.join(words[:2])}")
