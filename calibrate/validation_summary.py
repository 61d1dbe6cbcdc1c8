"""A validation as plain maps and lists, for JSON and for text."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from ..model.gain import Gain
from .bias import Bias
from .factors import described
from .validate import Cell, Summary, Validation, kind_of
from .verdicts import Verdict


def validation_summary(found: Validation) -> dict[str, Any]:
    """Return a validation in plain types."""
    return {
        "calibration": found.calibration,
        "runs": len(found.runs),
        "runs_left_out_as_fitted": found.fitted,
        "summaries": [_summary(one) for one in found.summaries],
        "cells": [_cell(one, found) for one in found.cells],
        "bias": [_bias(one) for one in found.biases],
        "verdicts": [_verdict(one, found) for one in found.verdicts],
        "verdict_counts": dict(Counter(one.judged for one in found.verdicts)),
        "warnings": list(found.warnings),
    }


def _summary(one: Summary) -> dict[str, Any]:
    low, high = one.coverage.region
    return {
        "what": one.what,
        "n": one.n,
        "median": one.median,
        "p90": one.p90,
        "bias": one.bias,
        "noise": one.noise,
        "coverage": {
            "held": one.coverage.held,
            "n": one.coverage.n,
            "level": one.coverage.level,
            "region": [low, high],
            "agrees": one.coverage.agrees,
        },
    }


def _cell(one: Cell, found: Validation) -> dict[str, Any]:
    return {
        "run": described(found.runs[one.run]),
        "what": one.what,
        "kind": kind_of(one.what),
        "measured": one.measured.value,
        "noise": one.noise,
        "predicted": one.predicted.value,
        "low": one.predicted.low,
        "high": one.predicted.high,
        "error": math.expm1(one.log_error),
        "held": one.held,
    }


def _bias(one: Bias) -> dict[str, Any]:
    return {
        "factor": one.factor,
        "level": one.level,
        "n": one.n,
        "bias": one.value,
        "std_err": None if math.isnan(one.std_err) else one.std_err,
        "significant": one.is_significant,
    }


def _verdict(one: Verdict, found: Validation) -> dict[str, Any]:
    return {
        "from": described(found.runs[one.pair.smaller]),
        "to": described(found.runs[one.pair.larger]),
        "load": one.load,
        "measured": _gain(one.measured),
        "predicted": _gain(one.predicted),
        "judged": one.judged,
    }


def _gain(one: Gain) -> dict[str, Any]:
    return {"value": one.value, "low": one.low, "high": one.high, "verdict": one.verdict}
