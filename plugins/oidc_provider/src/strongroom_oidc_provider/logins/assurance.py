"""How strongly logins are proven: the claim ``acr`` (OpenID Connect Core, section 2)."""

from typing import Final

from strongroom.plugin_api.login import (
    MULTI_FACTOR,
    PHISHING_RESISTANT,
    PHISHING_RESISTANT_HARDWARE,
    SINGLE_FACTOR,
)

ACR_VALUES: Final = (SINGLE_FACTOR, MULTI_FACTOR, PHISHING_RESISTANT, PHISHING_RESISTANT_HARDWARE)
"""Each value includes those before it."""


def find_requested(acr_values: str) -> str | None:
    """Return the first value of a request that this server knows; ``None`` if it knows none."""
    return next((value for value in acr_values.split() if value in ACR_VALUES), None)


def is_at_least(acr: str, requested: str | None) -> bool:
    """Return whether a login is proven as strongly as requested; ``None``: nothing is requested."""
    if requested is None:
        return True
    return acr in ACR_VALUES[ACR_VALUES.index(requested) :]
