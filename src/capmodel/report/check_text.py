"""What `capmodel check` found, for a terminal and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from .calibration_text import calibration_text
from .validation_plot import validation_svg
from .validation_text import validation_text

Report = Mapping[str, Any]
PURE = "Predicted from one and two nodes alone"
ANCHORED = "Predicted at the speed of each layout, taken from its runs at RF 1 with token-aware clients"


def check_text(report: Report) -> str:
    """Return the text of a report: the fit, both comparisons, and a verdict."""
    parts = (f"{title}\n{'=' * len(title)}\n{text}" for title, text in _parts(report))
    return "\n\n".join((*parts, last_line(report)))


def check_html(report: Report) -> str:
    """Return a page that stands by itself, with a picture of each comparison."""
    pictures = {PURE: validation_svg(report["pure"]["cells"]), ANCHORED: validation_svg(report["anchored"]["cells"])}
    body = "\n".join(
        f"<h2>{escape(title)}</h2>\n{_inline(pictures.get(title, ''))}\n<pre>{escape(text)}</pre>"
        for title, text in _parts(report)
    )
    style = "body{font-family:sans-serif;max-width:75em;margin:2em auto}pre{overflow-x:auto;font-size:85%}"
    head = f'<meta charset="utf-8"><title>capmodel check</title>\n<style>{style}</style>'
    return (
        f'<!DOCTYPE html>\n<html lang="en">{head}\n'
        f"<h1>capmodel check</h1>\n<p>{escape(last_line(report))}</p>\n{body}\n</html>\n"
    )


def last_line(report: Report) -> str:
    """Return one line to forward: errors of the throughput, intervals and verdicts."""
    return "; ".join(_words(name, report[name]) for name in ("pure", "anchored")) + "."


def _parts(report: Report) -> Iterator[tuple[str, str]]:
    yield "Calibration", calibration_text(report["fit"])
    yield PURE, validation_text(report["pure"])
    yield ANCHORED, validation_text(report["anchored"])


def _words(name: str, found: Report) -> str:
    rates = [one for one in found["summaries"] if one["what"] == "throughput"]
    if not rates:
        return f"{name}: no throughput was compared"
    (rate,) = rates
    counts = found["verdict_counts"]
    verdicts = ", ".join(f"{count} {judged}" for judged, count in counts.items())
    of_nodes = f", verdicts on one node more: {verdicts}" if counts else ""
    figures = f"throughput of {rate['n']} cells within {rate['median']:.0%} (median), bias {rate['bias']:+.0%}"
    return f"{name}: {figures}{of_nodes}"


def _inline(svg: str) -> str:
    """Return a picture without the header that a file of its own has."""
    return svg[svg.find("<svg") :] if "<svg" in svg else ""
