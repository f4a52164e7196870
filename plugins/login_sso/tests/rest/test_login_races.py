"""Logins during the removal or the enforcement of a provider: none of them outlasts it."""

from collections import Counter
from itertools import count

import pytest
from tests.support.api import Answer, Api, Person
from tests.support.databases import on_postgresql
from tests.support.interleaving import Action, Interleaving
from tests.support.wechat import Browser

from ..company import CLIENT
from .spaces import AUTHORIZATIONS, Space, Spaces

pytestmark = [on_postgresql, pytest.mark.extended]


@pytest.fixture
def interleaving(spaces: Spaces) -> Interleaving:
    return Interleaving(spaces.api.container.database)


def is_logged_in(api: Api, login: Answer) -> bool:
    if login.status_code != 200:
        return False
    person = Person(login.json["user"]["id"], "", login.json["accessToken"])
    return api.get("/users/me", by=person).status_code == 200


def test_no_login_outlasts_the_removal_of_its_provider(
    spaces: Spaces, space: Space, interleaving: Interleaving
) -> None:
    body = {"label": "Company", "issuer": space.company.url, **CLIENT}
    numbers = count()

    def prepare() -> tuple[Action, Action]:
        created = spaces.api.post(f"{space.path}/identity-providers", body, by=space.admin)
        assert created.status_code == 201, created.text
        space.provider = created.json
        browser = Browser(spaces.api)
        redirect = space.redirect(browser, f"user{next(numbers)}@{space.domain}")
        return (
            lambda: browser.post(AUTHORIZATIONS, redirect),
            lambda: spaces.api.delete(space.provider_path, by=space.admin),
        )

    statuses: Counter[int] = Counter()
    for login, removal in interleaving.every(prepare):
        assert removal.status_code == 200, removal.text
        assert not is_logged_in(spaces.api, login)
        statuses[login.status_code] += 1
    # Some logins came first; others found no provider when they began, or only in their transaction.
    assert statuses.keys() == {200, 400, 403}


def test_no_login_by_a_password_outlasts_the_enforcement_of_the_provider(
    spaces: Spaces, space: Space, interleaving: Interleaving
) -> None:
    assert space.enforce().status_code == 200
    numbers = count()

    def prepare() -> tuple[Action, Action]:
        assert space.change(enforced=False).status_code == 200
        user = spaces.api.person(email=f"user{next(numbers)}@{space.domain}")
        spaces.api.join(space.path, space.admin, user)
        return lambda: spaces.api.log_in(user.email), lambda: space.change(enforced=True)

    statuses: Counter[int] = Counter()
    for login, enforcement in interleaving.every(prepare):
        assert enforcement.status_code == 200, enforcement.text
        assert not is_logged_in(spaces.api, login)
        statuses[login.status_code] += 1
    assert statuses.keys() == {200, 403}
