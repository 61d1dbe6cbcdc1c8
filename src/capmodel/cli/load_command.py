"""`capmodel load`: drive a cluster and measure it."""

from __future__ import annotations

import typer

from . import load_options as given

app = typer.Typer(no_args_is_help=True, help="Drive a cluster as a scenario says, and measure it.")
EPILOG = """Examples:

  capmodel load run --contact-points 127.0.0.1 --set cluster.nodes=1 --set cluster.replication.factor=1 -o run.json

  capmodel load run --set clients.rate=2000/s --set clients.arrivals=constant --duration 60s -o open.json

  capmodel load run --plan coordinators --contact-points 10.0.0.1 -o measurements/

  capmodel load run --scenario mine.yaml --contact-points 10.0.0.1,10.0.0.2 --username-env USER --password-env PASS
"""


@app.callback()
def load() -> None:
    """Drive a cluster as a scenario says, and measure it."""


@app.command("run", epilog=EPILOG)
def run(
    scenario: given.Scenario = "default",
    set_: given.Set = None,
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
    backend: given.Backend = "acsylla",
    duration: given.Duration = None,
    operations: given.Operations = None,
    warm_up: given.WarmUp = "auto",
    processes: given.ProcessCount = 1,
    seed: given.Seed = 1,
    timeout: given.Timeout = "12s",
    coordinators: given.Coordinators = None,
    keyspace: given.Keyspace = None,
    table: given.Table = None,
    separate_writes: given.SeparateWrites = False,
    table_option: given.TableOption = None,
    as_: given.As = None,
    batch_share: given.BatchShare = 0.0,
    batch_rows: given.BatchRows = 10,
    course: given.Course = None, rates: given.Rates = None,
    stop_latency: given.StopLatency = None,
    stop_errors: given.StopErrors = None,
    precision: given.PrecisionOf = None,
    idle: given.Idle = "0s",
    lab_directory: given.LabDirectory = None,
    plan_of_runs: given.PlanOfRuns = None,
    output: given.Output = None,
    hdr_log: given.HdrLog = None,
    json_: given.AsJson = False,
) -> None:
    """Drive a cluster with a closed or an open load and measure it; Ctrl-C ends early and keeps what there is."""
    from .load_plan import Driven, asked_of, drive_all, plan_of

    changing, ways = given.course_of(course, rates), (stop_latency, stop_errors, precision, as_)
    plan = plan_of(duration, operations, warm_up, processes, seed, timeout, coordinators, idle, changing)
    rows = (keyspace, table, separate_writes, given.table_options_of(table_option), batch_share, batch_rows)
    secrets, encryption = (username_env, password_env, credentials_file), (tls, ca_file, cert_file, key_file, no_verify)
    what = (asked_of(scenario, set_, changing), given.access_of(contact_points, port, datacenter, secrets, encryption))
    plan = given.ending_of(plan.on(*rows), *ways)
    drive_all(plan_of_runs, set_ or [], Driven(*what, plan, backend, lab_directory, output, hdr_log, json_))


@app.command("selftest")
def selftest(
    backend: given.Backend = "acsylla",
    step: given.Step = "3s",
    json_: given.AsJson = False,
) -> None:
    """Find the ceiling and the latency floor of this generator on this machine, and store them for later verdicts."""
    from .load_selftest import selftest as run_selftest

    run_selftest(backend, given.time_of("--step", step), json_)


@app.command("find-max")
def find_max(
    objective: given.Objective,
    scenario: given.Scenario = "default",
    set_: given.Set = None,
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
    backend: given.Backend = "acsylla",
    first: given.First = "100/s",
    at_most: given.AtMost = "15min",
    probe_warm_up: given.ProbeWarmUp = "1s",
    processes: given.ProcessCount = 1,
    seed: given.Seed = 1,
    timeout: given.Timeout = "12s",
    lab_directory: given.LabDirectory = None,
    output: given.Output = None,
    json_: given.AsJson = False,
) -> None:
    """Find the largest open load that meets an objective, as an interval, and what ended it."""
    from ..model.objective import parse_objectives
    from ..model.scenario_file import load_scenario
    from .load_find_max import Search, search
    from .load_run import plan_of

    wanted = parse_objectives([objective])[0]
    plan = plan_of("2s", None, probe_warm_up, processes, seed, timeout, None, "0s")
    secrets, encryption = (username_env, password_env, credentials_file), (tls, ca_file, cert_file, key_file, no_verify)
    access = given.access_of(contact_points, port, datacenter, secrets, encryption)
    limit_s, loaded = given.time_of("--at-most", at_most), load_scenario(scenario, set_ or [])
    first_per_s = given.rate_of("--first", first)
    search(Search(loaded, access, wanted, plan, backend, first_per_s, limit_s, lab_directory, output, json_))
