"""Who is asking, and from where."""

from dataclasses import dataclass

from strongroom.errors import Forbidden

ADMIN = "ADMIN"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from, as far as a record tells it, and what its sender reads.

    ``languages`` are BCP 47 tags, the preferred one first; no record holds them.
    """

    address: str | None = None
    user_agent: str | None = None
    request_id: str | None = None
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Identity:
    """A user whose access token has been checked.

    Args:
        user_id: the user.
        user_type: ``USER`` or ``ADMIN``.
        authorization_id: the login that the token came from.
        address: the client's address, for records, where a request has one.
    """

    user_id: str
    user_type: str
    authorization_id: str
    address: str | None = None

    @property
    def is_admin(self) -> bool:
        """Whether the user administers the whole server."""
        return self.user_type == ADMIN

    def require_self_or_admin(self, user_id: str) -> None:
        """Pass if the user is the one named, or an administrator.

        Raises:
            Forbidden: neither.
        """
        if user_id != self.user_id and not self.is_admin:
            raise Forbidden
