"""Reads the message texts of a deployment, which override the built-in ones: one file per text."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Final

from strongroom.notifications.templates import LOCALES, TEMPLATES, Text, Texts, parameters_of

_SUFFIX: Final = ".txt"
_SUBJECT: Final = "Subject:"
_NEEDED: Final = "code"
"""A message with a code must contain it in its text, because an SMS has no subject."""


class TextsRefused(Exception):
    """Some files are invalid. ``faults`` has one line per file, with the remedy."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def read_texts(folder: Path) -> Texts:
    """Return the built-in texts, overridden by the files ``LANGUAGE/OCCASION.txt`` in ``folder``.

    A file contains ``Subject:`` with the subject, an empty line, and the text, in UTF-8.

    Raises:
        TextsRefused: the folder cannot be read, or the name or content of a file is invalid.
    """
    texts = {occasion: dict(by_locale) for occasion, by_locale in TEMPLATES.items()}
    # All files are checked before the error is raised, so that the operator sees all faults at once.
    faults = []
    try:
        for path in _files(folder):
            try:
                locale, occasion = _named(path.relative_to(folder))
                texts[occasion][locale] = _read(path, parameters_of(occasion))
            except ValueError as error:
                faults.append(f"{path}: {error}")
    except OSError as error:
        faults.append(f"{error.filename or folder}: cannot be read: {error.strerror}")
    if faults:
        raise TextsRefused(faults)
    return texts


def _files(folder: Path) -> Iterator[Path]:
    """Yield all files in the folder and its language folders, except hidden ones."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and path.name in LOCALES:
            yield from (inner for inner in sorted(path.iterdir()) if not inner.name.startswith("."))
        else:
            yield path


def _named(path: Path) -> tuple[str, str]:
    known = f"{'|'.join(LOCALES)}/{'|'.join(TEMPLATES)}{_SUFFIX}"
    locale, occasion = path.parent.name, path.name.removesuffix(_SUFFIX)
    if len(path.parts) != 2 or occasion not in TEMPLATES or not path.name.endswith(_SUFFIX):  # noqa: PLR2004  folder and file
        raise ValueError(f"no message has this name; known here: {known}")
    return locale, occasion


def _read(path: Path, parameters: frozenset[str]) -> Text:
    try:
        # "utf-8-sig" also accepts a byte-order mark, which some editors add.
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("must be UTF-8") from error
    first, _, rest = content.partition("\n")
    empty, _, body = rest.partition("\n")
    subject, body = first.removeprefix(_SUBJECT).strip(), body.strip()
    if not first.startswith(_SUBJECT) or not subject or empty.strip() or not body:
        raise ValueError(f'must be "{_SUBJECT} ...", an empty line, and the text')
    for part in (subject, body):
        _check(Template(part), parameters)
    if _NEEDED in parameters - set(Template(body).get_identifiers()):
        raise ValueError(f"the text must contain ${_NEEDED}")
    return Text(subject, body)


def _check(template: Template, parameters: frozenset[str]) -> None:
    if not template.is_valid():
        raise ValueError('a literal "$" must be written "$$"')
    unknown = sorted(set(template.get_identifiers()) - parameters)
    if unknown:
        known = ", ".join(f"${name}" for name in sorted(parameters)) or "none"
        raise ValueError(f"unknown placeholder ${unknown[0]}; known here: {known}")
