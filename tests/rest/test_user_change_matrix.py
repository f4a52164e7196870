"""Who may change which users: each route that changes one, by caller and target, from a few rules.

The rules, in the order in which a request meets them (:func:`expected_of`):

1. Without a login, after a suspension and by an impersonation, nothing changes.
2. An access key needs the scope of the route's row, and changes neither administrators nor service
   accounts, nor deletes its own user.
3. Callers who do not administer the server change at most themselves.
4. Some routes are for the user only; some do not apply to the caller's own account, to administrators or
   to service accounts, because they would take the account over (:data:`TAKEOVER`).
5. A user who does not exist is 404.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType

import pytest
from tests.support.api import PASSWORD, Api, Json, Person
from tests.support.config import lifted
from tests.support.user_actors import (
    ABSENT,
    ADMINISTRATOR,
    ADMINISTRATOR_KEYS,
    ANONYMOUS,
    PEOPLE,
    PREFIXES,
    SERVER_KEYS,
    TENANT_KEY,
    UNKNOWN,
    USER_KEY,
    Cast,
    Kind,
    Target,
    has_scope,
    names_user,
    path_of,
)

from strongroom.web.http.access import SAFE_METHODS, Access
from strongroom.web.http.routing import Operation

pytestmark = pytest.mark.config(
    lifted(),
    {
        "plugins": {"enabled": ["storage_local", "factor_totp"]},
        "users": {"link_url": "https://app.example.com/password#"},
    },
)

NOBODY: Mapping[Target, int] = MappingProxyType({})
TAKEOVER = {Target.SELF: 409, Target.ADMINISTRATOR: 403, Target.SERVICE: 403}
NO_KEYS_OF = dict.fromkeys((Target.USER, Target.ADMINISTRATOR, Target.DELETED, Target.UNKNOWN), 403)
OF_MACHINES = dict.fromkeys((Target.SELF, Target.USER, Target.ADMINISTRATOR), 404)
CODE: Json = {"id": UNKNOWN, "code": "123456"}


@dataclass(frozen=True)
class Row:
    """A request of a route.

    Args:
        status: that of a request for a user who exists, if the caller may send it. A request that fails
            only after the caller was accepted has the status of that failure.
        body: with ``%n`` in place of a number that is new in each request.
        own: whether users may send it for themselves.
        administrators: whether administrators may send it for others.
        ranks: the statuses of an administrator's request for some targets, if they differ.
    """

    route: str
    status: int
    body: Json | None = None
    own: bool = True
    administrators: bool = True
    ranks: Mapping[Target, int] = field(default_factory=dict)
    content: bytes | None = None

    @property
    def is_recorded(self) -> bool:
        return self.status < 300 and self.route not in UNRECORDED

    @property
    def names_user(self) -> bool:
        return names_user(self.route)


def for_own(route: str, status: int, body: Json | None = None) -> Row:
    """Return the request that only the user may send."""
    return Row(route, status, body, administrators=False)


def for_others(
    route: str, status: int, body: Json | None = None, ranks: Mapping[Target, int] = NOBODY
) -> Row:
    """Return a request that only administrators may send."""
    return Row(route, status, body, own=False, ranks=ranks)


FACTOR = "/users/<user_id>/factors/<factor_id>"
KEY = "/users/<user_id>/access-keys/<key_id>"
CONTACT = "/users/<user_id>/contacts/<kind>"
INVITATION = "/users/<user_id>/invitations/<invitation_id>"
ACCOUNTS = "/api/v1/service-accounts"

ROWS = (
    Row("PATCH /users/<user_id>", 200, {"name": "Other"}),
    for_others("PATCH /users/<user_id>", 200, {"externalId": "id-%n"}),
    for_others("PATCH /users/<user_id>", 200, {"status": "suspended"}, {Target.SELF: 409}),
    for_others("PATCH /users/<user_id>", 200, {"type": "ADMIN"}, {Target.SERVICE: 403}),
    Row("PATCH /users/<user_id>/metadata", 200, {"colour": "red"}),
    Row("DELETE /users/<user_id>", 200),
    for_own("POST /users/<user_id>/deletion", 201),
    for_own("DELETE /users/<user_id>/deletion", 404),
    for_own("POST /users/<user_id>/exports", 200),
    Row("DELETE /users/<user_id>/authorizations", 200),
    for_others("POST /users/<user_id>/suspension", 200, {}, {Target.SELF: 409}),
    for_others("DELETE /users/<user_id>/suspension", 200),
    for_others("PATCH /users/<user_id>/server-metadata", 200, {"plan": "gold"}),
    for_others(f"PUT {CONTACT}", 200, {"value": "new%n@example.com"}, TAKEOVER),
    for_others(f"DELETE {CONTACT}", 200, None, TAKEOVER),
    for_others("POST /users/<user_id>/temporary-password", 201, None, TAKEOVER),
    for_others("POST /users/<user_id>/links", 201, {"kind": "reset", "send": False}, TAKEOVER),
    for_others(
        "POST /users/<user_id>/links",
        201,
        {"kind": "reset", "send": True},
        {Target.SELF: 409, Target.SERVICE: 403},
    ),
    for_others(
        "POST /users/<user_id>/impersonation",
        201,
        {"reason": "Ticket", "minutes": 5},
        dict.fromkeys(TAKEOVER, 403),
    ),
    for_others("DELETE /users/<user_id>/factors", 200),
    Row(
        "POST /users/<user_id>/access-keys",
        201,
        {"name": "key", "scopes": ["users:read"]},
        ranks=NO_KEYS_OF,
    ),
    Row(f"PATCH {KEY}", 404, {"name": "other"}, ranks=NO_KEYS_OF),
    Row(f"POST {KEY}/rotate", 404, {}, ranks=NO_KEYS_OF),
    Row(f"DELETE {KEY}", 404),
    for_own(
        "POST /users/<user_id>/emails", 400, {"email": "new%n@example.com", "verificationCode": CODE}
    ),
    for_own("DELETE /users/<user_id>/emails", 409),
    for_own(
        "POST /users/<user_id>/mobiles", 400, {"mobile": "+8613800138000", "verificationCode": CODE}
    ),
    for_own("DELETE /users/<user_id>/mobiles", 404),
    for_own("PUT /users/<user_id>/username", 200, {"username": "other%n"}),
    for_own(
        "PUT /users/<user_id>/password", 200, {"oldPassword": PASSWORD, "newPassword": "Another2Horse"}
    ),
    for_own("POST /users/<user_id>/factors", 201, {"kind": "totp"}),
    for_own("POST /users/<user_id>/factors/<enrolment_id>/confirmation", 401, {"answer": "123456"}),
    for_own(f"PATCH {FACTOR}", 404, {"name": "other"}),
    for_own(f"DELETE {FACTOR}", 404),
    for_own("POST /users/<user_id>/totp", 201),
    for_own("POST /users/<user_id>/totp/confirmation", 401, {"code": "123456"}),
    # Administrators may list factors, so they get the 404 of a user who has none.
    Row("DELETE /users/<user_id>/totp", 404),
    for_own("POST /users/<user_id>/recovery-codes", 400),
    for_own(f"POST {INVITATION}/acceptance", 404),
    for_own(f"DELETE {INVITATION}", 404),
    for_others("POST /users", 201, {"name": "New", "username": "new%n"}),
    Row("POST /user-imports", 202, content=b'{"name": "New", "username": "imported"}\n', own=False),
    for_others("DELETE /user-imports/<import_id>", 404),
    for_others(f"POST {ACCOUNTS}", 201, {"name": "Robot"}),
    for_others(f"PATCH {ACCOUNTS}/<account_id>", 200, {"name": "Other"}, OF_MACHINES),
    for_others(f"DELETE {ACCOUNTS}/<account_id>", 200, None, OF_MACHINES),
)
UNRECORDED = {
    "POST /users/<user_id>/factors": "nothing changes until the enrolment is confirmed",
    "POST /users/<user_id>/totp": "nothing changes until the enrolment is confirmed",
    "DELETE /users/<user_id>/suspension": "the user is not suspended",
}
FORM_OF_REGISTRATION = 400
"""The status of the body of an administrator's ``POST /users`` if it is sent as a registration."""

