"""The templates of messages, and the files that override them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from string import Template
from typing import Final

from strongroom.foundation.config.sources import READABLE_WANTED
from strongroom.foundation.locales import LOCALES
from strongroom.foundation.translations import Translations


@dataclass(frozen=True, slots=True)
class Text:
    """The texts of an occasion, with ``$name`` placeholders.

    Args:
        subject: the subject of the e-mail, and the heading of its HTML.
        body: the text of an SMS, and of the e-mail unless it has a longer one.
        mail: the text of the e-mail, of paragraphs with an empty line between two. ``$code`` or
            ``$link`` as a paragraph of its own is shown as a large code or as a button. Empty: ``body``.
        coded_subject: the subject with the code in it, for ``messages.code_in_subject``; empty: none.
        action: the label of the button.
        html: the whole HTML document of the e-mail, of a deployment; empty: the built-in layout.
    """

    subject: str
    body: str
    mail: str = ""
    coded_subject: str = ""
    action: str = ""
    html: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts that are not empty."""
        return tuple(filter(None, astuple(self)))

    @property
    def mail_paragraphs(self) -> list[str]:
        """The paragraphs of the e-mail, with their placeholders."""
        return [part.strip() for part in (self.mail or self.body).split("\n\n") if part.strip()]

    def mapped(self, translate: Callable[[str], str]) -> "Text":
        """Return the text with each part translated."""
        return Text(*(part and translate(part) for part in astuple(self)))


_CODE_SMS: Final = "$code is your verification code. It is valid for $minutes minutes. Do not share it."
_REQUESTER: Final = "Requested from: $source"
_CODE_END: Final = (
    f"$code\n\n{_REQUESTER}\n\nThe code is valid for $minutes minutes, once. Do not share it. If you "
    "did not request it, ignore this message."
)
_LINK_END: Final = "Or open this link in the browser in which you requested the code:"
_CODE_HINT: Final = (
    "The code or the link is valid once, for $minutes minutes. Do not share them. If you did not "
    "request them, ignore this message."
)


def _code(subject: str, request: str, coded_subject: str = "") -> Text:
    return Text(subject, _CODE_SMS, f"{request}\n\n{_CODE_END}", coded_subject)


_SOURCE: Final = "When: $time\nWhere: $source"
_INVITED: Final = "Space: $tenant\nInvited by: $inviter\nWhen: $time"


def _notice(subject: str, advice: str) -> Text:
    """Return the text of a notice about a change: what, when and from where, and what to do."""
    return Text(subject, f"$what {advice}", f"$what\n\n{_SOURCE}\n\n{advice}")


Texts = Mapping[str, Mapping[str, Text]]
"""Texts by occasion, then by language."""

