"""Random numbers of a simulation: one stream per purpose, drawn in blocks.

Separate streams let compared scenarios see the same arrivals, keys and services. A block is a Python list that
is popped from its end: code bent for speed (a pop is ten times cheaper than a call of a generator); see
`tests/benchmark_simulation.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

BLOCK = 4096
"""Numbers drawn at once."""

Draw = Callable[[np.random.Generator, int], "np.ndarray[tuple[int], np.dtype[np.float64]]"]

PURPOSES = ("operation", "key", "coordinator", "arrival", "choice", "phase", "service")
"""One seed sequence each, in this order; new purposes are added at the end."""


class Stream:
    """A stream of numbers; `block` holds those drawn and not used, last one next."""

    __slots__ = ("_draw", "_generator", "block")

    def __init__(self, generator: np.random.Generator, draw: Draw) -> None:
        self._generator = generator
        self._draw = draw
        self.block: list[float] = []

    def refill(self) -> None:
        """Draw a block of numbers, in the order of use, behind those left."""
        self.block[:0] = self._draw(self._generator, BLOCK)[::-1].tolist()

    def next(self) -> float:
        """Return the next number."""
        if not self.block:
            self.refill()
        return self.block.pop()


class Streams:
    """All streams of one run, from one seed."""

    def __init__(self, seed: int) -> None:
        children = np.random.SeedSequence(seed).spawn(len(PURPOSES))
        self._sequence = dict(zip(PURPOSES, children, strict=True))
        self._service: dict[float, Stream] = {}

    def generator(self, purpose: str) -> np.random.Generator:
        """Return the generator of a purpose, from its start."""
        return np.random.Generator(np.random.PCG64(self._sequence[purpose]))

    def uniform(self, purpose: str) -> Stream:
        """Return uniform numbers in [0, 1) for a purpose."""
        return Stream(self.generator(purpose), lambda generator, size: generator.random(size))

    def exponential(self, purpose: str) -> Stream:
        """Return exponential numbers of mean 1 for a purpose."""
        return Stream(self.generator(purpose), lambda generator, size: generator.standard_exponential(size))

    def service(self, variation: float) -> Stream:
        """Return gamma numbers of mean 1 with a coefficient of variation; one stream per variation."""
        if variation not in self._service:
            seed = np.random.SeedSequence([*self._sequence["service"].generate_state(4), round(variation * 1e6)])
            self._service[variation] = Stream(np.random.Generator(np.random.PCG64(seed)), _gamma(variation))
        return self._service[variation]


def _gamma(variation: float) -> Draw:
    if variation == 0.0:
        return lambda _, size: np.ones(size)
    shape = 1.0 / variation**2
    return lambda generator, size: generator.standard_gamma(shape, size) / shape
