"""Users as the caller: ``host.users``; see ``plugin_api.files``."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from strongroom.plugin_api.changes import UNCHANGED, Unchanged
from strongroom.plugin_api.paging import ResultPage

LiveStatus = Literal["active", "suspended"]
"""Whether a user may log in."""

UserKind = Literal["USER", "ADMIN", "SERVICE"]
"""The type of a user; see :class:`UserInfo`."""

UserSorting = Literal["createdAt", "-createdAt", "name", "-name", "lastLoginAt", "-lastLoginAt"]
"""The order of users."""

Contacts = Literal["whole", "masked", "none"]
"""How pages show the contacts and the usernames of users."""


@dataclass(frozen=True, slots=True)
class UserInfo:
    """A user. Times are in milliseconds since the Unix epoch.

    Args:
        type: ``USER``, ``ADMIN``, or ``SERVICE`` for the account of a machine.
        status: ``active`` or ``suspended``.
        locale: the language of messages, as a BCP 47 tag.
        email: the e-mail address.
        email_verified: whether a proof, or an administrator, has verified it.
        mobile: the mobile number, in international form.
        username: the login username.
        external_id: the id in another system.
        suspended_until: when a suspension ends automatically.
        revision: rises with every change.
    """

    id: str
    type: str
    status: str
    name: str
    locale: str | None
    created_at: int
    email: str | None = None
    email_verified: bool = False
    mobile: str | None = None
    mobile_verified: bool = False
    username: str | None = None
    external_id: str | None = None
    suspended_until: int | None = None
    updated_at: int = 0
    revision: int = 0


class UsersAPI(ABC):
    """The users that the caller may read and change: the caller, and for administrators all users.

    All but :meth:`me`, :meth:`get` and :meth:`update` need an administrator of the server: the user of
    the request, a service account of the server whose access key has ``users:read`` or ``users:write``,
    or an administrator that ``host.acting_as`` names. Changes have the rules of REST: the recent proof
    of a second factor, the rates of ``managed_users_per_caller``, and an audit record, whose details
    name the plugin. A user that ``host.acting_as`` names needs no proof.
    """

    @abstractmethod
    def me(self) -> UserInfo:
        """Return the caller."""

    @abstractmethod
    def get(self, user_id: str) -> UserInfo:
        """Return a user."""

    @abstractmethod
    def find(
        self,
        *,
        email: str | None = None,
        mobile: str | None = None,
        username: str | None = None,
        external_id: str | None = None,
    ) -> UserInfo | None:
        """Return the user with a contact, username or external id, or ``None``.

        Contacts are found in any spelling. With several of them, one user must have all.

        Raises:
            ValueError: none is given.
        """

    @abstractmethod
    def list(
        self,
        *,
        q: str | None = None,
        status: LiveStatus | None = None,
        type: UserKind | None = None,  # noqa: A002  as in the REST API
        sort: UserSorting = "createdAt",
        page: int = 1,
        size: int = 100,
    ) -> ResultPage[UserInfo]:
        """Return a page of the users, by default the oldest first.

        Args:
            q: a part of the name, address, number or username.
            status: only users with this status.
            type: only users of this type, such as ``USER`` without service accounts.
            sort: the property to sort by; the minus sign reverses the order.
        """

    @abstractmethod
    def create(
        self,
        name: str,
        *,
        email: str | None = None,
        mobile: str | None = None,
        username: str | None = None,
        email_verified: bool = False,
        mobile_verified: bool = False,
        password: str | None = None,
        password_hash: Mapping[str, Any] | None = None,
        password_change_required: bool = False,
        external_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        server_metadata: Mapping[str, Any] | None = None,
    ) -> UserInfo:
        """Create a user without codes, as ``POST /users`` does for administrators.

        Args:
            name: 1 to 255 characters.
            email: the e-mail address; one of this, ``mobile`` and ``username`` is required.
            email_verified: whether the address counts as proven, as for ``mobile_verified``.
            password: a password that meets the policy; ``None`` without one.
            password_hash: a hash of another system instead; ``algorithm`` names its scheme.
            password_change_required: whether the first login requires a new password.
            external_id: the id in another system, at most 255 characters, of one user only.
            metadata: a JSON object that the user may write.
            server_metadata: a JSON object that only administrators read and write.

        Raises:
            ApiError: also ``error.credential-taken``: another user has a contact or the external id.
        """

    @abstractmethod
    def update(
        self,
        user_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        locale: str | Unchanged | None = UNCHANGED,
        external_id: str | Unchanged | None = UNCHANGED,
        revision: int | None = None,
    ) -> UserInfo:
        """Change a user: the caller, or any user as an administrator.

        Args:
            name: 1 to 255 characters.
            locale: a BCP 47 tag; ``None``: no language is known.
            external_id: only for administrators; ``None`` removes it.
            revision: the expected revision; another one is an error.

        Raises:
            ApiError: also ``error.revision-conflict``, and ``error.credential-taken``.
        """

    @abstractmethod
    def suspend(
        self,
        user_id: str,
        *,
        reason: str | None = None,
        until: int | None = None,
        revision: int | None = None,
    ) -> UserInfo:
        """Suspend another user, and end all logins and keys of the user at once.

        Args:
            reason: at most 255 characters, for administrators only.
            until: when it ends, in milliseconds since the Unix epoch; ``None``: not automatically.
            revision: the expected revision; another one is an error.

        Raises:
            ApiError: also ``error.revision-conflict``.
        """

    @abstractmethod
    def reinstate(self, user_id: str, *, revision: int | None = None) -> UserInfo:
        """Let a suspended user log in again.

        Args:
            revision: the expected revision; another one is an error.

        Raises:
            ApiError: also ``error.revision-conflict``.
        """

    @abstractmethod
    def delete(self, user_id: str) -> None:
        """Delete another user; files stay with their tenants.

        Raises:
            ApiError: also ``error.last-administrator``, and a missing proof for the own account.
        """

    @abstractmethod
    def administers(self, user_id: str, tenant_id: str | None) -> bool:
        """Return whether a user is active, and administers a tenant or the whole server.

        For what a plugin does on behalf of an administrator later, outside of the administrator's
        requests, such as sending events. It needs no caller.

        Args:
            user_id: the user; one who was suspended or deleted administers nothing.
            tenant_id: the tenant; ``None``: only administrators of the server.
        """

    @abstractmethod
    def has_second_factor(self, user_id: str) -> bool:
        """Return whether a user has enrolled a second factor, which each login must then prove.

        It needs no caller, as :meth:`find_active`.
        """

    @abstractmethod
    def find_labels(self, user_ids: Collection[str], contacts: Contacts = "masked") -> Mapping[str, str]:
        """Return what pages call users, by their ids; without unknown users.

        It is the name. A user without one is called by a contact or the username, and without these by
        a text in the language of the page that ends with the end of the id. It needs no caller, so the
        plugin decides who may read the labels.

        Args:
            contacts: how contacts and usernames are shown, ``whole`` to administrators only; with
                ``none``, the label of a user without a name is empty.
        """

    @abstractmethod
    def find_active(self, user_id: str) -> UserInfo | None:
        """Return a user who is active; ``None`` if there is none.

        For responses to clients that the user has let read it. It needs no caller, so the plugin decides
        who may read what.
        """

    @abstractmethod
    def find_server_metadata(self, user_id: str) -> Mapping[str, Any]:
        """Return the JSON object about a user that only administrators write; empty without one.

        It needs no caller, as :meth:`find_active`.
        """
