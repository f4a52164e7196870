"""Who may read which data of users: each read route, by caller and target, from one rule per route."""

from collections.abc import Iterator

import pytest
from tests.support.api import Api
from tests.support.user_actors import (
    ABSENT,
    ADMINISTRATOR_KEYS,
    ANONYMOUS,
    PEOPLE,
    PREFIXES,
    SERVER_KEYS,
    SUSPENDED,
    TENANT_KEY,
    USER_KEY,
    Cast,
    Kind,
    Target,
    has_scope,
    names_user,
    path_of,
)

from strongroom.web.http.access import Access
from strongroom.web.http.routing import Operation

pytestmark = pytest.mark.both_databases

DELETION = "/users/<user_id>/deletion"
CLIENT_ACTIONS = "/users/<user_id>/client-actions/<client_id>"
SELF_ONLY = ("/users/<user_id>/invitations", CLIENT_ACTIONS, DELETION)
KINDS = (*PEOPLE, USER_KEY, TENANT_KEY, *SERVER_KEYS, *ADMINISTRATOR_KEYS)


def read_routes(api: Api) -> Iterator[tuple[str, Operation]]:
    for rule in api.app.url_map.iter_rules():
        view = api.app.view_functions[rule.endpoint]
        if not isinstance(view, Operation) or "GET" not in (rule.methods or ()):
            continue
        prefixes = (*PREFIXES, "/audit-events", "/second-factors")
        if rule.rule.startswith(prefixes) and view.access is not Access.PUBLIC:
            yield rule.rule, view


def test_each_read_of_users_is_refused_and_accepted_by_the_rule(api: Api) -> None:
    cast, wrong, count = Cast(api), [], 0
    for rule, view in read_routes(api):
        for kind in KINDS:
            for target in tuple(Target) if names_user(rule) else (Target.UNKNOWN,):
                path = path_of(rule, cast.target(kind, target))
                status = cast.api.get(path, by=cast.actor(kind)).status_code
                expected, count = expected_of(kind, view, rule, target), count + 1
                if status != expected:
                    wrong.append((kind.name, rule, target.value, status, expected))
    assert wrong == []
    assert count > 800


def expected_of(kind: Kind, view: Operation, rule: str, target: Target) -> int:
    """Return the status that the rule of a route gives a request."""
    if kind in (ANONYMOUS, SUSPENDED):
        return 401
    if not has_scope(kind, view):
        return 403
    is_own = target is Target.SELF and view.access is Access.USER
    if not is_own and not (kind.administers and rule not in SELF_ONLY):
        return 403
    return 200 if exists(rule, target) else 404


def exists(rule: str, target: Target) -> bool:
    """Return whether there is what a path names; of what users have, there is nothing."""
    if rule == DELETION:
        return False
    if rule == CLIENT_ACTIONS:
        # Any client has a list, which is empty.
        return target not in ABSENT
    if rule.endswith("<account_id>"):
        return target is Target.SERVICE
    return "<" not in rule.replace("<user_id>", "") and not (names_user(rule) and target in ABSENT)
