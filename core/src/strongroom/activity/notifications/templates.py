"""The templates of messages, and the files that override them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Final

from strongroom.foundation.config.sources import READABLE_WANTED
from strongroom.foundation.locales import LOCALES
from strongroom.foundation.translations import Translations


@dataclass(frozen=True, slots=True)
class Text:
    """A subject and a text, both with ``$name`` placeholders."""

    subject: str
    body: str

    def fill(self, parameters: Mapping[str, str]) -> tuple[str, str]:
        """Return the subject and the text with the placeholders replaced."""
        return Template(self.subject).substitute(parameters), Template(self.body).substitute(parameters)


_CODE = Text(
    "Your verification code",
    "$code is your verification code. It is good for $minutes minutes. Do not share it.",
)

Texts = Mapping[str, Mapping[str, Text]]
"""Texts by occasion, then by language."""

TEMPLATES: Final[Mapping[str, Text]] = {
    "login": _CODE,
    "register": _CODE,
    "bind": _CODE,
    "unbind": _CODE,
    "reset-password": _CODE,
    "password-changed": Text(
        "Your password was changed",
        "The password of your account was changed. If that was not you, reset it now, "
        "and remove login methods that are not yours.",
    ),
    "credential-changed": Text(
        "Your login was changed",
        "What you log in by was changed. If that was not you, reset your password now.",
    ),
    "factor-changed": Text(
        "Your second factor was changed",
        "A second factor of your account was added or removed. If that was not you, reset "
        "your password and write to the administrators now.",
    ),
    "recovery-code-used": Text(
        "A recovery code was used",
        "A recovery code of your account was used as the second factor. If that was not you, reset "
        "your password and create new recovery codes now.",
    ),
    "factor-alarm": Text(
        "There may be a copy of your passkey",
        "A login by a copy of a passkey or security key of your account was refused. Remove it from "
        "your account, and enrol a new one.",
    ),
    "user-suspended": Text(
        "Your account was suspended", "Your account was suspended by an administrator."
    ),
    "access-key-expires": Text(
        "An access key ends soon",
        "An access key that you created ends within a week. Rotate it, or the program that uses it "
        "will be refused.",
    ),
    "access-key-leaked": Text(
        "An access key was revoked",
        "An access key that you created was found in a public place and revoked. Create another "
        "one, and check how it was used.",
    ),
    "user-deleted": Text(
        "Your account was deleted",
        "Your account was deleted. If that was not you, write to the administrators now.",
    ),
    "invitation": Text(
        "Invitation to $tenant",
        "$inviter invites you to $tenant. Accept within $days days with this code: $code",
    ),
    # The plugin chooses the texts.
    "plugin-notice": Text("$subject", "$text"),
}
"""The English texts by occasion. ``messages/zh.toml`` of the core has the Chinese ones."""


def parameters_of(template: str) -> frozenset[str]:
    """Return the names of the placeholders that the texts of an occasion may contain."""
    text = TEMPLATES[template]
    identifiers = (Template(part).get_identifiers() for part in (text.subject, text.body))
    return frozenset(name for names in identifiers for name in names)


class MessageTexts:
    """The texts of messages: those of the deployment, or else the translations of the built-in ones.

    Args:
        translations: translates the built-in texts.
    """

    def __init__(self, translations: Translations, own: Texts = MappingProxyType({})) -> None:
        self._translations = translations
        self._own = own

    def text_of(self, template: str, locale: str) -> Text:
        """Return the text of an occasion in a language, or in English if that language has none."""
        return self._own.get(template, {}).get(locale) or self._built_in(template, locale)

    def _built_in(self, template: str, locale: str) -> Text:
        english, translate = TEMPLATES[template], self._translations.translate
        return Text(translate(english.subject, locale), translate(english.body, locale))


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
    """Return the texts in the files ``LANGUAGE/OCCASION.txt`` of a folder.

    A file contains ``Subject:`` with the subject, an empty line, and the text, in UTF-8.

    Raises:
        TextsRefused: the folder cannot be read, or the name or content of a file is invalid.
    """
    texts: dict[str, dict[str, Text]] = {occasion: {} for occasion in TEMPLATES}
    # All files are checked before the error is raised, so that the operator sees all of them.
    faults = []
    try:
        for path in _files(folder):
            try:
                locale, occasion = _named(path.relative_to(folder))
                texts[occasion][locale] = _read(path, parameters_of(occasion))
            except ValueError as error:
                faults.append(f"{path}: {error}")
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        faults.append(f"{error.filename or folder}: {reason}; {READABLE_WANTED}")
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
