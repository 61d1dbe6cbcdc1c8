"""The shipped table of gamma distributions against the exact functions."""

from __future__ import annotations

from importlib import resources

import numpy as np

from capmodel.model.gamma_table import SHIPPED, tabulate


def test_the_shipped_table_is_what_the_exact_functions_give() -> None:
    with resources.as_file(resources.files("capmodel.model").joinpath(SHIPPED)) as path, np.load(path) as held:
        shipped = {name: held[name] for name in held.files}
    made = tabulate()
    assert set(shipped) == set(made)
    for name, values in made.items():
        np.testing.assert_allclose(shipped[name], values, rtol=1e-5, atol=1e-6)


def test_a_wrong_table_is_found() -> None:
    made = tabulate()["probability"]
    assert not np.allclose(made * 1.001, made, rtol=1e-5, atol=1e-6)
