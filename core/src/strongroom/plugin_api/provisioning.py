"""Users and groups that a directory provisions: ``host.provisioning``; see ``plugin_api.files``.

A directory, such as the one of a company, lists people. An administrator of a tenant, or of the server,
registers it as a service account. A plugin speaks the protocol of the directory, such as SCIM, and calls
these methods with the access key of that account as the caller (RFC 7644)::

    host.authenticate(scope=Scope.USERS_WRITE)
    user, is_new = host.provisioning.provision_user(tenant_id, "ann@acme.example", "Ann", email=...)

A directory sees and changes only what it has created. It creates accounts and finds none: an address, a
login name or an external id that another user has is refused. It changes the account itself only while
the account belongs to no other tenant, and the address only until its holder has verified it. An address
of a domain that the tenant owns, see ``register_address_owners``, is verified by that.

``tenant_id=None`` is the server: its directories create users without a tenant, and no groups.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.state import Transaction

ResourceKind = Literal["user", "group"]


@dataclass(frozen=True, slots=True)
class DirectoryCounts:
    """The numbers of users and groups that a directory has created, and of its errors."""

    users: int
    groups: int
    errors: int


FindAddressOwner = Callable[[Transaction, str], str | None]
"""Returns the id of the tenant that an e-mail address belongs to, or ``None``. API 2.0.

