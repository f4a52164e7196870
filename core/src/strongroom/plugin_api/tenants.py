"""Tenants, their members and groups as the caller: ``host.tenants``; see ``plugin_api.files``."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from strongroom.plugin_api.paging import ResultPage

MemberRole = Literal["admin", "member", "records"]
"""The role of a member; ``records`` also places and releases holds."""


@dataclass(frozen=True, slots=True)
class TenantInfo:
    """A tenant, with its usage. ``quota_bytes`` is ``None`` without a limit.

    ``revision`` rises with every change of the tenant itself. ``role`` is the caller's, as
    :meth:`TenantsAPI.role` returns it; only :meth:`TenantsAPI.get` sets it.
    """

    id: str
    name: str
    quota_bytes: int | None
    used_bytes: int
    created_at: int
    revision: int = 0
    role: str | None = None


@dataclass(frozen=True, slots=True)
class UsageInfo:
    """The bytes that a tenant uses: the sum of the files, the trash and the versions.

    ``reserved_bytes`` are the bytes of unfinished uploads; ``quota_bytes`` is ``None`` without a limit.
    """

    used_bytes: int
    trash_bytes: int
    version_bytes: int
    reserved_bytes: int
    quota_bytes: int | None


@dataclass(frozen=True, slots=True)
class MemberInfo:
    """A user's membership of a tenant. ``role`` is ``admin``, ``member`` or ``records``."""

    user_id: str
    role: str
    created_at: int


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """A group of members of a tenant. ``revision`` rises with every change of its name."""

    id: str
    tenant_id: str
    name: str
    created_at: int
    revision: int = 0


@dataclass(frozen=True, slots=True)
class GroupMemberInfo:
    """A user's membership of a group. ``added_by`` is ``None`` if that user is not known."""

    user_id: str
    added_by: str | None
    created_at: int


class TenantsAPI(ABC):
    """The tenants that the caller belongs to.

    Methods that change something have the rules of REST: the scope of an access key, the recent proof of
    a second factor, and an audit record, whose details name the plugin. A user that
    ``host.acting_as`` names needs no proof, because the operator has configured the plugin to act.
    """

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

    @abstractmethod
    def find_roles(self, user_id: str, tenant_ids: Collection[str]) -> Mapping[str, str]:
        """Return the roles of a user in tenants, by their ids; without tenants of others.

        For responses to clients that the user has let read it. It needs no caller, so the plugin decides
        who may read what.
        """

    @abstractmethod
    def find_groups(
        self,
        user_id: str,
        tenant_ids: Collection[str],
        *,
        group_ids: Collection[str] = (),
        limit: int = 1000,
    ) -> Sequence[GroupInfo]:
        """Return the groups of a user in tenants, sorted by id; it needs no caller.

        Args:
            group_ids: only these; empty: all.
            limit: of the groups, at most 10,000.
        """

    @abstractmethod
    def put_member(self, tenant_id: str, user_id: str, role: MemberRole = "member") -> MemberInfo:
        """Add a member to a tenant, or change a member's role.

        Raises:
            ApiError: also ``error.not-found``, for a user who must be invited.
        """

    @abstractmethod
    def remove_member(self, tenant_id: str, user_id: str) -> None:
        """Remove a member from a tenant; a missing membership is not an error."""

    @abstractmethod
    def put_group_member(self, tenant_id: str, group_id: str, user_id: str) -> GroupMemberInfo:
        """Add a member of the tenant to a group, as an administrator of the tenant."""

    @abstractmethod
    def remove_group_member(self, tenant_id: str, group_id: str, user_id: str) -> None:
        """Remove a user from a group; a missing membership is not an error."""

    @abstractmethod
    def set_group_members(
        self,
        tenant_id: str,
        group_id: str,
        user_ids: Collection[str],
        *,
        revision: int | None = None,
    ) -> tuple[int, int]:
        """Make members of the tenant the only members of a group, in one transaction.

        Args:
            revision: the expected revision of the group; another one is an error.

        Returns:
            How many users were added and removed.

        Raises:
            ApiError: also ``error.not-a-member`` and ``error.too-many-groups``, without any change.
        """

    @abstractmethod
    def transfer_files(self, tenant_id: str, user_id: str, to_user_id: str) -> tuple[int, int]:
        """Make another member the owner of all files of a user, also of one who has left.

        Many files take several transactions; a repetition continues an interrupted transfer.

        Returns:
            How many files and folders, and how many grants were transferred.

        Raises:
            ApiError: also ``error.not-a-member``.
        """
