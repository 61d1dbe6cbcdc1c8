"""Machine shapes that a plan chooses from; version 1 of their file."""

from __future__ import annotations

import datetime
from pathlib import Path

from pydantic import Field, model_validator

from .document import parse_document, read_document, upgraded, validated
from .errors import InputError
from .hardware import Disk
from .shipped import shipped_content
from .units import Bytes, BytesPerS
from .value import Value

FORMAT_VERSION = 1
"""Version of the machine file format."""


class Price(Value):
    """What a machine costs, and who says so."""

    per_month: float = Field(gt=0)
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    source: str = Field(min_length=1)
    date: datetime.date


class Machine(Value):
    """One shape."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    cores: int = Field(ge=1)
    ram: Bytes = Field(gt=0)
    heap: Bytes | None = Field(default=None, gt=0)
    """Java heap; a quarter of the memory when not given."""
    disk: Disk = Disk()
    disk_size: Bytes = Field(gt=0)
    """Room for data on all its data disks."""
    nic: BytesPerS = Field(default=1.25e9, gt=0)
    speed: float = Field(default=1.0, gt=0)
    """Speed of a core relative to the profile's reference core."""
    price: Price | None = None

    @property
    def hardware(self) -> dict[str, object]:
        """The keys of a scenario's hardware."""
        heap = self.heap or self.ram / 4
        shape = {"cores": self.cores, "ram": self.ram, "heap": heap, "off_heap": heap / 4}
        return {**shape, "data_disks": self.disk, "nic": self.nic, "speed": self.speed}


class Machines(Value):
    """Shapes to choose from."""

    format_version: int = Field(default=FORMAT_VERSION, ge=FORMAT_VERSION, le=FORMAT_VERSION)
    machines: tuple[Machine, ...] = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _one_currency(self) -> Machines:
        currencies = {one.price.currency for one in self.machines if one.price}
        names = [one.name for one in self.machines]
        if len(currencies) > 1:
            raise ValueError(f"prices in one currency; there are {', '.join(sorted(currencies))}")
        if len(set(names)) < len(names):
            raise ValueError("machines of different names")
        return self


def load_machines(path: Path | None = None) -> Machines:
    """Return the shapes of a file, the shipped ones when none is given.

    Raises:
        InputError: a file that holds none, with all its problems.
    """
    if path is None:
        content = shipped_content("common", "scenarios", "machines") or b""
        document = parse_document(content.decode(), "common.yaml (shipped)", InputError)
    else:
        document = read_document(path, InputError)
    return validated(Machines, upgraded(document, {}, FORMAT_VERSION, InputError), InputError)
