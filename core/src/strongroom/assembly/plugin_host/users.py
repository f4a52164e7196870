"""Implements ``host.users`` by the services of the REST API."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from strongroom.assembly.plugin_host.caller import AsCaller, changed, make_paging
from strongroom.clock import iso_format
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.user_management.creation import UserCreation
from strongroom.extensions.user_management.metadata import MetadataService
from strongroom.extensions.user_management.schemas import (
    ManagedUserSchema,
)
from strongroom.extensions.user_management.views import managed_user
from strongroom.foundation.caller import Identity
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import Forbidden
from strongroom.foundation.locales import choose_locale
from strongroom.foundation.operations import OperationRule
from strongroom.identity import operations
from strongroom.identity.accounts.account_deletion import AccountDeletion
from strongroom.identity.accounts.reauthentication import BODY_FIELDS, Proof
from strongroom.identity.accounts.schemas import SuspensionSchema, UserChangeSchema, UserQuery
from strongroom.identity.accounts.service import AccountService
from strongroom.identity.accounts.suspension import Suspension, Suspensions
from strongroom.identity.users.accounts import find_account
from strongroom.identity.users.models import User
from strongroom.plugin_api import users as api
from strongroom.plugin_api.changes import UNCHANGED, Unchanged
from strongroom.plugin_api.contacts import masked
from strongroom.plugin_api.paging import ResultPage
from strongroom.web.http.parsing import parse_values
from strongroom.web.pages.design import TEXTS
from strongroom.web.pages.languages import page_languages

# The beginning of an id is a time (UUID version 7), which the users of an import share.
_ID_END: Final = 8


class HostUsers(AsCaller, api.UsersAPI):
    """Implements ``host.users``."""

    def me(self) -> api.UserInfo:
        return self.get(self._caller(operations.GET_USER).user_id)

    def get(self, user_id: str) -> api.UserInfo:
        caller = self._caller(operations.GET_USER, user_id)
        if caller.key is not None and caller.key.tenant_id is not None:
            raise Forbidden("The access key is limited to a tenant.")
        return self._info(self._get(AccountService).get(caller, user_id))

    def find(
        self,
        *,
        email: str | None = None,
        mobile: str | None = None,
        username: str | None = None,
        external_id: str | None = None,
    ) -> api.UserInfo | None:
        named = {"email": email, "mobile": mobile, "username": username, "externalId": external_id}
        filters = {name: value for name, value in named.items() if value is not None}
        if not filters:
            raise ValueError("name an address, a number, a username or an external id")
        return next(iter(self._page(filters, Paging(1, 1)).items), None)

    def list(
        self,
        *,
        q: str | None = None,
        status: api.LiveStatus | None = None,
        type: api.UserKind | None = None,  # noqa: A002  as in the REST API
        sort: api.UserSorting = "createdAt",
        page: int = 1,
        size: int = 100,
    ) -> ResultPage[api.UserInfo]:
        given = {"q": q, "status": status, "type": type, "sort": sort}
        filters = {name: value for name, value in given.items() if value is not None}
        return self._page(filters, make_paging(page, size))

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
    ) -> api.UserInfo:
        caller = self._administrator(operations.CREATE_USER)
        given = {
            "name": name,
            "email": email,
            "mobile": mobile,
            "username": username,
            "emailVerified": email_verified,
            "mobileVerified": mobile_verified,
            "password": password,
            "passwordHash": password_hash,
            "passwordChangeRequired": password_change_required,
            "externalId": external_id,
            "metadata": metadata,
            "serverMetadata": server_metadata,
        }
        present = {field: value for field, value in given.items() if value is not None}
        new = managed_user(parse_values(ManagedUserSchema, present))
        return self._info(self._get(UserCreation).create(caller, new, self._origin()))

    def update(
        self,
        user_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        locale: str | Unchanged | None = UNCHANGED,
        external_id: str | Unchanged | None = UNCHANGED,
        revision: int | None = None,
    ) -> api.UserInfo:
        caller = self._caller(operations.CHANGE_USER, user_id)
        given = changed(name=name, locale=locale, externalId=external_id)
        changes = parse_values(UserChangeSchema, given)
        accounts = self._get(AccountService)
        return self._info(accounts.change(caller, user_id, changes, revision, self._origin()))

    def suspend(
        self,
        user_id: str,
        *,
        reason: str | None = None,
        until: int | None = None,
        revision: int | None = None,
    ) -> api.UserInfo:
        caller = self._administrator(operations.SUSPEND_USER, user_id)
        end = None if until is None else iso_format(until)
        suspension = Suspension(**parse_values(SuspensionSchema, {"reason": reason, "until": end}))
        suspensions = self._get(Suspensions)
        return self._info(suspensions.suspend(caller, user_id, suspension, self._origin(), revision))

    def reinstate(self, user_id: str, *, revision: int | None = None) -> api.UserInfo:
        caller = self._administrator(operations.SUSPEND_USER, user_id)
        suspensions = self._get(Suspensions)
        return self._info(suspensions.reinstate(caller, user_id, self._origin(), revision))

    def delete(self, user_id: str) -> None:
        caller = self._caller(operations.DELETE_USER, user_id)
        # Users who delete themselves need a proof, which a plugin does not have.
        deletion = self._get(AccountDeletion)
        deletion.delete(caller, user_id, Proof(), BODY_FIELDS, self._origin())

    def administers(self, user_id: str, tenant_id: str | None) -> bool:
        return self._get(TenantService).administers(user_id, tenant_id)

    def has_second_factor(self, user_id: str) -> bool:
        with self._user.services().database.read_one() as connection:
            account = find_account(connection, user_id)
        return account is not None and account.has_second_factor

    def find_labels(
        self, user_ids: Collection[str], contacts: api.Contacts = "masked"
    ) -> Mapping[str, str]:
        accounts = self._get(AccountService)
        users = accounts.find(user_ids)
        labels = {user.id: user.name for user in users}
        nameless = [] if contacts == "none" else [user for user in users if not user.name]
        names = accounts.find_login_names([user.id for user in nameless]) if nameless else {}
        return labels | {user.id: _label(user, names.get(user.id, {}), contacts) for user in nameless}

    def find_active(self, user_id: str) -> api.UserInfo | None:
        user = self._get(AccountService).find_active(user_id)
        return None if user is None else self._info(user)

    def find_server_metadata(self, user_id: str) -> Mapping[str, Any]:
        return self._get(MetadataService).get_server(user_id)

    def _administrator(self, rule: OperationRule, *ids: str) -> Identity:
        """Return the caller of an operation whose route accepts administrators only.

        Raises:
            Forbidden: the caller administers no server.
        """
        caller = self._caller(rule, *ids)
        if not caller.is_admin:
            raise Forbidden
        return caller

    def _page(self, given: Mapping[str, Any], paging: Paging) -> ResultPage[api.UserInfo]:
        self._administrator(operations.LIST_USERS)
        query = parse_values(UserQuery, given)
        filters = {name: value for name, value in query.items() if not name.startswith("page")}
        accounts = self._get(AccountService)
        page = accounts.page(paging, filters)
        names = accounts.find_login_names([user.id for user in page.items])
        users = [_user(user, names.get(user.id, {})) for user in page.items]
        return ResultPage(users, page.total, paging.number, paging.size)

    def _info(self, user: User) -> api.UserInfo:
        names = self._get(AccountService).find_login_names([user.id])
        return _user(user, names.get(user.id, {}))


def _user(user: User, names: Mapping[str, Any]) -> api.UserInfo:
    return api.UserInfo(
        id=user.id,
        type=user.type,
        status=user.status,
        name=user.name,
        locale=user.locale,
        created_at=user.created_at,
        email=names.get("email"),
        email_verified=names.get("email_verified", False),
        mobile=names.get("mobile"),
        mobile_verified=names.get("mobile_verified", False),
        username=names.get("username"),
        external_id=user.external_id,
        suspended_until=user.suspended_until,
        updated_at=user.updated_at,
        revision=user.revision,
    )


def _label(user: User, names: Mapping[str, Any], contacts: api.Contacts) -> str:
    """Return what pages call a user without a name."""
    if contact := names.get("email") or names.get("mobile"):
        return masked(contact) if contacts == "masked" else str(contact)
    if username := names.get("username"):
        return f"{username[:1]}•••" if contacts == "masked" else str(username)
    text = TEXTS.translator(choose_locale(page_languages(), known=TEXTS.languages))
    key = "nameless-user" if user.erased_at is None else "erased-user"
    return text(key, id=user.id[-_ID_END:])
