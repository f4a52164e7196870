"""The phone number formats that Aliyun accepts."""

import re

MAINLAND = re.compile(r"(?:\+|\+86|86|0086)?(1[3-9]\d{9})")
OVERSEAS = re.compile(r"(?:\+|00)?([1-9]\d{6,14})")
MAINLAND_WITH_CODE = re.compile(r"(?:\+|00)?86(1[3-9]\d{9})")


def mainland_number(text: str) -> str | None:
    """Return the E.164 form of a mainland mobile number, or None if it is invalid."""
    match = MAINLAND.fullmatch(text)
    return f"+86{match[1]}" if match else None


def overseas_number(text: str) -> str | None:
    """Return the E.164 form of a country code and number, or None if it is invalid."""
    match = OVERSEAS.fullmatch(text)
    return f"+{match[1]}" if match else None


def is_mainland_with_code(text: str) -> bool:
    """Return whether a number has the country code of the mainland."""
    return bool(MAINLAND_WITH_CODE.fullmatch(text))
