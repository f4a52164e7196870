"""The titles of settings, their tables and jobs, which the server knows by keys."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

LANGUAGES: Final = ("en", "zh")

# Tables whose names an operator chooses, and tables of extensions that have equal keys.
_NAMED: Final = re.compile(r"^(business_files|login|messages|storages)\.[^.]+")
_ANY: Final = r"\1.*"


def title_key(kind: str, key: str) -> str | None:
    """Return the key of a title; ``None`` if the key of a setting or a job has none.

    Args:
        kind: ``setting``, ``section``, ``job``, ``plugin``, ``message`` or ``method``.
        key: the key in the configuration, or the name of the job and such.
    """
    names = (f"{kind}.{key}", f"{kind}.{_NAMED.sub(_ANY, key)}")
    return next((name for name in names if name in _titles("en")), None)


def has_title_with(word: str, kind: str, key: str) -> bool:
    """Return whether a title has a case-folded word, in any language."""
    name = title_key(kind, key)
    return name is not None and any(word in _titles(language)[name].casefold() for language in LANGUAGES)


@cache
def _titles(language: str) -> Mapping[str, str]:
    file = files("strongroom_console") / "messages" / f"settings.{language}.toml"
    return tomllib.loads(file.read_text("utf-8"))
