"""The stub that speaks the native protocol, and the generator's test of itself against it."""

from __future__ import annotations

import asyncio
import socket
import struct
from pathlib import Path

import pytest

from capmodel.live.load.backends import backend_of
from capmodel.live.load.ceiling import Ceiling, ceiling_file, known_ceiling, machine_words, store_ceiling, versions_of
from capmodel.live.load.run import console_on
from capmodel.live.load.session import Approach, BackendFacts, Statement
from capmodel.live.stub.notation import HEADER_BYTES, RESPONSE_VERSION, Opcode
from capmodel.live.stub.running import Stub, StubCounts, read_counts, running_stub
from capmodel.live.stub.selftest import Step, self_test
from capmodel.model.workload import ConsistencyLevel

INSERT = "INSERT INTO ks.t (key, c0, c1) VALUES (?, ?, ?)"
SELECT = "SELECT c0, c1 FROM ks.t WHERE key = ?"
FACTS = BackendFacts("acsylla", 2.0, {"acsylla": "1"})


@pytest.fixture(scope="module")
def stub() -> Stub:  # type: ignore[misc]
    with running_stub(cell_bytes=7) as running:
        yield running


def test_a_driver_writes_and_reads_through_it(stub: Stub) -> None:
    """A read returns one row; a write none; nothing fails."""
    loop = asyncio.new_event_loop()
    heard: dict[str, tuple[str | None, int]] = {}
    with backend_of("python", stub.access, Approach()).session(loop, 0) as session:
        for cql, values in ((INSERT, (b"k", b"1", b"2")), (SELECT, (b"k",))):
            handle = session.prepare(Statement(cql, ConsistencyLevel.ONE))

            def done(at_s: float, error: str | None, rows: int, cql: str = cql) -> None:
                heard[cql] = (error, rows)
                if len(heard) == 2:
                    loop.stop()

            session.send(handle, values, done)
        loop.call_later(10, loop.stop)
        loop.run_forever()
    loop.close()
    assert heard == {INSERT: (None, 0), SELECT: (None, 1)}


def test_it_tells_what_it_did(stub: Stub) -> None:
    with console_on(stub.access) as console:
        before = read_counts(console)
        for _ in range(10):
            console.ask("SELECT cluster_name FROM system.local")
        after = read_counts(console).since(before)
    assert after.frames == 11, "ten and the reading itself"
    assert 0 < after.busy_ratio <= 1 and after.ceiling_per_s is not None and after.ceiling_per_s > 0
    assert StubCounts(500, 0.25, 1.0).ceiling_per_s == 2000 and StubCounts(1, 0.25, 0.5).busy_ratio == 0.5


def frame(opcode: int, stream: int, body: bytes = b"") -> bytes:
    return struct.pack(">BBHBI", 4, 0, stream, opcode, len(body)) + body


def test_frames_in_pieces_are_answered_in_order_with_their_streams(stub: Stub) -> None:
    sent = b"".join(frame(Opcode.OPTIONS, stream) for stream in (7, 300, 2)) + frame(Opcode.STARTUP, 1, b"\0\0")
    with socket.create_connection(("127.0.0.1", stub.access.port), timeout=5) as client:
        for at in range(0, len(sent), 5):
            client.sendall(sent[at : at + 5])
        data = b""
        while len(found := heads(data)) < 4:
            data += client.recv(4096)
    assert found == [(RESPONSE_VERSION, 7, 6), (RESPONSE_VERSION, 300, 6), (RESPONSE_VERSION, 2, 6), (0x84, 1, 2)]


def heads(data: bytes) -> list[tuple[int, int, int]]:
    """Return version, stream and opcode of all whole frames."""
    found, at = [], 0
    while at + HEADER_BYTES <= len(data):
        version, _, stream, opcode, length = struct.unpack_from(">BBHBI", data, at)
        at += HEADER_BYTES + length
        if at <= len(data):
            found.append((version, stream, opcode))
    return found


def step(rate: float, busy: float, asked: float | None = None, lag_s: float | None = None) -> Step:
    return Step(None if asked else 8, asked, rate, 1e-4, 1e-3, 2e-5, lag_s, StubCounts(100, busy, 1.0))


def test_a_figure_is_void_when_the_stub_was_busy() -> None:
    assert step(1e4, 0.81).void and not step(1e4, 0.79).void


def test_starts_are_kept_by_rate_and_lag() -> None:
    assert step(990.0, 0.1, 1000.0, 0.001).kept
    assert not step(970.0, 0.1, 1000.0, 0.001).kept and not step(1000.0, 0.1, 1000.0, 0.003).kept


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_a_ceiling_is_known_on_the_same_machine_with_the_same_versions_only(state: Path) -> None:
    assert known_ceiling(FACTS) is None
    ceiling = Ceiling(
        backend="acsylla", versions=dict(versions_of(FACTS)), machine=machine_words(), closed_per_s=5e4,
        open_per_s=None, floor_s=1e-4, cpu_per_operation_s=2e-5, stub_busy_ratio=0.2,
    )
    assert store_ceiling(ceiling) == ceiling_file("acsylla")
    assert known_ceiling(FACTS) == ceiling
    assert known_ceiling(BackendFacts("acsylla", 2.0, {"acsylla": "2"})) is None
    store_ceiling(ceiling.model_copy(update={"machine": "another"}))
    assert known_ceiling(FACTS) is None
    ceiling_file("acsylla").write_text("{broken")
    assert known_ceiling(FACTS) is None


def test_the_generator_finds_its_ceiling() -> None:
    """More than one request at a time is faster than one at a time, and no figure is the stub's own limit."""
    shown: list[Step] = []
    found = self_test("acsylla", 0.5, shown.append)
    one = found.steps[0]
    assert found.ceiling.closed_per_s > 2 * one.rate_per_s and found.ceiling.stub_busy_ratio < 0.8
    assert found.ceiling.floor_s == one.p50_s < 0.01
    assert shown == list(found.steps) and any(each.asked_per_s for each in shown)
