"""Which numbers SMS go to: mobile numbers of some regions."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

_SATELLITE: Final = re.compile(r"\+86(1349|1740)")
"""Satellite telephones in the numbering plan of mainland China, which metadata counts as mobile."""


class SmsNumbers:
    """The numbers that messages are sent to.

    Never one of a premium rate, shared cost, toll-free, satellite, pager, landline or service: a message
    there costs much, or reaches no person.

    Args:
        regions: the ISO 3166 codes of the regions.
    """

    def __init__(self, regions: Collection[str]) -> None:
        self.regions = tuple(regions)
        self.accepts = lru_cache(maxsize=256)(self._accepts)

    def _accepts(self, number: str) -> bool:
        """Return whether messages are sent to a number in E.164."""
        # Imported lazily, because logins by password do not need it.
        import phonenumbers
        from phonenumbers import PhoneNumberType

        try:
            parsed = phonenumbers.parse(number)
        except phonenumbers.NumberParseException:
            return False
        kinds = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)
        is_mobile = phonenumbers.number_type(parsed) in kinds and not _SATELLITE.match(number)
        # Several regions may share a code and a range, so the region of a number is not unique.
        return is_mobile and any(
            phonenumbers.is_valid_number_for_region(parsed, region) for region in self.regions
        )
