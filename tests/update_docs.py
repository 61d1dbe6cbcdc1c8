"""Write into a page what its commands print now. Run by hand: `python tests/update_docs.py docs/tutorial.md`.

Look at the change before committing it: the page is what a reader sees.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from test_docs import BLOCK, run


def updated(text: str) -> str:
    """Return the page with the output of every prompt."""
    with tempfile.TemporaryDirectory() as folder:

        def block(match: re.Match[str]) -> str:
            commands = [line[2:] for line in match.group(1).splitlines() if line.startswith("$ ")]
            shown = (f"$ {command}\n{output(command, Path(folder))}" for command in commands)
            return "```console\n" + "".join(shown) + "```"

        return BLOCK.sub(block, text)


def output(command: str, folder: Path) -> str:
    """Return what a command prints, nothing for those that set up an environment."""
    return "" if command.startswith(("make ", "pip ", "git ")) else run(command, folder).rstrip() + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name)
        page.write_text(updated(page.read_text()))
