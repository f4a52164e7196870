"""Fills code blocks with the current content of the file that a comment names.

The comment before a fenced block is ``<!-- file: PATH -->`` for a file of the repository, or
``<!-- kit: PATH -->`` for one that ``strongroom plugins new`` writes for a plugin called ``drawer``.
The table of seams is between ``<!-- seams -->`` and the next comment.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from generator.seams import SEAMS
from strongroom.cli.plugins.new import write_plugin
from strongroom.foundation.plugins.kinds import KINDS

_ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^(<!-- (file|kit): (\S+) -->\n```\w+\n).*?^```$", re.MULTILINE | re.DOTALL)


_TABLE = re.compile(r"(<!-- seams -->\n).*?(?=<!-- )", re.DOTALL)


def with_code(text: str) -> str:
    """Return the text of a page with its code blocks and the table of seams filled."""
    text = _TABLE.sub(lambda match: f"{match[1]}{_seams()}", text)
    return _BLOCK.sub(lambda match: f"{match[1]}{_content(match[2], match[3])}```", text)


def _content(kind: str, name: str) -> str:
    text = _kit()[name] if kind == "kit" else (_ROOT / name).read_text()
    return f"{text.rstrip()}\n"


def _seams() -> str:
    """Return the table of what plugins can add, by hook."""
    rows = [
        f"| {seam.purpose} | [`{seam.hook}`]({seam.page}.md) | {_beginning(seam.kind)} |\n"
        for seam in SEAMS
    ]
    return "".join(["\n| I want to | hook | begin with |\n|---|---|---|\n", *rows, "\n"])


def _beginning(kind: str) -> str:
    return f"`strongroom plugins new {kind}`" if kind else "the code on the page"


@cache
def _kit() -> Mapping[str, str]:
    """Return the files of a new plugin of each kind, by path."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for kind in KINDS:
            write_plugin(kind, "drawer", folder / f"strongroom-{kind.name}-drawer")
        paths = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_text() for path in paths}
