"""Which block device a folder lies on, as control groups name it: `major:minor` of the whole disk."""

from __future__ import annotations

import os
from pathlib import Path


def block_device(folder: Path, sys: Path = Path("/sys")) -> str | None:
    """Return the disk under `folder`, or None when there is none (tmpfs, overlay).

    Limits are set on whole disks, so a partition gives the disk it is part of.
    """
    number = folder.stat().st_dev
    return _whole_disk(f"{os.major(number)}:{os.minor(number)}", sys)


def _whole_disk(device: str, sys: Path) -> str | None:
    entry = sys / "dev" / "block" / device
    if not entry.exists():
        return None
    place = entry.resolve()
    if (place / "partition").exists():
        place = place.parent
    return (place / "dev").read_text().strip()
