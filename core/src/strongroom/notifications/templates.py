"""The templates of messages, and the files that override them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Final

from strongroom.dataclasses import dataclass
from strongroom.locales import DEFAULT_LOCALE, LOCALES


@dataclass(frozen=True, slots=True)
class Text:
    """A subject and a text, both with ``$name`` placeholders."""

    subject: str
    body: str

    def fill(self, parameters: Mapping[str, str]) -> tuple[str, str]:
        """Return the subject and the text with the placeholders replaced."""
        return Template(self.subject).substitute(parameters), Template(self.body).substitute(parameters)


_CODE_EN = Text(
    "Your verification code",
    "$code is your verification code. It is good for $minutes minutes. Do not share it.",
)
_CODE_ZH = Text("您的验证码", "验证码:$code,$minutes 分钟内有效。请勿告诉他人。")

_NOTICE = Text("$subject", "$text")

Texts = Mapping[str, Mapping[str, Text]]

TEMPLATES: Final[Texts] = {
    "login": {"en": _CODE_EN, "zh": _CODE_ZH},
    "register": {"en": _CODE_EN, "zh": _CODE_ZH},
    "bind": {"en": _CODE_EN, "zh": _CODE_ZH},
    "unbind": {"en": _CODE_EN, "zh": _CODE_ZH},
    "reset-password": {"en": _CODE_EN, "zh": _CODE_ZH},
    "password-changed": {
        "en": Text(
            "Your password was changed",
            "The password of your account was changed. If that was not you, reset it now, "
            "and remove login methods that are not yours.",
        ),
        "zh": Text(
            "您的密码已更改",
            "您的账户密码已更改。如非本人操作,请立即重置密码,并移除不属于您的登录方式。",
        ),
    },
    "credential-changed": {
        "en": Text(
            "Your login was changed",
            "What you log in by was changed. If that was not you, reset your password now.",
        ),
        "zh": Text("您的登录方式已更改", "您的登录方式已更改。如非本人操作,请立即重置密码。"),
    },
    "factor-changed": {
        "en": Text(
            "Your second factor was changed",
            "A second factor of your account was added or removed. If that was not you, reset "
            "your password and write to the administrators now.",
        ),
        "zh": Text(
            "您的二次验证已更改",
            "您账户的二次验证方式已添加或移除。如非本人操作,请立即重置密码并联系管理员。",
        ),
    },
    "recovery-code-used": {
        "en": Text(
            "A recovery code was used",
            "A recovery code of your account was used as the second factor. If that was not you, reset "
            "your password and create new recovery codes now.",
        ),
        "zh": Text(
            "您的恢复代码已被使用",
            "您账户的一个恢复代码已用于二次验证。如非本人操作,请立即重置密码并生成新的恢复代码。",
        ),
    },
    "factor-alarm": {
        "en": Text(
            "Somebody may have a copy of your passkey",
            "A login by a copy of a passkey or security key of your account was refused. Remove it from "
            "your account, and enrol a new one.",
        ),
        "zh": Text(
            "您的通行密钥可能已被复制",
            "系统拒绝了一次使用您账户通行密钥或安全密钥副本的登录。请从账户中移除该密钥,并重新添加。",
        ),
    },
    "user-suspended": {
        "en": Text("Your account was suspended", "Your account was suspended by an administrator."),
        "zh": Text("您的账户已停用", "您的账户已被管理员停用。"),
    },
    "access-key-expires": {
        "en": Text(
            "An access key ends soon",
            "An access key that you created ends within a week. Rotate it, or the program that uses it "
            "will be refused.",
        ),
        "zh": Text(
            "访问密钥即将到期",
            "您创建的一个访问密钥将在一周内到期。请及时轮换,否则使用它的程序将被拒绝。",
        ),
    },
    "access-key-leaked": {
        "en": Text(
            "An access key was revoked",
            "An access key that you created was found in a public place and revoked. Create another "
            "one, and check how it was used.",
        ),
        "zh": Text(
            "访问密钥已撤销",
            "您创建的一个访问密钥在公开位置被发现,现已撤销。请重新创建,并检查其使用记录。",
        ),
    },
    "user-deleted": {
        "en": Text(
            "Your account was deleted",
            "Your account was deleted. If that was not you, write to the administrators now.",
        ),
        "zh": Text("您的账户已删除", "您的账户已删除。如非本人操作,请立即联系管理员。"),
    },
    "invitation": {
        "en": Text(
            "Invitation to $tenant",
            "$inviter invites you to $tenant. Accept within $days days with this code: $code",
        ),
        "zh": Text(
            "邀请您加入 $tenant",
            "$inviter 邀请您加入 $tenant。请在 $days 天内使用此邀请码接受:$code",
        ),
    },
    # The plugin chooses the texts and their language.
    "plugin-notice": {"en": _NOTICE, "zh": _NOTICE},
}
"""Texts by occasion, then by language."""


def parameters_of(template: str) -> frozenset[str]:
    """Return the names of the placeholders that the texts of an occasion may contain."""
    text = TEMPLATES[template][DEFAULT_LOCALE]
    found = (Template(part).get_identifiers() for part in (text.subject, text.body))
    return frozenset(name for names in found for name in names)


def text_of(texts: Texts, template: str, locale: str) -> Text:
    """Return the text of an occasion in a language, or in English if that language has none."""
    by_locale = texts[template]
    return by_locale.get(locale.partition("-")[0], by_locale[DEFAULT_LOCALE])


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
