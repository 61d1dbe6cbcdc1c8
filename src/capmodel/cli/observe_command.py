"""`capmodel observe`: what a cluster does, without any load of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import load_options as given

if TYPE_CHECKING:
    from ..live.load.access import Access
    from ..live.load.console import Console
    from ..live.load.node_probe import NodeProbe
    from ..model.measurement import Measurement

EPILOG = """Examples:

  capmodel observe --contact-points 10.0.0.1 --minutes 10 -o observed.json

  capmodel observe --contact-points 10.0.0.1 --node-exporter 9100
"""
Minutes = Annotated[float, typer.Option(min=0.01, help="How long to watch.")]
ExporterPort = Annotated[int | None, typer.Option(help="Port of the node exporter of each node, for its CPU.")]


def observe(
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
    minutes: Minutes = 10.0,
    node_exporter: ExporterPort = None,
    lab_directory: given.LabDirectory = None,
    output: given.Output = None,
    json_: given.AsJson = False,
) -> None:
    """Watch a cluster for some minutes by its own counters; nothing is written to it."""
    from ..model.measurement_file import dump_measurement, write_measurement
    from ..report.measurement_text import measurement_text

    secrets, encryption = (username_env, password_env, credentials_file), (tls, ca_file, cert_file, key_file, no_verify)
    access = given.access_of(contact_points, port, datacenter, secrets, encryption)
    measurement = _observed(access, minutes * 60, node_exporter, lab_directory)
    if output is not None:
        write_measurement(measurement, output)
    typer.echo(dump_measurement(measurement) if json_ else measurement_text(measurement), nl=not json_)


def _observed(access: Access, duration_s: float, exporter: int | None, directory: Path | None) -> Measurement:
    from ..live.load.interruption import interruptions
    from ..live.load.observation import observe as watch
    from ..live.load.run import console_on
    from .load_view import LoadView

    view = LoadView()
    try:
        with console_on(access) as console, interruptions() as interruption:
            return watch(console, duration_s, interruption, view.show, _probe(console, access, exporter, directory))
    finally:
        view.close()


def _probe(console: Console, access: Access, exporter: int | None, directory: Path | None) -> NodeProbe | None:
    """Return what reads the nodes' machines: their exporters when told, the lab when they are of it."""
    from ..live.load.lab_probe import lab_probe
    from ..live.load.node_exporter import NodeExporterProbe

    if exporter is not None:
        return NodeExporterProbe([node.address for node in console.nodes if node.up], exporter)
    return lab_probe(access.contact_points, directory)