OPERATED = (Access.USER, Access.ADMIN, Access.OPTIONAL)


def operations(api: Api) -> Iterator[tuple[str, Operation]]:
    """Yield the routes that change something for a caller."""
    for rule in api.app.url_map.iter_rules():
        view = api.app.view_functions[rule.endpoint]
        if isinstance(view, Operation) and rule.rule.startswith(PREFIXES) and view.access in OPERATED:
            for method in (rule.methods or set()) - SAFE_METHODS:
                yield f"{method} {rule.rule}", view


def test_each_route_that_changes_users_has_a_row(api: Api) -> None:
    assert {route for route, _ in operations(api)} == {row.route for row in ROWS}


@pytest.mark.parametrize(
    "kinds",
    [PEOPLE, (USER_KEY, TENANT_KEY), SERVER_KEYS, ADMINISTRATOR_KEYS],
    ids=["people", "keys of others", "service accounts", "keys of administrators"],
)
def test_each_change_of_users_is_refused_and_accepted_by_the_rules(
    api: Api, kinds: tuple[Kind, ...]
) -> None:
    cast, views, numbers, wrong = Cast(api), dict(operations(api)), count(), []
    for row in ROWS:
        for kind in kinds:
            for target in targets_of(row, kind, views[row.route]):
                expected = expected_of(row, kind, views[row.route], target)
                status = send(cast, row, kind, target, next(numbers))
                if status != expected:
                    wrong.append((row.route, row.body, kind.name, target.value, status, expected))
    assert wrong == [], "\n".join(map(str, wrong))


