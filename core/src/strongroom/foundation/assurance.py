"""What a tenant or a policy demands of a login, and whether a login meets it (RFC 9470)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from strongroom.foundation.caller import DelegatedLimits, Identity
from strongroom.foundation.errors import Forbidden, KeyNotAccepted, StepUpRequired, StrongroomError
from strongroom.plugin_api.login import (
    MULTI_FACTOR,
    PHISHING_RESISTANT,
    PHISHING_RESISTANT_HARDWARE,
    SINGLE_FACTOR,
)

ACR_VALUES: Final = (SINGLE_FACTOR, MULTI_FACTOR, PHISHING_RESISTANT, PHISHING_RESISTANT_HARDWARE)
"""The values of ``acr``, from the weakest to the strongest: each includes those before it."""

_LEVELS: Final[Mapping[str | None, int]] = {acr: level for level, acr in enumerate(ACR_VALUES)}


def is_as_strong(acr: str | None, required: str) -> bool:
    """Return whether an ``acr`` includes another one. An unknown one counts as a single factor."""
    return _LEVELS.get(acr, 0) >= _LEVELS[required]


class Demand(NamedTuple):
    """The assurance that a login must have.

    Args:
        acr: one of :data:`ACR_VALUES`; ``None``: any.
        max_age: seconds since the last proof of the login; ``None``: any.
    """

    acr: str | None
    max_age: int | None

    def is_met(self, identity: Identity, now: int) -> bool:
        """Return whether the login of a caller meets this; ``now`` is in milliseconds.

        A caller without a login, such as a plugin that acts as a user, and an access key meet no demand.
        """
        if identity.acr is None or identity.auth_time is None:
            return False
        is_recent = self.max_age is None or now - identity.auth_time < self.max_age * 1000
        return is_recent and (self.acr is None or is_as_strong(identity.acr, self.acr))

    def refusal(self, identity: Identity | None) -> StrongroomError:
        """Return the error for a caller who does not meet this."""
        if identity is not None and isinstance(identity.key, DelegatedLimits):
            return Forbidden("The tenant demands a login of its members.")
        if identity is not None and identity.key is not None:
            return KeyNotAccepted()
        return StepUpRequired(self.acr, self.max_age)


def make_demand(acr: str | None, max_age: int | None) -> Demand | None:
    """Return the demand in two columns of a row, or ``None`` without one."""
    return None if acr is None and max_age is None else Demand(acr, max_age)
