"""The identity of a caller, and the origin of a request."""

from dataclasses import dataclass, field

from strongroom.errors import Forbidden

ADMIN = "ADMIN"


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a request, for audit records, and the languages of its sender.

    ``languages`` are BCP 47 tags, the preferred one first. They are not recorded.
    """

    address: str | None = None
    user_agent: str | None = None
    request_id: str | None = None
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Identity:
    """The user of a verified access token.

    Args:
        user_id: the user.
        user_type: ``USER`` or ``ADMIN``.
        authorization_id: the login that issued the token.
        address: the client's address, for audit records, if there is one.
    """

    user_id: str
    user_type: str
    authorization_id: str
    address: str | None = None

    @property
    def identity(self) -> "Identity":
        """The identity itself, so that an identity can be passed where a :class:`Caller` is."""
        return self

    @property
    def is_admin(self) -> bool:
        """Whether the user administers the whole server."""
        return self.user_type == ADMIN

    def require_self_or_admin(self, user_id: str) -> None:
        """Require that the caller is the given user or an administrator.

        Raises:
            Forbidden: the caller is neither.
        """
        if user_id != self.user_id and not self.is_admin:
            raise Forbidden


@dataclass(slots=True)
class Caller:
    """The user of an access token whose signature and expiry are verified.

    The login that issued the token may be revoked. The first query of the request verifies the login as
    well, so that a request needs one query instead of two.

    Args:
        user_id: the user.
        authorization_id: the login that issued the token.
        address: the client's address, for audit records, if there is one.
    """

    user_id: str
    authorization_id: str
    address: str | None = None
    identity: Identity | None = field(default=None, init=False)
    """The verified identity; ``None`` until a query has verified the login."""
    last_seen_at: int | None = field(default=None, init=False)
    """When the login was last used, in milliseconds since the Unix epoch; known once it is verified."""

    def confirm(self, last_seen_at: int, user_type: str) -> Identity:
        """Record that the login is not revoked, and return the verified identity."""
        self.last_seen_at = last_seen_at
        self.identity = Identity(self.user_id, user_type, self.authorization_id, self.address)
        return self.identity


AnyCaller = Caller | Identity
"""A caller whose login is verified, or will be by the next query."""