TEMPLATES: Final[Mapping[str, Text]] = {
    "login": _code(
        "Your code to log in to $product",
        "Enter this code to log in:",
        "$code is your code to log in to $product",
    ),
    # The same code with a link, for e-mails that login pages have requested.
    "login-link": Text(
        "Your code to log in to $product",
        f"Enter this code to log in:\n\n$code\n\n{_LINK_END}\n\n$link\n\n{_REQUESTER}\n\n{_CODE_HINT}",
        coded_subject="$code is your code to log in to $product",
        action="Log in",
    ),
    "register": _code(
        "Confirm your address for $product",
        "Enter this code to create your account:",
        "$code confirms your address for $product",
    ),
    # To an address of a user, in an e-mail: the response of the server does not reveal it.
    "register-known": _code(
        "Confirm your address for $product",
        "You already have an account with this address. Log in to it, or set a new password there if "
        "you have forgotten it.\n\nTo continue anyway, enter this code:",
        "$code confirms your address for $product",
    ),
    "bind": _code(
        "Confirm your address for $product",
        "Enter this code to add this address to your account:",
        "$code confirms your address for $product",
    ),
    # To an e-mail address that a user has: it does not add the address, but lets the login change.
    "bind-held": _code(
        "Confirm a change of your account",
        "Someone wants to change how you log in, for example to replace this address. If it is not you, "
        "ignore this message, and give this code to no one. To confirm the change, enter it:",
    ),
    # Without the code in the subject: they give access to an account, and screens show subjects.
    "unbind": _code(
        "Confirm a change of your account", "Enter this code to confirm a change of your account:"
    ),
    "reset-password": _code("Reset your password", "Enter this code to choose a new password:"),
    "password-changed": _notice(
        "Your password was changed",
        "If that was not you, reset the password now, and remove login methods that are not yours.",
    ),
    "credential-changed": _notice(
        "Your login was changed",
        "If that was not you, reset your password now, and remove what is not yours.",
    ),
    # To a contact that was replaced or removed: only its holder can undo the change.
    "contact-replaced": Text(
        "Your login was changed",
        "$what If that was not you, undo it within $days days: $link",
        f"$what\n\n{_SOURCE}\n\nIf it was you, ignore this message. If that was not you, undo it within "
        "$days days: you choose a new password, and all logins and access keys end.\n\n$link",
        action="Undo the change",
    ),
    # To such a contact without a link, because there is no page, or the contact proves nothing.
    "contact-removed": _notice(
        "Your login was changed", "If that was not you, contact the administrators now."
    ),
    "factor-changed": _notice(
        "Your two-step verification was changed",
        "If that was not you, reset your password and contact the administrators now.",
    ),
    "recovery-code-used": Text(
        "A recovery code was used",
        "A recovery code was used to log in to your account. If that was not you, reset your password "
        "and create new recovery codes now.",
        f"A recovery code was used to log in to your account.\n\n{_SOURCE}\n\nIf that was not you, "
        "reset your password and create new recovery codes now.",
    ),
    "factor-alarm": Text(
        "There may be a copy of your passkey",
        "A login by a copy of a passkey or security key of your account was refused. Remove it from "
        "your account, and set up a new one.",
        "A login by a copy of a passkey or security key of your account was refused.\n\n"
        f"{_SOURCE}\n\nRemove it from your account, and set up a new one.",
    ),
    "user-suspended": Text(
        "Your account was suspended",
        "Your account was suspended by an administrator.",
        "Your account was suspended by an administrator.\n\nWhen: $time\n\nUntil the suspension ends, "
        "you cannot log in. Ask the administrators if you do not know the reason.",
    ),
    "account-invite": Text(
        "Your new account",
        "An administrator has created an account for you. Choose a password within $days days: $link",
        "An administrator has created an account for you. Choose a password within $days days.\n\n$link",
        action="Choose a password",
    ),
    "account-reset": Text(
        "Set a new password",
        "An administrator has sent you a link to set a new password, once within $hours hours: $link",
        "An administrator has sent you a link to set a new password, once within $hours hours.\n\n$link",
        action="Set a new password",
    ),
    "access-key-expires": Text(
        "An access key ends soon",
        "An access key that you created ends within a week. Replace it, or the program that uses it "
        "stops working.",
        "An access key that you created ends within a week.\n\nKey: $name\nEnds: $time\n\nReplace it, "
        "or the program that uses it stops working.",
    ),
    "access-key-leaked": Text(
        "An access key was revoked",
        "An access key that you created was found in a public place and revoked. Create another "
        "one, and check how it was used.",
        "An access key that you created was found in a public place and revoked.\n\nKey: $name\n"
        "When: $time\n\nCreate another one, and check how it was used.",
    ),
    "user-deleted": Text(
        "Your account was deleted",
        "Your account was deleted. If that was not you, contact the administrators now.",
        "Your account was deleted.\n\nWhen: $time\n\nIf that was not you, contact the "
        "administrators now.",
    ),
    "deletion-scheduled": Text(
        "Your account will be deleted",
        "Your account will be deleted at $time. Until then, you can log in and cancel it. If you did "
        "not request it, cancel it and change your password now.",
        "Your account will be deleted. Until then, you can log in and cancel it.\n\nDeletion: $time\n"
        f"{_REQUESTER}\n\nIf you did not request it, cancel it and change your password now.",
    ),
    "deletion-cancelled": Text(
        "Your account will not be deleted",
        "The deletion of your account was cancelled. If that was not you, change your password now.",
        f"The deletion of your account was cancelled.\n\n{_SOURCE}\n\nIf that was not you, change your "
        "password now.",
    ),
    "deletion-refused": Text(
        "Your account was not deleted",
        "Your account was not deleted, because you are the last administrator. Appoint another one, "
        "and delete your account again.",
    ),
    "invitation": Text(
        "Invitation to $tenant",
        "$inviter invites you to $tenant. Accept within $days days with this code: $code",
        f"You are invited to a space of $product.\n\n{_INVITED}\n\nAccept within $days days with this "
        "code:\n\n$code\n\n"
        "If you do not know the sender, ignore this message.",
    ),
    "invitation-link": Text(
        "Invitation to $tenant",
        "$inviter invites you to $tenant. Accept within $days days: $link",
        f"You are invited to a space of $product.\n\n{_INVITED}\n\nAccept within $days days:\n\n$link"
        "\n\nIf you do not know the sender, ignore this message.",
        action="Open the invitation",
    ),
    # The plugin chooses the texts.
    "plugin-notice": Text("$subject", "$text", "$text\n\nWhen: $time"),
}
"""The English texts by occasion. The translations of the core have the Chinese ones."""


PRODUCT: Final = "product"
"""The placeholder of every text for the name of the product."""


def template_parameters(template: str) -> frozenset[str]:
    """Return the names of the placeholders that the texts of an occasion may contain."""
    identifiers = (Template(part).get_identifiers() for part in TEMPLATES[template].parts)
    return frozenset(name for names in identifiers for name in names) - {PRODUCT}


