"""Normalises the e-mail addresses, mobile numbers and usernames that users type."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from strongroom.foundation.text_direction import DIRECTION_CONTROLS
from strongroom.identity.users.models import EMAIL, MOBILE, USERNAME
from strongroom.plugin_api.login import Credential

MAX_IDENTIFIER_LENGTH: Final = 254

# Blanks and bidirectional marks (UAX #9), which copied numbers and addresses bring along.
_EDGE = rf"[\s{DIRECTION_CONTROLS}]+"
_AROUND = re.compile(rf"^{_EDGE}|{_EDGE}$")
_MOBILE_SHAPE = re.compile(r"[(+]{0,2}[0-9][0-9 ().\-]{3,40}")
_USERNAME = re.compile(r"[a-z][a-z0-9._-]{2,63}")


# Cached, because a login calls it twice: for the throttle and for the password.
@lru_cache(maxsize=256)
def identify(text: str, default_region: str) -> Credential | None:
    """Return the normalised credential in ``text``, or ``None`` if it is not one.

    Full-width characters, case, surrounding blanks and bidirectional marks, and blanks in numbers do not
    matter.

    Args:
        text: as a user typed it.
        default_region: the ISO 3166 code of the region whose numbers need no country code.
    """
    # Truncated first, so that a very long text does not cost time; its real length is checked below.
    cleaned = unicodedata.normalize("NFKC", text[: 4 * MAX_IDENTIFIER_LENGTH])
    cleaned = _AROUND.sub("", cleaned)
    if not cleaned or len(text) > MAX_IDENTIFIER_LENGTH:
        return None
    if "@" in cleaned:
        return _email(cleaned)
    if _MOBILE_SHAPE.fullmatch(cleaned):
        return _mobile(cleaned, default_region)
    return _username(cleaned)


def _email(text: str) -> Credential | None:
    """Return an e-mail address, whose domain is in lower case by IDNA 2008 (RFC 5891, UTS #46).

    Domains are never case-folded, because that makes another domain of one with a sharp s or a final
    sigma. The local part is compared in lower case, and kept as its user wrote it.
    """
    # Imported lazily, because logins by username do not need it.
    from email_validator import EmailNotValidError, validate_email

    try:
        address = validate_email(text, check_deliverability=False)
    except EmailNotValidError:
        return None
    local = unicodedata.normalize("NFKC", address.local_part.lower())
    key = f"{local}@{address.domain}"
    return Credential(EMAIL, key, None if key == address.normalized else address.normalized)


def _mobile(text: str, default_region: str) -> Credential | None:
    """Return a number, which has a country code or is a valid number of the default region.

    Many a national number of another region is a possible number here, of another person: Taiwan's
    0912345680 would become +86 912345680.
    """
    import phonenumbers

    try:
        # "00" is the usual international prefix where "+" is hard to type.
        number = phonenumbers.parse(re.sub(r"^00", "+", text), default_region, keep_raw_input=True)
    except phonenumbers.NumberParseException:
        return None
    source = phonenumbers.CountryCodeSource
    is_national = number.country_code_source == source.FROM_DEFAULT_COUNTRY
    is_number = phonenumbers.is_valid_number if is_national else phonenumbers.is_possible_number
    if not is_number(number):
        return None
    return Credential(MOBILE, phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _username(text: str) -> Credential | None:
    folded = text.casefold()
    return Credential(USERNAME, folded) if _USERNAME.fullmatch(folded) else None
