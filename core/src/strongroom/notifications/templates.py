"""The texts of messages, in English and Chinese."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Final


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
    "$code is your verification code. It is good for $minutes minutes. Tell it to nobody.",
)
_CODE_ZH = Text("您的验证码", "验证码:$code,$minutes 分钟内有效。请勿告诉他人。")

LOCALES: Final = ("en", "zh")
DEFAULT_LOCALE: Final = LOCALES[0]

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
    "user-suspended": {
        "en": Text("Your account was suspended", "Your account was suspended by an administrator."),
        "zh": Text("您的账户已停用", "您的账户已被管理员停用。"),
    },
    "user-deleted": {
        "en": Text(
            "Your account was deleted",
            "Your account was deleted. If that was not you, write to the administrators now.",
        ),
        "zh": Text("您的账户已删除", "您的账户已删除。如非本人操作,请立即联系管理员。"),
    },
}
"""Texts by occasion, then by language."""


CODE_PARAMETERS: Final = frozenset({"code", "minutes"})
"""The parameters of a message with a code. Notices have no parameters."""


def parameters_of(template: str) -> frozenset[str]:
    """Return the names of the placeholders that the texts of an occasion may contain."""
    return CODE_PARAMETERS if "$code" in TEMPLATES[template][DEFAULT_LOCALE].body else frozenset()


def locale_of(languages: Iterable[str], default: str = DEFAULT_LOCALE) -> str:
    """Return the first language that has texts, ignoring regions, or the default."""
    primary = (language.partition("-")[0].lower() for language in languages)
    return next((language for language in primary if language in LOCALES), default)


def text_of(texts: Texts, template: str, locale: str) -> Text:
    """Return the text of an occasion in a language, or in English if that language has none."""
    by_locale = texts[template]
    return by_locale.get(locale.partition("-")[0], by_locale[DEFAULT_LOCALE])
