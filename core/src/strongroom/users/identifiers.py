"""Normalises e-mail addresses, mobile numbers and usernames."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from strongroom.plugin_api.login import Credential
from strongroom.users.models import EMAIL, MOBILE, USERNAME

MAX_LENGTH: Final = 254

_MOBILE_SHAPE = re.compile(r"[(+]{0,2}[0-9][0-9 ().\-]{3,40}")
_USERNAME = re.compile(r"[a-z][a-z0-9._-]{2,63}")


# Cached, because a login calls it twice: for the throttle and for the password.
@lru_cache(maxsize=256)
def identify(text: str, default_region: str) -> Credential | None:
    """Return the normalised credential in ``text``, or ``None`` if it is not one.

    Full-width characters, case, surrounding blanks and blanks in numbers do not matter.

    Args:
        text: as a user typed it.
        default_region: the ISO 3166 code of the region whose numbers need no country code.
    """
    # Truncated first, so that a very long text does not cost time; its real length is checked below.
    cleaned = unicodedata.normalize("NFKC", text[: 4 * MAX_LENGTH]).strip()
    if not cleaned or len(text) > MAX_LENGTH:
        return None
    if "@" in cleaned:
        return _email(cleaned)
    if _MOBILE_SHAPE.fullmatch(cleaned):
        return _mobile(cleaned, default_region)
    return _username(cleaned)


def _email(text: str) -> Credential | None:
    # Imported lazily, because logins by username do not need it.
    from email_validator import EmailNotValidError, validate_email

    try:
        address = validate_email(text.replace(" ", ""), check_deliverability=False)
    except EmailNotValidError:
        return None
    return Credential(EMAIL, address.normalized.casefold())


def _mobile(text: str, default_region: str) -> Credential | None:
    import phonenumbers

    try:
        # "00" is the usual international prefix where "+" is hard to type.
        number = phonenumbers.parse(re.sub(r"^00", "+", text), default_region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(number):
        return None
    return Credential(MOBILE, phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _username(text: str) -> Credential | None:
    folded = text.casefold()
    return Credential(USERNAME, folded) if _USERNAME.fullmatch(folded) else None
