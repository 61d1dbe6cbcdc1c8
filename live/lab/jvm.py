"""Starting the JVM of a node: options, pinning, control group, files. The only place that starts one.

A short shell script enters the node's control groups, and only then turns into the JVM, so that nothing the
node does escapes its caps. The JVM leads a session of its own: Ctrl-C at a terminal does not reach it.
Everything it writes lies under the node's folder, also what libraries unpack, so that a killed node leaves
nothing elsewhere.

Options: client compiler and serial collector, because the optimising compiler takes minutes to settle under
a cap (docs/decisions/0010-lab.md). The module exports and opens are those that Cassandra's
`jvm17-server.options` lists.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from ...model.errors import RunError
from .layout import NodePlan
from .process import ProcessId, identify_child
from .release import Release
from .spec import LabSpec

_STUDIED = ("-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1", "-Xss256k")
_NOTHING_LEFT = ("-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError")
_EXPORTS = (
    "java.base/jdk.internal.misc",
    "java.base/java.lang.ref",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "jdk.attach/sun.tools.attach",
    "jdk.compiler/com.sun.tools.javac.file",
    "jdk.unsupported/sun.misc",
)
_OPENS = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.util",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "jdk.compiler/com.sun.tools.javac",
    "jdk.management/com.sun.management.internal",
)
_CASSANDRA = (
    "-Djdk.attach.allowAttachSelf=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.useCacheForAllThreads=true",
    "-Dio.netty.allocator.maxOrder=11",
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra-foreground=yes",
)
_RING_DELAY_MS = 2_000
"""How long a join waits for the ring to settle; Cassandra's 30 s is for real networks."""
_PATIENT_RING_DELAY_MS = 30_000
"""A node that starts together with its seed gives up asking it after twice this."""
_DAEMON = "org.apache.cassandra.service.CassandraDaemon"
_ENTER_THEN_BECOME = """\
cd "$1" || exit 96
shift
while [ "$1" != -- ]; do echo $$ > "$1" || exit 97; shift; done
shift
exec "$@"
"""
_LOGBACK = """\
<configuration>
  <appender name="LOG" class="ch.qos.logback.core.FileAppender">
    <file>{log}</file>
    <append>false</append>
    <encoder><pattern>%-5level [%thread] %date{{ISO8601}} %logger{{0}} - %msg%n</pattern></encoder>
  </appender>
  <logger name="org.apache.cassandra.service.StorageService" level="DEBUG"/>
  <root level="INFO"><appender-ref ref="LOG"/></root>
</configuration>
"""


def marker(lab_id: str) -> str:
    """Return the argument by which every process of a lab can be found."""
    return f"-Dcapmodel.lab={lab_id}"


def java() -> str:
    """Return the path of `java`: that of JAVA_HOME, or the first on the path."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin" if home else None)
    if found is None:
        raise RunError("no `java` found: Apache Cassandra 5.0 needs a Java 17 runtime (JAVA_HOME or PATH)")
    return found


def arguments(plan: NodePlan, spec: LabSpec, release: Release, home: Path, lab_id: str) -> list[str]:
    """Return the command line of a node's JVM, pinned to its core."""
    heap = f"{int(spec.heap // 2**20)}M"
    memory = [f"-Xms{heap}", f"-Xmx{heap}", *_STUDIED, *_NOTHING_LEFT]
    agent = [f"-javaagent:{release.agent}"] if release.agent else []
    ring_delay_ms = _PATIENT_RING_DELAY_MS if plan.waits_for_seed else _RING_DELAY_MS
    own = [marker(lab_id), f"-Dcassandra.ring_delay_ms={ring_delay_ms}", *_files(home), *spec.jvm_options]
    own.append(f"-Dcassandra.jmx.local.port={plan.jmx_port}")
    head = ["taskset", "-c", str(plan.core), java(), *agent, *memory, *module_options(), *_CASSANDRA]
    return [*head, *own, "-cp", release.classpath, _DAEMON]


def module_options() -> list[str]:
    """Return the options that let Cassandra's classes reach into the runtime's modules."""
    exports = [f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTS]
    return exports + [f"--add-opens={name}=ALL-UNNAMED" for name in _OPENS]


def _files(home: Path) -> list[str]:
    return [
        f"-Dcassandra.config=file://{home}/cassandra.yaml",
        f"-Dcassandra-rackdc.properties=file://{home}/cassandra-rackdc.properties",
        f"-Dlogback.configurationFile={home}/logback.xml",
        f"-Dcassandra.storagedir={home}",
        f"-Dcassandra.logdir={home}",
        f"-Djava.io.tmpdir={home}/tmp",
        f"-XX:ErrorFile={home}/jvm-error.log",
    ]


def write_files(home: Path, log: Path) -> None:
    """Write what a node reads beside its `cassandra.yaml`."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    (home / "logback.xml").write_text(_LOGBACK.format(log=log))
    (home / "cassandra-rackdc.properties").write_text("dc=dc1\nrack=rack1\n")
    log.unlink(missing_ok=True)


def spawn(command: Sequence[str], home: Path, console: Path, entrances: Sequence[Path]) -> ProcessId:
    """Start `command` in `home` and inside the control groups behind `entrances`; return its identity."""
    script = ["sh", "-c", _ENTER_THEN_BECOME, "sh", str(home), *map(str, entrances), "--", *command]
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(console), write, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    usual = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)
    pid = os.posix_spawn(
        "/bin/sh", script, os.environ, file_actions=files, setsid=True, setsigdef=usual, setsigmask=()
    )
    return identify_child(pid)
