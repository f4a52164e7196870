"""The templates of the pages, with marks that show which of them a page has been made of.

The marks are in copies of the templates, which a server uses in place of its own, as a deployment's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.support.source_tree import ROOT

_SUFFIX: Final = ".html"
_FOLDERS: Final = ("core/src/**/templates", "plugins/*/src/*/templates")
_SERVER: Final = "strongroom"
_FRAGMENTS: Final = frozenset({"console/find_results", "console/spaces"})
"""The lists that scripts read, without a page around them."""

_OTHERS: Final = frozenset({"strongroom/api_docs", "strongroom/frame", *_FRAGMENTS})
"""No pages, the page of Swagger UI, and the frame that pages of plugins outside of this tree extend."""

_USE: Final = re.compile(r'{% (?:extends|include|from) "([^"]+)"')
# What each page shows in its body. A heading is in the title as well, where a mark would be text.
_BODY: Final = re.compile(r"{% block (?:main|content|of_node|person|why|sent) %}")
_MARK: Final = re.compile(r"<!-- template: (\S+) -->")


def page_templates() -> Mapping[str, str]:
    """Return the templates of all pages by names such as ``login_pages/sign_in/login``.

    Those that other templates extend or include are only parts of pages, and so are those with nothing
    but macros, such as the forms of second factors.
    """
    texts = {name: text for name, text in _templates() if not _has_only_macros(text)}
    parts = {used for name, text in texts.items() for used in _used(name, text, texts)}
    return {name: text for name, text in texts.items() if name not in parts | _OTHERS}


def _has_only_macros(text: str) -> bool:
    return "{% macro" in text and "{% block" not in text


def _templates() -> Iterator[tuple[str, str]]:
    for folder in (found for pattern in _FOLDERS for found in ROOT.glob(pattern)):
        owner = folder.relative_to(ROOT).parts[1] if ROOT / "plugins" in folder.parents else _SERVER
        for path in folder.rglob(f"*{_SUFFIX}"):
            name = path.relative_to(folder).as_posix().removesuffix(_SUFFIX)
            yield f"{owner}/{name}", path.read_text()


def _used(name: str, text: str, known: Iterable[str]) -> Iterator[str]:
    """Yield the templates that a template uses: of its owner, or else of the server."""
    owner = name.partition("/")[0]
    for used in _USE.findall(text):
        own = f"{owner}/{used.removesuffix(_SUFFIX)}"
        yield own if own in known else used.removesuffix(_SUFFIX)


def copy_with_marks(folder: Path, owners: Iterable[str]) -> Path:
    """Copy the templates of the server and of plugins, each with its mark, and return the folder."""
    for name, text in page_templates().items():
        if name.partition("/")[0] in (_SERVER, *owners):
            marked, count = _BODY.subn(rf"\g<0><!-- template: {name} -->", text, count=1)
            assert count, f"{name} has no block for its mark"
            path = folder / f"{name}{_SUFFIX}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(marked)
    return folder


def template_of(html: str) -> str | None:
    """Return the template of a page, by its mark."""
    mark = _MARK.search(html)
    return mark and mark[1]