def test_each_change_is_recorded_with_its_caller_and_target(api: Api) -> None:
    cast, reader = Cast(api), api.person(admin=True)
    for number, row in enumerate(row for row in ROWS if row.is_recorded):
        owned = Target.SERVICE if row.ranks in (OF_MACHINES, NO_KEYS_OF) else Target.USER
        target = owned if row.administrators else Target.SELF
        actor, user_id = cast.actor(ADMINISTRATOR).id, cast.target(ADMINISTRATOR, target)
        count_before = len(events_of(api, reader, actor))
        assert send(cast, row, ADMINISTRATOR, target, number) == row.status, row
        events = events_of(api, reader, actor)[: -count_before or None]
        assert events, row
        if row.names_user:
            assert user_id in json.dumps([(item["target"], item["details"]) for item in events]), row


def events_of(api: Api, by: Person, actor_id: str) -> list[Json]:
    """Return the records of what a user has done, newest first."""
    answer = api.get(f"/audit-events?actorId={actor_id}&pageSize=100", by=by)
    assert answer.status_code == 200, answer.text
    events: list[Json] = answer.json["data"]
    return events


def send(cast: Cast, row: Row, kind: Kind, target: Target, number: int) -> int:
    """Send a request; return its status."""
    method, _, rule = row.route.partition(" ")
    path = path_of(rule, cast.target(kind, target))
    body = None if row.body is None else json.loads(json.dumps(row.body).replace("%n", str(number)))
    options = {"json": body} if row.content is None else {"data": row.content}
    headers = {"Content-Type": "application/x-ndjson"} if row.content else {}
    answer = cast.api.request(method, path, by=cast.actor(kind), headers=headers, **options)
    if answer.status_code < 300:
        cast.replace(kind, target)
    return answer.status_code


def targets_of(row: Row, kind: Kind, view: Operation) -> tuple[Target, ...]:
    """Return the targets of a caller's requests: all, unless none of them matters."""
    if not row.names_user:
        return (Target.UNKNOWN,)
    if kind.is_refused or not has_scope(kind, view):
        return (Target.SELF, Target.USER)
    return tuple(Target)


def expected_of(row: Row, kind: Kind, view: Operation, target: Target) -> int:
    """Return the status that the rules give a request."""
    if view.access is Access.OPTIONAL and (kind is ANONYMOUS or is_registration(kind, view)):
        return FORM_OF_REGISTRATION
    if kind.is_refused:
        return kind.is_refused
    if not has_scope(kind, view) or (kind.scope and is_kept_from_keys(row, kind, target)):
        return 403
    if target is Target.SELF and row.own:
        return row.status
    if not kind.administers or not row.administrators:
        return 403
    is_absent = target in ABSENT and row.names_user
    return row.ranks.get(target, 404 if is_absent else row.status)


def is_registration(kind: Kind, view: Operation) -> bool:
    """Return whether a caller registers where administrators create users."""
    return not kind.is_refused and not kind.administers and has_scope(kind, view)


def is_kept_from_keys(row: Row, kind: Kind, target: Target) -> bool:
    """Return whether no access key may do this, whatever its scopes."""
    type_of_target = kind.type if target is Target.SELF else target
    is_deletion_of_self = target is Target.SELF and row.route == "DELETE /users/<user_id>"
    changes_type = bool(row.body and "type" in row.body)
    return (
        is_deletion_of_self or changes_type or type_of_target in (Target.ADMINISTRATOR, Target.SERVICE)
    )
