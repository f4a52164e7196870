"""Callers of the routes of users, and the users whom they call them for; each is made when needed."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from strongroom.foundation.caller import SERVER_SCOPES
from strongroom.foundation.scopes import with_included
from strongroom.plugin_api.authentication import Scope
from strongroom.web.http.routing import Operation
from tests.support.api import PASSWORD, Api, Json, Person

PREFIXES = ("/users", "/user-imports", "/user-exports", "/api/v1/service-accounts")
UNKNOWN = "0190a1b2-0000-7000-8000-000000000000"
_OWNED = re.compile("<(user|account)_id>")


class Target(StrEnum):
    """The user that a request names."""

    SELF = "the caller"
    USER = "a user"
    ADMINISTRATOR = "an administrator"
    SERVICE = "a service account"
    DELETED = "a deleted user"
    UNKNOWN = "an unknown user"


ABSENT = (Target.DELETED, Target.UNKNOWN)


@dataclass(frozen=True)
class Kind:
    """A kind of caller.

    Args:
        scope: the only scope of the access key; ``None``: the caller has a token, or none.
        type: the type of the caller's user.
        is_refused: the status of all changes by the caller; ``None``: it depends on the route.
    """

    name: str
    scope: str | None = None
    type: Target = Target.USER
    administers: bool = False
    is_refused: int | None = None


ANONYMOUS = Kind("anonymous", is_refused=401)
SUSPENDED = Kind("suspended", is_refused=401)
IMPERSONATED = Kind("impersonated", is_refused=403)
USER = Kind("user")
TENANT_ADMINISTRATOR = Kind("administrator of a tenant")
ADMINISTRATOR = Kind("administrator", type=Target.ADMINISTRATOR, administers=True)
USER_KEY = Kind("key of a user", "users:write")
TENANT_KEY = Kind("key of a tenant", "tenants:read", type=Target.SERVICE)

PEOPLE = (ANONYMOUS, SUSPENDED, IMPERSONATED, USER, TENANT_ADMINISTRATOR, ADMINISTRATOR)
SERVER_KEYS = tuple(
    Kind(f"service account: {scope}", scope, Target.SERVICE, administers=True)
    for scope in sorted(SERVER_SCOPES)
)
ADMINISTRATOR_KEYS = tuple(
    Kind(f"key of an administrator: {scope}", scope, Target.ADMINISTRATOR, administers=True)
    for scope in sorted(SERVER_SCOPES)
)


def names_user(rule: str) -> bool:
    """Return whether the path of a rule names a user or a service account."""
    return _OWNED.search(rule) is not None


def path_of(rule: str, user_id: str) -> str:
    """Return the path of a rule for a user, with ids of nothing else that exists."""
    named = _OWNED.sub(user_id, rule).replace("<kind>", "email")
    return re.sub("<[^>]*>", UNKNOWN, named)


def has_scope(kind: Kind, view: Operation) -> bool:
    """Return whether a caller has the scope of a route, or needs none."""
    return kind.scope is None or view.scope in with_included(frozenset({Scope(kind.scope)}))


@dataclass
class Cast:
    """Makes callers and targets, and keeps them until a request has changed them."""

    api: Api
    _actors: dict[Kind, Person] = field(default_factory=dict)
    _targets: dict[Target, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._root = self.api.person(admin=True)

    def actor(self, kind: Kind) -> Person:
        """Return a caller."""
        if kind not in self._actors:
            self._actors[kind] = self._caller(kind)
        return self._actors[kind]

    def target(self, actor: Kind, target: Target) -> str:
        """Return the id of the user whom a caller names."""
        if target is Target.SELF:
            return self.actor(actor).id
        if target not in self._targets:
            self._targets[target] = self._makers()[target]()
        return self._targets[target]

    def replace(self, actor: Kind, target: Target) -> None:
        """Make another user when the same is needed again, because a request has changed it."""
        if target is Target.SELF:
            self._actors.pop(actor)
        else:
            self._targets.pop(target, None)

    def _caller(self, kind: Kind) -> Person:
        if kind is TENANT_KEY:
            return self._tenant_key()
        if kind.type is Target.SERVICE:
            account = self._service_account()
            return self._key(self._root, account, kind.scope)
        person = self.api.person(admin=kind.administers)
        if kind.scope is not None:
            return self._key(person, person.id, kind.scope)
        if kind is TENANT_ADMINISTRATOR:
            self.api.tenant(person)
        if kind is SUSPENDED:
            assert self.api.post(f"/users/{person.id}/suspension", by=self._root).status_code == 200
        if kind is IMPERSONATED:
            path, body = f"/users/{person.id}/impersonation", {"reason": "Ticket", "minutes": 5}
            return replace(person, token=self.api.post(path, body, by=self._root).json["accessToken"])
        return replace(person, token=None) if kind is ANONYMOUS else person

    def _makers(self) -> dict[Target, Callable[[], str]]:
        return {
            Target.USER: lambda: self.api.person().id,
            Target.ADMINISTRATOR: lambda: self.api.person(admin=True).id,
            Target.SERVICE: self._service_account,
            Target.DELETED: self._deleted,
            Target.UNKNOWN: lambda: UNKNOWN,
        }

    def _deleted(self) -> str:
        person = self.api.person()
        assert self.api.delete(f"/users/{person.id}", by=self._root).status_code == 200
        return person.id

    def _service_account(self) -> str:
        made = self.api.post("/api/v1/service-accounts", {"name": "Robot"}, by=self._root)
        return str(made.json["id"])

    def _tenant_key(self) -> Person:
        accounts = f"{self.api.tenant(self._root)}/service-accounts"
        account = self.api.post(accounts, {"name": "Robot"}, by=self._root).json["id"]
        body: Json = {"name": "key", "scopes": ["tenants:read"], "currentPassword": PASSWORD}
        made = self.api.post(f"{accounts}/{account}/access-keys", body, by=self._root)
        return Person(account, "", made.json["key"])

    def _key(self, by: Person, owner: str, scope: str | None) -> Person:
        body: Json = {"name": "key", "scopes": [scope], "currentPassword": PASSWORD}
        made = self.api.post(f"/users/{owner}/access-keys", body, by=by)
        assert made.status_code == 201, made.text
        return Person(owner, "", made.json["key"])
