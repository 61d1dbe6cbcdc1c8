"""`capmodel scenarios run`: predictions beside published figures, with roles."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from capmodel.cli.scenarios_run import beside_text
from capmodel.cli.scenarios_run import run as run_scenarios
from capmodel.model.errors import InputError
from capmodel.model.predict import Options
from capmodel.scenarios.catalogue import scenario_names
from capmodel.scenarios.published import PREDICTED, Beside, Published, figures_of, published_figures, set_beside

QUICK = Options(solver="mva", neighbours=False)


def run(*arguments: str) -> str:
    """Return what the command prints."""
    import typer

    application = typer.Typer()
    application.command()(run_scenarios)
    result = CliRunner().invoke(application, [*arguments, "--solver", "mva"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_published_figures_are_those_of_the_mail() -> None:
    rates = {figure.scenario: figure.value for figure in published_figures() if figure.figure == "throughput_per_s"}
    assert rates["juho-1-node"] == 64_488
    assert rates["juho-2-nodes"] == 59_500
    assert rates["juho-2-nodes-through-one"] == 52_600
    assert set(rates) <= set(scenario_names())


def test_only_run_2_is_predicted_of_his_runs() -> None:
    predicted = [figure for figure in figures_of("all") if figure.role == PREDICTED and figure.profile == "juho"]
    assert [figure.scenario for figure in predicted] == ["juho-2-nodes"]


def test_figures_that_determined_parameters_come_out_and_the_predicted_one_does_not_quite() -> None:
    for beside in set_beside("all", QUICK):
        determined = beside.published.role != PREDICTED
        assert (abs(beside.error) < 0.01) == determined
        assert abs(beside.error) < 0.10


def test_error_is_relative_and_positive_when_too_fast() -> None:
    figure = Published("a", "throughput_per_s", 200.0, "juho", PREDICTED, "by hand")
    assert Beside(figure, 210.0, None, None).error == pytest.approx(0.05)
    assert "+5.0%" in beside_text([Beside(figure, 210.0, 190.0, 230.0)])


def test_json_holds_figure_prediction_error_and_role() -> None:
    (figure,) = json.loads(run("juho-2-nodes", "--json"))
    assert figure["role"] == "predicted"
    assert figure["error"] == pytest.approx(figure["prediction"]["value"] / 59_500 - 1)
    assert figure["prediction"]["low"] < 59_500 < figure["prediction"]["high"]


def test_the_table_names_the_source() -> None:
    assert "cassandra-user mailing list, July 2010" in run("juho-1-node")


def test_what_cannot_be_run_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="a scenario with published figures: juho-1-node"):
        run("default")
    with pytest.raises(InputError, match="mva or simulate"):
        run_scenarios("juho-1-node", solver="bounds")
