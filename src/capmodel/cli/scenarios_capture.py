"""`capmodel scenarios capture`: a scenario from a live cluster, read and not written to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import load_options as given

EPILOG = """Examples:

  capmodel scenarios capture --contact-points 10.0.0.1 > mine.yaml

  capmodel scenarios capture --contact-points 10.0.0.1 --keyspace shop --table customers -o mine.yaml
"""
KeyspaceName = Annotated[str | None, typer.Option(help="Keyspace. [default: that of the busiest table]")]
TableName = Annotated[str | None, typer.Option(help="Table. [default: the busiest]")]
File = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of printing.")]


def capture(
    contact_points: given.ContactPoints = "127.0.0.1",
    port: given.Port = 9042,
    datacenter: given.Datacenter = None,
    username_env: given.UsernameEnv = None,
    password_env: given.PasswordEnv = None,
    credentials_file: given.CredentialsFile = None,
    tls: given.UseTls = False,
    ca_file: given.CaFile = None,
    cert_file: given.CertFile = None,
    key_file: given.KeyFile = None,
    no_verify: given.NoVerify = False,
    keyspace: KeyspaceName = None,
    table: TableName = None,
    output: File = None,
) -> None:
    """Write a scenario from what a live cluster says of itself; nothing is written to the cluster."""
    from ..live.load.capture import capture as capture_scenario
    from ..live.load.run import console_on
    from ..model.document import write_whole
    from ..model.scenario_file import dump_scenario

    secrets, encryption = (username_env, password_env, credentials_file), (tls, ca_file, cert_file, key_file, no_verify)
    with console_on(given.access_of(contact_points, port, datacenter, secrets, encryption)) as console:
        captured = capture_scenario(console, keyspace, table)
    missing = "".join(f"# not known, as in the default: {name}\n" for name in captured.missing)
    text = missing + dump_scenario(captured.scenario, differences=True)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(text, output)
