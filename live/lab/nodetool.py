"""Cassandra's own `nodetool` on a lab node: flush, compaction and what else CQL cannot say."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ...model.errors import RunError
from .jvm import java, module_options
from .record import Lab, NodeRecord

_CLASS = "org.apache.cassandra.tools.NodeTool"
_QUICK = ("-Xmx64M", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto")
_WITHIN_S = 120.0


def nodetool(lab: Lab, node: NodeRecord, *arguments: str) -> str:
    """Return what `nodetool` prints for `arguments`, such as `flush`.

    Raises:
        RunError: it failed; the message holds its last line.
    """
    place = ["-h", "127.0.0.1", "-p", str(node.plan.jmx_port)]
    options = [*_QUICK, *module_options(), *_files(lab.home(node)), "-cp", lab.release.classpath]
    command = [java(), *options, _CLASS, *place, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_WITHIN_S)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no word"]
        raise RunError(f"nodetool {' '.join(arguments)} on {node.name}: {lines[0]}")
    return done.stdout


def _files(home: Path) -> list[str]:
    """Keep its log silent, and its history of commands with the node."""
    silent = home / "logback-tools.xml"
    silent.write_text("<configuration/>\n")
    places = {"cassandra.storagedir": home, "user.home": home, "java.io.tmpdir": home / "tmp"}
    return [f"-D{name}={place}" for name, place in places.items()] + [f"-Dlogback.configurationFile={silent}"]
