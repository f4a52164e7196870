"""Tenants and users as the caller: ``host.tenants`` and ``host.users``; see ``plugin_api.files``."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from strongroom.plugin_api.paging import ResultPage


@dataclass(frozen=True, slots=True)
class TenantInfo:
    """A tenant, with its usage. ``quota_bytes`` is ``None`` without a limit."""

    id: str
    name: str
    quota_bytes: int | None
    used_bytes: int
    created_at: int


@dataclass(frozen=True, slots=True)
class UsageInfo:
    """The bytes that a tenant uses: the sum of the files, the trash and the versions.

    ``reserved_bytes`` are those of unfinished uploads; ``quota_bytes`` is ``None`` without a limit.
    """

    used_bytes: int
    trash_bytes: int
    version_bytes: int
    reserved_bytes: int
    quota_bytes: int | None


@dataclass(frozen=True, slots=True)
class MemberInfo:
    """A user's membership of a tenant. ``role`` is ``admin`` or ``member``."""

    user_id: str
    role: str
    created_at: int


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """A group of members of a tenant."""

    id: str
    tenant_id: str
    name: str
    created_at: int


@dataclass(frozen=True, slots=True)
class UserInfo:
    """A user. ``type`` is ``USER`` or ``ADMIN``; ``status`` is ``active`` or ``suspended``."""

    id: str
    type: str
    status: str
    name: str
    locale: str | None
    created_at: int


class TenantsAPI(ABC):
    """The tenants that the caller belongs to."""

    @abstractmethod
    def list(self, *, page: int = 1, size: int = 100) -> ResultPage[TenantInfo]:
        """Return a page of the caller's tenants, sorted by name."""

    @abstractmethod
    def get(self, tenant_id: str) -> TenantInfo:
        """Return a tenant that the caller belongs to."""

    @abstractmethod
    def usage(self, tenant_id: str) -> UsageInfo:
        """Return the usage of a tenant, also to server administrators, who need not belong to it.

        Raises:
            ApiError: ``error.not-found``, to server administrators only.
        """

    @abstractmethod
    def role(self, tenant_id: str) -> str | None:
        """Return the caller's role, ``admin`` or ``member``; ``None`` if the caller does not belong."""

    @abstractmethod
    def members(self, tenant_id: str, *, page: int = 1, size: int = 100) -> ResultPage[MemberInfo]:
        """Return a page of the members of a tenant, the oldest first."""

    @abstractmethod
    def groups(
        self, tenant_id: str, *, user_id: str | None = None, page: int = 1, size: int = 100
    ) -> ResultPage[GroupInfo]:
        """Return a page of the groups of a tenant, or of the user in it, sorted by name.

        The groups of other users are for administrators of the tenant.
        """


class UsersAPI(ABC):
    """The users that the caller may read: the caller, and for server administrators all users."""

    @abstractmethod
    def me(self) -> UserInfo:
        """Return the caller."""

    @abstractmethod
    def get(self, user_id: str) -> UserInfo:
        """Return a user."""
