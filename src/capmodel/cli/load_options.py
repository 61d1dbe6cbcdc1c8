"""The options of `capmodel load run`, and what their words mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..live.load.access import Access, Credentials, Tls
    from ..live.load.plan import LoadPlan
    from ..model.rate_course import RateCourse

Scenario = Annotated[str, typer.Option(help="A shipped scenario's name, or a file.")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key, such as cluster.nodes=4.")]
ContactPoints = Annotated[str, typer.Option(help="Addresses of nodes, with commas between.")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="Port of the native protocol.")]
Datacenter = Annotated[str | None, typer.Option(help="Datacenter of the clients.")]
UsernameEnv = Annotated[str | None, typer.Option(help="Environment variable that holds the user.")]
PasswordEnv = Annotated[str | None, typer.Option(help="Environment variable that holds the password.")]
CredentialsFile = Annotated[
    Path | None, typer.Option(help="File with a line `username = …` and a line `password = …`.")
]
UseTls = Annotated[bool, typer.Option("--tls", help="Encrypt the connection.")]
CaFile = Annotated[str | None, typer.Option(help="Certificates that are trusted.")]
CertFile = Annotated[str | None, typer.Option(help="The client's own certificate.")]
KeyFile = Annotated[str | None, typer.Option(help="Its private key.")]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Do not check the node's certificate.")]
Backend = Annotated[str, typer.Option(help="acsylla (lean), python (cassandra-driver) or memory.")]
Duration = Annotated[str | None, typer.Option(help="Measured time. [default: 10s]")]
Operations = Annotated[int | None, typer.Option(help="Measure so many operations instead.")]
WarmUp = Annotated[str, typer.Option(help="A time, or auto: until the rates are flat.")]
ProcessCount = Annotated[int, typer.Option("--processes", help="Processes that send.")]
Seed = Annotated[int, typer.Option(help="Seed of operations, keys and values.")]
Course = Annotated[
    str | None, typer.Option(help="Rates over the measured time, such as 30s@500/s,60s@500/s..2000/s (a ramp).")
]
Rates = Annotated[Path | None, typer.Option(help="Rates to replay: a CSV file with columns t_s and rate_per_s.")]
Timeout = Annotated[str, typer.Option(help="After which a request counts as failed.")]
Coordinators = Annotated[str | None, typer.Option(help="Addresses that the clients talk to.")]
Keyspace = Annotated[str | None, typer.Option(help="Keyspace. [default: named after the replication]")]
Table = Annotated[str | None, typer.Option(help="Table. [default: named after the rows]")]
SeparateWrites = Annotated[
    bool, typer.Option("--separate-writes", help="Write to a table of its own, so that reads stay alike.")
]
TableOption = Annotated[list[str] | None, typer.Option(metavar="NAME=CQL", help="An option of the table, as CQL.")]
BatchShare = Annotated[float, typer.Option(help="Share of writes sent as batches of one partition.")]
BatchRows = Annotated[int, typer.Option(help="Rows of a batch.")]
Idle = Annotated[str, typer.Option(help="Time without load first, to know the nodes' own messages.")]
LabDirectory = Annotated[Path | None, typer.Option(help="The lab's directory, when it is not the usual one.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the measurement to this file.")]
HdrLog = Annotated[Path | None, typer.Option(help="Write an HDR interval log to this file.")]
Step = Annotated[str, typer.Option(help="Measured time of each load.")]
Objective = Annotated[str, typer.Option(help="An upper limit on a response time, such as p99<=20ms.")]
First = Annotated[str, typer.Option(help="Rate of the first probe.")]
AtMost = Annotated[str, typer.Option(help="Longest time of all probes.")]
ProbeWarmUp = Annotated[str, typer.Option(help="Load before the measured time of each probe.")]
StopLatency = Annotated[str | None, typer.Option(help="Give the run up when latency is beyond it, such as p99<=1s.")]
StopErrors = Annotated[str | None, typer.Option(help="Give the run up when more requests fail, such as 5%.")]
PrecisionOf = Annotated[
    str | None, typer.Option("--precision", help="Measure until it is known so well: 2% (rate) or p99=5%.")
]
As = Annotated[
    list[str] | None,
    typer.Option("--as", metavar="KIND", help="Carry operations out in another way: write=counter, read=range:1000."),
]
PlanOfRuns = Annotated[
    str | None,
    typer.Option("--plan", metavar="NAME|FILE", help="Make the runs of a plan that fit the cluster, to a folder."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the measurement as JSON.")]


def time_of(option: str, text: str) -> float:
    """Return a time in seconds from an option.

    Raises:
        InputError: a text that is no time.
    """
    from ..model.errors import InputError, Problem
    from ..model.units import parse_duration

    try:
        return float(str(parse_duration(text)))
    except ValueError:
        raise InputError([Problem(option, text, "a time such as 10s")]) from None


def rate_of(option: str, text: str) -> float:
    """Return a rate per second from an option.

    Raises:
        InputError: a text that is no rate above 0.
    """
    from ..model.errors import InputError, Problem
    from ..model.units import parse_rate

    try:
        rate = float(str(parse_rate(text)))
    except ValueError:
        rate = 0.0
    if rate <= 0:
        raise InputError([Problem(option, text, "a rate above 0 such as 500/s")])
    return rate


def warm_up_of(text: str) -> float | None:
    """Return a warm-up in seconds, None for `auto`."""
    return None if text == "auto" else time_of("--warm-up", text)


def course_of(text: str | None, file: Path | None) -> RateCourse | None:
    """Return the course of rates that one of two options gives, None when none does.

    Raises:
        InputError: both, or a course that is none.
    """
    from ..model.errors import InputError, Problem
    from ..model.rate_course import parse_course, read_rates

    if text is not None and file is not None:
        raise InputError([Problem("--course, --rates", (text, str(file)), "one of them")])
    if file is not None:
        return read_rates(file)
    return None if text is None else parse_course(text)


def share_of(option: str, text: str) -> float:
    """Return a share from text such as `5%` or `0.05`.

    Raises:
        InputError: no number from 0 to 1.
    """
    from ..model.errors import InputError, Problem

    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError([Problem(option, text, "a share from 0 to 1, such as 5%")])
    return share


def ending_of(
    plan: LoadPlan, latency: str | None, errors: str | None, precision: str | None, as_: Sequence[str] | None
) -> LoadPlan:
    """Return a plan with what may end it before its time, and with other ways to carry operations out.

    Raises:
        InputError: a text that is no limit.
    """
    from dataclasses import replace

    from ..live.load.carried import parse_carried
    from ..live.load.stopping import Precision, StopConditions
    from ..model.objective import parse_objectives

    limit = parse_objectives([latency])[0] if latency else None
    stop = StopConditions(limit, share_of("--stop-errors", errors) if errors else None)
    plan = replace(plan, carried=tuple(parse_carried(text) for text in as_ or ()))
    if precision is None:
        return replace(plan, stop=stop)
    statistic, _, share = precision.rpartition("=")
    wanted = Precision(share_of("--precision", share), statistic or "rate")
    return replace(plan, stop=stop, precision=wanted)


def words_of(text: str | None) -> tuple[str, ...]:
    """Return the words of a list with commas.

    >>> words_of("10.0.0.1, 10.0.0.2")
    ('10.0.0.1', '10.0.0.2')
    """
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def table_options_of(given: Sequence[str] | None) -> dict[str, str]:
    """Return table options by name.

    Raises:
        InputError: one that is not `name=text`.
    """
    from ..model.errors import InputError, Problem

    right = "NAME=CQL, such as gc_grace_seconds=60"
    wrong = [Problem("--table-option", text, right) for text in given or () if "=" not in text]
    if wrong:
        raise InputError(wrong)
    return {name.strip(): text.strip() for name, _, text in (each.partition("=") for each in given or ())}


def access_of(
    contact_points: str,
    port: int,
    datacenter: str | None,
    secrets: tuple[str | None, str | None, Path | None],
    encryption: tuple[bool, str | None, str | None, str | None, bool],
) -> Access:
    """Return how to reach the cluster.

    Args:
        contact_points: addresses with commas.
        port: of all of them.
        datacenter: of the clients.
        secrets: variables of user and password, or a file with both.
        encryption: whether to encrypt; certificates that are trusted; own certificate and key; not to check.
    """
    from ..live.load.access import Access
    from ..model.errors import InputError, Problem

    points = words_of(contact_points)
    if not points:
        raise InputError([Problem("--contact-points", contact_points, "one address or more")])
    return Access(points, port, datacenter, _credentials(*secrets), _tls(*encryption))


def _credentials(username: str | None, password: str | None, file: Path | None) -> Credentials | None:
    from ..live.load.access import credentials_from_environment, credentials_from_file
    from ..model.errors import InputError, Problem

    if file is not None:
        return credentials_from_file(file)
    if (username is None) != (password is None):
        raise InputError([Problem("--username-env, --password-env", (username, password), "both or none")])
    return credentials_from_environment(username, password) if username and password else None


def _tls(wanted: bool, ca_file: str | None, cert_file: str | None, key_file: str | None, no_verify: bool) -> Tls | None:
    from ..live.load.access import Tls

    if not (wanted or ca_file or cert_file):
        return None
    return Tls(ca_file, cert_file, key_file, verify=not no_verify)
