"""Fills code blocks with the current content of the file that a comment names.

The comment before a fenced block is ``<!-- file: PATH -->`` for a file of the repository, or
``<!-- kit: PATH -->`` for one that ``strongroom plugins new`` writes for a plugin called ``drawer``.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from strongroom.cli.plugins.listing import KINDS
from strongroom.cli.plugins.new import write_plugin

_ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^(<!-- (file|kit): (\S+) -->\n```\w+\n).*?^```$", re.MULTILINE | re.DOTALL)


def with_code(text: str) -> str:
    """Return the text of a page with its code blocks filled from the files."""
    return _BLOCK.sub(lambda match: f"{match[1]}{_content(match[2], match[3])}```", text)


def _content(kind: str, name: str) -> str:
    text = _kit()[name] if kind == "kit" else (_ROOT / name).read_text()
    return f"{text.rstrip()}\n"


@cache
def _kit() -> Mapping[str, str]:
    """Return the files of a new plugin of each kind, by path."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for kind in KINDS:
            write_plugin(kind, "drawer", folder / f"strongroom-{kind.name}-drawer")
        paths = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_text() for path in paths}
