"""Logins from one address at the same time, which share the count of the address."""

import pytest
from tests.support.api import PASSWORD, Api, Person
from tests.support.databases import on_postgresql
from tests.support.interleaving import Action, Interleaving

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config({"limits": {"login_failures_before_captcha": 1000}}),
]


@on_postgresql
def test_a_login_that_fails_and_one_that_succeeds_do_not_wait_for_each_other(api: Api) -> None:
    alice, bob = api.person(), api.person()

    right, wrong = log_in(api, alice, PASSWORD), log_in(api, bob, "Wrong1Horse")
    runs = Interleaving(api.container.database)
    assert set(runs.every(lambda: (right, wrong))) == {(200, 401)}
    assert set(runs.every(lambda: (wrong, right))) == {(401, 200)}


def log_in(api: Api, person: Person, password: str) -> Action:
    return lambda: api.log_in(person.email, password).status_code