It is called in the transaction of a change, such as one by a directory, and must be short.
"""


@dataclass(frozen=True, slots=True)
class DirectoryInfo:
    """A directory that an administrator has registered. Times are in milliseconds since the Unix epoch.

    Args:
        tenant_id: its tenant; ``None``: the server.
        account_id: the service account that acts for it; ``None``: the account was deleted.
        may_write: whether it may change anything.
        successor_id: the member who takes over the files of leavers; ``None``: the files stay.
        last_used_at: its last request, within a minute; ``None``: never.
        last_changed_at: its last change of a user or group, within a minute; ``None``: never.
        counts: only for administrators.
    """

    id: str
    tenant_id: str | None
    account_id: str | None
    name: str
    may_write: bool
    successor_id: str | None
    registered_by: str
    created_at: int
    last_used_at: int | None
    last_changed_at: int | None = None
    counts: DirectoryCounts | None = None


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """Why a request of a directory was refused.

    Args:
        status: the status of the response.
        code: the kind of error in the terms of the protocol, such as ``uniqueness``.
        message: what is wrong, without values of the request. 500 characters are stored.
    """

    status: int
    code: str | None
    message: str


@dataclass(frozen=True, slots=True)
class DirectoryErrorInfo:
    """The last refused request about a user or group. Times are in milliseconds since the Unix epoch.

    Args:
        name: the login name of the user, or the name of the group.
        resource_id: the user or group; ``None``: the directory has created none.
        count: how often it was refused since it last succeeded.
    """

    id: str
    kind: ResourceKind
    name: str
    resource_id: str | None
    status: int
    code: str | None
    message: str
    count: int
    first_at: int
    last_at: int


@dataclass(frozen=True, slots=True)
class UserRecord:
    """What a directory says of a user.

    Args:
        login_name: the name by which the directory knows the user: 1 to 255 characters, unique in the
            tenant whatever its case. No login of this server uses it.
        name: the name that others see, 1 to 255 characters.
        external_id: the directory's id, at most 255 characters, unique in the tenant.
        email: the address. Unless the tenant owns its domain, it proves nothing until the user returns a
            code sent to it.
        locale: a BCP 47 tag, which only a new user gets.
        is_active: whether the user may act.
        profile: further attributes, at most 32 KiB of JSON, which the server only stores.
    """

    login_name: str
    name: str
    external_id: str | None = None
    email: str | None = None
    locale: str | None = None
    is_active: bool = True
    profile: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProvisionedUserInfo:
    """A user that a directory has created. Times are in milliseconds since the Unix epoch.

    Args:
        is_active: whether the user may act, in the tenant or the server of the directory.
        version: differs after each change, also after one by an administrator.
    """

    id: str
    login_name: str
    name: str
    external_id: str | None
    is_active: bool
    profile: Mapping[str, Any]
    created_at: int
    updated_at: int
    version: str


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """What a directory says of a group.

    Args:
        name: 1 to 255 characters, unique in the tenant.
        external_id: the directory's id, at most 255 characters, unique in the tenant.
        member_ids: the members, at most 20,000 users of the directory; ``None``: unchanged. A user who
            is not active is left out.
    """

    name: str
    external_id: str | None = None
    member_ids: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class ProvisionedGroupInfo:
    """A group that a directory has created. Times are in milliseconds since the Unix epoch."""

    id: str
    name: str
    external_id: str | None
    created_at: int
    updated_at: int
    version: str


@dataclass(frozen=True, slots=True)
class MemberSummary:
    """A user in a group, or a group of a user: the id and the name."""

    id: str
    name: str


class ProvisioningAPI(ABC):
    """Directories, for administrators; and users and groups, for the directory that is the caller.

    Methods for administrators have the rules of REST: no access keys, the recent proof of a second
    factor, and an audit record. All others require a service account that an administrator has
    registered, with an access key or a client's token, whose scope is ``users:read``, or ``users:write``
    for changes.
    Each change is one transaction with audit records.
    """

    @abstractmethod
    def directories(
        self,
        tenant_id: str | None,
        *,
        page: int = 1,
        size: int = 100,
        query: Mapping[str, Any] | None = None,
    ) -> ResultPage[DirectoryInfo]:
        """Return a page of the directories of a tenant, or of the server, the oldest first.

        Args:
            query: the parsed query of a request, instead of ``page`` and ``size``, with the fields of
                :class:`~strongroom.plugin_api.schemas.PagingQuery`.
        """

    @abstractmethod
    def errors(
        self,
        tenant_id: str | None,
        directory_id: str,
        *,
        page: int = 1,
        size: int = 100,
        query: Mapping[str, Any] | None = None,
    ) -> ResultPage[DirectoryErrorInfo]:
        """Return a page of the refused requests of a directory, the newest first.

        The last one of each user and group is stored, at most 1,000 of a directory, until a request
        about the same one succeeds, and for 30 days.

        Args:
            query: as for :meth:`directories`.
        """

    @abstractmethod
    def record_result(
        self,
        tenant_id: str | None,
        kind: ResourceKind,
        error: RefusedRequest | None,
        *,
        name: str | None = None,
        resource_id: str | None = None,
    ) -> None:
        """Store that a request of the caller was refused, for :meth:`errors`; or that one succeeded.

        Args:
            error: ``None``: the request succeeded, which removes the stored error.
            name: the login name of the user, or the name of the group.
            resource_id: the id in the request, which the directory may have guessed. Without it and the
                name, nothing is stored.
        """

    @abstractmethod
    def register_directory(
        self,
        tenant_id: str | None,
        name: str,
        account_id: str,
        *,
        may_write: bool = True,
        successor_id: str | None = None,
    ) -> DirectoryInfo:
        """Let a service account provision users of a tenant, or of the server.

        Args:
            account_id: a service account of the tenant or of the server.
            successor_id: the member who takes over the files of leavers, within minutes.

        Raises:
            ApiError: also ``error.validation-failed`` for another account, or one with a directory here,
                and ``error.not-a-member`` for the successor.
        """

    @abstractmethod
    def change_directory(
        self,
        tenant_id: str | None,
        directory_id: str,
        name: str,
        account_id: str,
        *,
        may_write: bool = True,
        successor_id: str | None = None,
    ) -> DirectoryInfo:
        """Replace all values of a directory, also its account; what it has created stays its own."""

    @abstractmethod
    def remove_directory(self, tenant_id: str | None, directory_id: str) -> None:
        """Remove a directory. Its users and groups stay, and no directory changes them any more."""

    @abstractmethod
    def directory(self, tenant_id: str | None) -> DirectoryInfo:
        """Return the directory that the caller is, and note its use.

        Raises:
            ApiError: also ``error.forbidden``: no administrator has registered the caller.
        """

    @abstractmethod
    def provision_user(
        self, tenant_id: str | None, record: UserRecord
    ) -> tuple[ProvisionedUserInfo, bool]:
        """Create a user, who becomes a member of the tenant; return whether the user is new.

        A user of the directory with the external id is returned as stored.

        Raises:
            ApiError: also ``error.credential-taken``: another user has the address, or another one of
                the tenant the login name or the external id.
        """

    @abstractmethod
    def user(self, tenant_id: str | None, user_id: str) -> ProvisionedUserInfo:
        """Return a user of the directory; of others ``error.not-found``."""

    @abstractmethod
    def users(
        self,
        tenant_id: str | None,
        *,
        user_id: str | None = None,
        login_name: str | None = None,
        external_id: str | None = None,
        email: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> tuple[int, Sequence[ProvisionedUserInfo]]:
        """Return the number of the directory's users with all values, and some of them, oldest first.

        Args:
            login_name: in any case; the same for ``email``.
            limit: at most 500.
        """

    @abstractmethod
    def change_user(
        self,
        tenant_id: str | None,
        user_id: str,
        record: UserRecord,
        *,
        version: str | None = None,
    ) -> ProvisionedUserInfo:
        """Replace what the directory says of a user.

        A user who is no longer active loses the membership, the grants and all secrets in the tenant at
        once; the account is suspended if it belongs to no other tenant. A later activation restores the
        membership, as a plain member, and no secret.

        Args:
            version: the expected version; another one is an error.

        Raises:
            ApiError: also ``error.not-managed-here``: the address is not the directory's to change;
                ``error.last-administrator``, ``error.revision-conflict`` and ``error.credential-taken``.
        """

    @abstractmethod
    def remove_user(self, tenant_id: str | None, user_id: str, *, version: str | None = None) -> None:
        """Remove a user from the tenant, and delete the account unless it belongs to another tenant."""

    @abstractmethod
    def provision_group(self, tenant_id: str, record: GroupRecord) -> ProvisionedGroupInfo:
        """Create a group.

        Raises:
            ApiError: also ``error.group-name-taken``, ``error.too-many-groups``, and
                ``error.not-a-member`` for a user that the directory has not created.
        """

    @abstractmethod
    def group(self, tenant_id: str, group_id: str) -> ProvisionedGroupInfo:
        """Return a group of the directory; of others ``error.not-found``."""

    @abstractmethod
    def groups(
        self,
        tenant_id: str,
        *,
        group_id: str | None = None,
        name: str | None = None,
        external_id: str | None = None,
        member_id: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> tuple[int, Sequence[ProvisionedGroupInfo]]:
        """Return the number of the directory's groups with all values, and some of them, oldest first.

        Args:
            name: in any case of ASCII letters.
            limit: at most 500.
        """

    @abstractmethod
    def group_members(self, tenant_id: str, group_id: str) -> Sequence[MemberSummary]:
        """Return the directory's users in a group of the directory, sorted by id."""

    @abstractmethod
    def groups_of_users(
        self, tenant_id: str, user_ids: Collection[str]
    ) -> Mapping[str, Sequence[MemberSummary]]:
        """Return the directory's groups of users, by user; at most 500 users."""

    @abstractmethod
    def change_group(
        self, tenant_id: str, group_id: str, record: GroupRecord, *, version: str | None = None
    ) -> ProvisionedGroupInfo:
        """Replace what the directory says of a group, with all members in one transaction.

        Members that an administrator has added stay. Raises as :meth:`provision_group`, and
        ``error.revision-conflict``.
        """

    @abstractmethod
    def change_group_members(
        self,
        tenant_id: str,
        group_id: str,
        *,
        added: Collection[str] = (),
        removed: Collection[str] = (),
    ) -> ProvisionedGroupInfo:
        """Add users of the directory to a group, and remove others, whatever other members it has.

        Who is not a member is not an error. Raises as :meth:`change_group`.
        """

    @abstractmethod
    def remove_group(self, tenant_id: str, group_id: str, *, version: str | None = None) -> None:
        """Delete a group with its memberships and grants."""
