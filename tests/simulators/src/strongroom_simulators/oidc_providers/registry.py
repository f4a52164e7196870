"""People with accounts at a provider, and the clients that are registered there."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Person:
    """A person with an account.

    Args:
        id: the name in calls of the simulator.
        subject: the account's id at the provider.
        name: the name in the profile.
        email: the address of the account.
        is_verified: whether the provider has verified the address.
        claims: members of the provider's own; they replace the standard ones of the same name.
    """

    id: str
    subject: str
    name: str
    email: str | None = None
    is_verified: bool = True
    claims: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RegisteredClient:
    """A client that is registered at the provider.

    Args:
        id: the client id.
        secret: the client secret.
        redirect_uris: the exact redirect URIs.
        public_key: the key of ``private_key_jwt``, or of Apple's client secrets, in PEM.
        team_id: the team of Apple that owns the client.
        key_id: the id of ``public_key``.
    """

    id: str
    secret: str = field(default="", repr=False)
    redirect_uris: tuple[str, ...] = ()
    public_key: str = field(default="", repr=False)
    team_id: str = ""
    key_id: str = ""
