"""The identity of a caller, and the origin of a request."""

from dataclasses import dataclass

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
