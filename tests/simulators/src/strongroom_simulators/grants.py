"""Codes and tokens that are valid for one app until a time."""

from collections.abc import Mapping
from typing import Protocol, TypeVar


class Grant(Protocol):
    """What a code or token stands for."""

    @property
    def app(self) -> object:
        """The app that it was issued to."""

    @property
    def expires_at(self) -> float:
        """The time from which on it is invalid."""


GrantT = TypeVar("GrantT", bound=Grant)


def find_grant(
    grants: Mapping[str, GrantT],
    key: str,
    app: object,
    now: float,
    refusals: tuple[Exception, Exception],
) -> GrantT:
    """Return the grant of a code or token.

    Args:
        refusals: what is raised for an unknown one or another app's, and for an expired one.
    """
    unknown, expired = refusals
    grant = grants.get(key)
    if grant is None or grant.app is not app:
        raise unknown
    if now >= grant.expires_at:
        raise expired
    return grant
