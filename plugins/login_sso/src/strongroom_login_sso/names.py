"""Names of domains: one spelling for each, and those that no company owns."""

import re
from typing import Final

import idna

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})+", re.ASCII)
MAX_DOMAIN: Final = 253
"""Characters of a name in DNS without its last dot (RFC 1035, section 2.3.4)."""

MAX_ADDRESS: Final = 254
"""Characters of an e-mail address (RFC 5321, section 4.5.3.1.3)."""

FREE_MAIL: Final = frozenset(
    [
        "126.com",
        "139.com",
        "163.com",
        "aliyun.com",
        "aol.com",
        "foxmail.com",
        "gmail.com",
        "gmx.com",
        "gmx.de",
        "gmx.net",
        "googlemail.com",
        "hotmail.com",
        "icloud.com",
        "live.com",
        "mail.com",
        "mail.ru",
        "me.com",
        "msn.com",
        "naver.com",
        "outlook.com",
        "proton.me",
        "protonmail.com",
        "qq.com",
        "sina.cn",
        "sina.com",
        "sohu.com",
        "web.de",
        "yahoo.co.jp",
        "yahoo.com",
        "yandex.com",
        "yandex.ru",
        "yeah.net",
        "zoho.com",
    ]
)
"""Domains of everyone's mailboxes. Only their owners could prove them, so this is for a clear error."""

_LOCAL: Final = frozenset({"localhost", "local", "internal", "invalid", "onion", "arpa", "alt"})


def normalize_domain(text: str) -> str | None:
    """Return a domain as A-labels in lowercase (RFC 5890); ``None`` for a text that is none.

    One label alone is a public suffix, and a name whose last label is a number is an address.
    """
    try:
        name = idna.encode(text.strip().rstrip("."), uts46=True, transitional=False).decode().lower()
    except (idna.IDNAError, UnicodeError):
        return None
    if len(name) > MAX_DOMAIN or not _DOMAIN.fullmatch(name):
        return None
    last = name.rpartition(".")[2]
    return None if last in _LOCAL or last.isdigit() else name


def get_domain(address: str) -> str | None:
    """Return the domain of an e-mail address, as :func:`normalize_domain`."""
    local, at, domain = address.rpartition("@")
    return normalize_domain(domain) if local and at else None
