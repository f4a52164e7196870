"""Templates that a deployment replaces by copies of its own, in the folder ``[pages] templates``.

A copy begins with the digest of its original, so that an upgrade that changes the original is noticed:
a copy of an old template can lack a field that the page needs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, TemplateSyntaxError

from strongroom.foundation.config.sources import suggestion

SERVER: Final = "strongroom"
"""The owner of the server's own templates."""

_SUFFIX: Final = ".html"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_MARK: Final = re.compile(rb"\{# strongroom: ([0-9a-f]{16}) #\}\r?\n")


def html_files(folder: Traversable, path: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the templates of a folder and its subfolders by their paths in it."""
    for item in folder.iterdir() if folder.is_dir() else ():
        if item.is_dir():
            yield from html_files(item, f"{path}{item.name}/")
        elif item.name.endswith(_SUFFIX):
            yield f"{path}{item.name}", item


def load_copies(folder: Path | None, owner: str, original: BaseLoader) -> BaseLoader:
    """Return the loader of an owner's templates: copies, or else the originals."""
    if folder is None:
        return original
    return ChoiceLoader([FileSystemLoader(folder / owner), original])


@dataclass(slots=True, eq=False, repr=False)
class TemplateCopies:
    """The copies of a deployment.

    Args:
        folder: has a folder per owner.
        originals: the templates by names such as ``strongroom/page.html``.
    """

    _folder: Path
    _originals: Mapping[str, Traversable]

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with copies, one line each."""
        if not self._folder.is_dir():
            yield f"{self._folder} is no folder; create it, or name another"
        for name, path in sorted(html_files(self._folder)):
            if name not in self._originals:
                known = suggestion(name, sorted(self._originals))
                yield f"{self._folder / name}: no page has this template; {known}"
            elif fault := _syntax_fault(path):
                yield f"{self._folder / name}: {fault}"

    def stale(self) -> Iterator[str]:
        """Yield the names of copies whose originals have changed since, or that do not name them."""
        for name, path in sorted(html_files(self._folder)):
            mark = _MARK.match(path.read_bytes().removeprefix(_BYTE_ORDER_MARK))
            if name in self._originals and (mark is None or mark[1].decode() != self._digest(name)):
                yield name

    def copy(self, name: str) -> Path:
        """Copy an original to the folder, and return the path of the copy.

        Raises:
            ValueError: there is no such template, or the folder has a copy.
            OSError: it cannot be written.
        """
        if name not in self._originals:
            raise ValueError(
                f"no page has the template {name}; {suggestion(name, sorted(self._originals))}"
            )
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"{{# strongroom: {self._digest(name)} #}}\n{self._originals[name].read_text('utf-8')}"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError as error:
            raise ValueError(f"{path} exists; remove it first") from error
        return path

    def _digest(self, name: str) -> str:
        return sha256(self._originals[name].read_bytes()).hexdigest()[:16]


def _syntax_fault(path: Traversable) -> str | None:
    try:
        Environment(autoescape=True).parse(path.read_text("utf-8-sig"))
    except UnicodeDecodeError:
        return "must be UTF-8"
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {error.message}"
    return None