_LINK: Final = "-link"
"""The end of the names of occasions that have the content of another one, and a link as well."""


@dataclass(slots=True, eq=False, repr=False)
class MessageTexts:
    """The texts of messages: the deployment's texts, or else the translations of the built-in ones.

    Args:
        translations: translates the built-in texts.
    """

    _translations: Translations
    _own: Texts = field(default_factory=dict)

    def find_text(self, template: str, locale: str) -> Text:
        """Return the text of an occasion in a language, or in English if that language has none.

        A deployment's text without a link precedes the built-in text with one.
        """
        for occasion in (template, template.removesuffix(_LINK)):
            if own := self._own.get(occasion, {}).get(locale):
                return own
        return self._built_in(template, locale)

    def translate(self, text: str, locale: str) -> str:
        """Return a built-in text in a language."""
        return self._translations.translate(text, locale)

    def _built_in(self, template: str, locale: str) -> Text:
        return TEMPLATES[template].mapped(lambda text: self.translate(text, locale))


_SUFFIX: Final = ".txt"
_HTML: Final = ".html"
_SUBJECT: Final = "Subject:"
_NEEDED: Final = frozenset({"code", "link"})
"""A message with one of them must contain it in its text, because an SMS has no subject."""


class TextsRefused(Exception):
    """Some files are invalid. ``faults`` has one line per file, with the remedy."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def read_texts(folder: Path) -> Texts:
    """Return the texts in the files ``LANGUAGE/OCCASION.txt`` of a folder.

    A file contains ``Subject:`` with the subject, an empty line, and the text, in UTF-8. Next to it,
    ``OCCASION.html`` may have the HTML of the e-mail.

    Raises:
        TextsRefused: the folder cannot be read, or the name or content of a file is invalid.
    """
    texts: dict[str, dict[str, Text]] = {occasion: {} for occasion in TEMPLATES}
    # All files are checked before the error is raised, so that the operator sees all of them.
    faults = []
    try:
        # Sorted so that the text comes before its HTML.
        for path in sorted(_files(folder), key=lambda path: (path.suffix == _HTML, path)):
            try:
                _add(texts, *_named(path.relative_to(folder)), path)
            except ValueError as error:
                faults.append(f"{path}: {error}")
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        faults.append(f"{error.filename or folder}: {reason}; {READABLE_WANTED}")
    if faults:
        raise TextsRefused(faults)
    return texts


def _add(texts: Mapping[str, dict[str, Text]], locale: str, occasion: str, path: Path) -> None:
    parameters, by_locale = template_parameters(occasion), texts[occasion]
    if path.suffix != _HTML:
        by_locale[locale] = _read(path, parameters)
        return
    if locale not in by_locale:
        raise ValueError(f"needs {occasion}{_SUFFIX} next to it, with the same content as text")
    by_locale[locale] = replace(by_locale[locale], html=_read_html(path, parameters))


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
    locale, occasion = path.parent.name, path.stem
    if len(path.parts) != 2 or occasion not in TEMPLATES or path.suffix not in (_SUFFIX, _HTML):  # noqa: PLR2004  folder and file
        raise ValueError(f"no message has this name; known here: {known}")
    return locale, occasion


def _read(path: Path, parameters: frozenset[str]) -> Text:
    first, _, rest = _content(path).partition("\n")
    empty, _, body = rest.partition("\n")
    subject, body = first.removeprefix(_SUBJECT).strip(), body.strip()
    if not first.startswith(_SUBJECT) or not subject or empty.strip() or not body:
        raise ValueError(f'must be "{_SUBJECT} ...", an empty line, and the text')
    _check(Template(subject), parameters)
    _require_code(body, parameters)
    return Text(subject, body)


def _read_html(path: Path, parameters: frozenset[str]) -> str:
    html = _content(path).strip()
    if not html.startswith("<"):
        raise ValueError("must be an HTML document")
    _require_code(html, parameters)
    return html


def _content(path: Path) -> str:
    try:
        # "utf-8-sig" also accepts a byte-order mark, which some editors add.
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("must be UTF-8") from error


def _require_code(text: str, parameters: frozenset[str]) -> None:
    template = Template(text)
    _check(template, parameters)
    for name in _NEEDED & (parameters - set(template.get_identifiers())):
        raise ValueError(f"the text must contain ${name}")


def _check(template: Template, parameters: frozenset[str]) -> None:
    if not template.is_valid():
        raise ValueError('a literal "$" must be written "$$"')
    unknown = sorted(set(template.get_identifiers()) - parameters - {PRODUCT})
    if unknown:
        known = ", ".join(f"${name}" for name in sorted({*parameters, PRODUCT}))
        raise ValueError(f"unknown placeholder ${unknown[0]}; known here: {known}")
