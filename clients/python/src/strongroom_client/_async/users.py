"""Users as administrators manage them."""

import datetime
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from ..api import authorizations, managed_users, user_exports, users
from ..models import (
    BoundCredential,
    Contact,
    ListUsersSort,
    ListUsersStatus,
    ListUsersType,
    NewPasswordLink,
    NewPasswordLinkKind,
    NewUser,
    PasswordLink,
    Suspension,
    TemporaryPassword,
    User,
    UserChange,
)
from ..operations import UNSET, Unset
from .sending import PAGE_SIZE, AsyncSender

ContactKind: TypeAlias = Literal["email", "mobile", "username"]


class AsyncUsers:
    """Creates, lists and changes users, for a client that is an administrator's.

    An administrator with a second factor needs a recent proof of it; after
    ``errors_by_code.StepUpRequired``, call :meth:`Client.step_up`.

    Args:
        sender: sends the operations.
    """

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def create(self, new: NewUser) -> User:
        """Create a user, without a code, a captcha or a password.

        Raises:
            ValidationFailed: ``details`` has the error of each field.
            CredentialTaken: another user has one of the names, or the external id.
        """
        return await self._sender.send(users.create_user(body=new))

    async def get(self, user_id: str) -> User:
        """Return a user.

        Raises:
            NotFound: there is no such user.
        """
        return await self._sender.send(users.get_user(user_id))

    def iterate(
        self,
        *,
        q: str | Unset = UNSET,
        email: str | Unset = UNSET,
        mobile: str | Unset = UNSET,
        username: str | Unset = UNSET,
        status: ListUsersStatus | Unset = UNSET,
        type_: ListUsersType | Unset = UNSET,
        external_id: str | Unset = UNSET,
        sort: ListUsersSort | Unset = UNSET,
    ) -> AsyncIterator[User]:
        """Iterate over the users that match all filters.

        Args:
            q: a part of a name, an e-mail address, a mobile number or a username.
        """
        listing = users.list_users(
            q=q,
            email=email,
            mobile=mobile,
            username=username,
            status=status,
            type_=type_,
            external_id=external_id,
            sort=sort,
            page_size=PAGE_SIZE,
        )
        return self._sender.iterate(listing)

    async def export(self) -> AsyncIterator[dict[str, Any]]:
        """Iterate over all users, as JSON objects that an import accepts, without secrets.

        Administrators and service accounts are not among them. The audit log records the export.
        """
        async for line in self._sender.lines(user_exports.export_users()):
            yield msgspec.json.decode(line, type=dict[str, Any])

    async def find(self, name: str) -> User | None:
        """Return the user with an e-mail address, a mobile number such as +86138..., or a username."""
        is_email, is_mobile = "@" in name, name.startswith("+")
        matching = self.iterate(
            email=name if is_email else UNSET,
            mobile=name if is_mobile and not is_email else UNSET,
            username=UNSET if is_email or is_mobile else name,
        )
        async for user in matching:
            return user
        return None

    async def change(self, user_id: str, change: UserChange) -> User:
        """Change the name, the locale, the type or the status of a user."""
        return await self._sender.send(users.change_user(user_id, body=change))

    async def suspend(
        self, user_id: str, *, reason: str | None = None, until: datetime.datetime | None = None
    ) -> User:
        """End all logins, access keys and links of a user, and refuse further logins.

        Args:
            reason: only administrators see it.
            until: when the suspension ends; ``None``: when the user is reinstated.

        Raises:
            OwnAccount: the user is the caller.
        """
        body = Suspension(reason=reason, until=until)
        return await self._sender.send(users.suspend_user(user_id, body=body))

    async def reinstate(self, user_id: str) -> User:
        """Let a suspended user log in again."""
        return await self._sender.send(users.reinstate_user(user_id))

    async def end_logins(self, user_id: str) -> None:
        """End all logins of a user, who may log in again."""
        await self._sender.send(authorizations.delete_authorizations(user_id))

    async def delete(self, user_id: str) -> None:
        """Delete a user. Files stay with their tenants; personal data are erased later."""
        await self._sender.send(users.delete_user(user_id))

    async def set_contact(
        self, user_id: str, kind: ContactKind, value: str, *, verified: bool = False
    ) -> BoundCredential:
        """Replace the e-mail address, the mobile number or the username of a user.

        Args:
            verified: whether the contact counts as proven.

        Raises:
            CredentialTaken: another user has it.
            Forbidden: the user is an administrator or a service account.
        """
        body = Contact(value=value, verified=verified)
        return await self._sender.send(managed_users.set_contact(user_id, kind, body=body))

    async def remove_contact(self, user_id: str, kind: ContactKind) -> None:
        """Remove the e-mail address, the mobile number or the username of a user, even the last one."""
        await self._sender.send(managed_users.remove_contact(user_id, kind))

    async def give_temporary_password(self, user_id: str) -> TemporaryPassword:
        """Replace the password of a user. Only this result has the temporary one.

        The next login with it needs a new password: ``log_in(..., new_password=...)``.
        """
        return await self._sender.send(managed_users.give_temporary_password(user_id))

    async def create_link(
        self, user_id: str, kind: NewPasswordLinkKind, *, send: bool = True
    ) -> PasswordLink:
        """Send a link by which a user sets a password, once.

        Args:
            kind: ``invite``, for 7 days, or ``reset``, for a day.
            send: with ``False``, the result has the ``url`` instead.
        """
        body = NewPasswordLink(kind=kind, send=send)
        return await self._sender.send(managed_users.create_password_link(user_id, body=body))

    async def metadata(self, user_id: str) -> dict[str, Any]:
        """Return the JSON object that the user may write; never authorise anything by it."""
        return await self._sender.send(managed_users.get_metadata(user_id))

    async def change_metadata(self, user_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Merge members into that object (RFC 7396), and return it; ``None`` removes a member."""
        return await self._sender.send(managed_users.change_metadata(user_id, body=dict(changes)))

    async def server_metadata(self, user_id: str) -> dict[str, Any]:
        """Return the JSON object about a user that only administrators read and write."""
        return await self._sender.send(managed_users.get_server_metadata(user_id))

    async def change_server_metadata(self, user_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Merge members into that object (RFC 7396), and return it; ``None`` removes a member."""
        operation = managed_users.change_server_metadata(user_id, body=dict(changes))
        return await self._sender.send(operation)
