"""Log in, bind and unbind with each preset by the REST API."""

from collections.abc import Iterator

import pytest
from tests.support.api import error_code
from tests.support.databases import SqliteDatabases
from tests.support.wechat import Browser

from strongroom_login_oidc.presets import PRESETS

from .browsers import AUTHORIZATIONS
from .platforms import Platforms, platforms

SAMPLED = pytest.mark.parametrize("preset", ["apple", "github", "microsoft", "qq"])
EACH = pytest.mark.parametrize("preset", sorted(PRESETS))


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, sqlite_databases: SqliteDatabases
) -> Iterator[Platforms]:
    folder = tmp_path_factory.mktemp("platforms")
    with sqlite_databases.create() as url, platforms(folder, url) as served:
        yield served


@EACH
def test_a_login_creates_a_user_and_the_next_one_is_the_same(served: Platforms, preset: str) -> None:
    account = served.account(preset, "someone@example.net")
    first = served.log_in(preset, account)
    assert first.status_code == 200, first.text
    assert first.json["user"]["name"] == "Mallory"
    assert served.log_in(preset, account).json["user"]["id"] == first.json["user"]["id"]
    other = served.account(preset, "someone@example.net")
    assert served.log_in(preset, other).json["user"]["id"] != first.json["user"]["id"]


@EACH
def test_a_user_binds_and_unbinds_an_account(served: Platforms, preset: str) -> None:
    person = served.api.person(email=f"owner-{preset}@example.net")
    account = served.account(preset, "someone@example.net")
    bound = served.bind(preset, account, person)
    assert bound.status_code == 201, bound.text
    assert served.log_in(preset, account).json["user"]["id"] == person.id
    second = served.account(preset, "someone@example.net")
    assert served.bind(preset, second, person).status_code == 201
    assert served.log_in(preset, account).json["user"]["id"] != person.id
    assert served.unbind(person).status_code == 200
    assert served.log_in(preset, second).json["user"]["id"] != person.id


@SAMPLED
def test_the_account_of_another_user_is_not_bound(served: Platforms, preset: str) -> None:
    account = served.account(preset, "someone@example.net")
    owner = served.log_in(preset, account).json["user"]["id"]
    person = served.api.person(email=f"taker-{preset}@example.net")
    refused = served.bind(preset, account, person)
    assert error_code(refused) == "error.credential-taken"
    assert served.log_in(preset, account).json["user"]["id"] == owner


@SAMPLED
def test_the_answer_for_another_browser_logs_no_person_in(served: Platforms, preset: str) -> None:
    attacker, victim = Browser(served.api), Browser(served.api)
    account = served.account(preset, "someone@example.net")
    served.redirect(victim, preset, account)
    stolen = served.redirect(attacker, preset, account)
    refused = victim.post(AUTHORIZATIONS, stolen)
    assert (refused.status_code, error_code(refused)) == (400, "error.state-invalid")


@SAMPLED
def test_an_answer_counts_once(served: Platforms, preset: str) -> None:
    browser = Browser(served.api)
    redirect = served.redirect(browser, preset, served.account(preset, "someone@example.net"))
    assert browser.post(AUTHORIZATIONS, redirect).status_code == 200
    assert browser.post(AUTHORIZATIONS, redirect).status_code == 400


def test_an_answer_of_apple_is_a_form_of_another_site(served: Platforms) -> None:
    callback = "/api/v1/oidc-authorizations/callback/apple"
    redirect = served.redirect(Browser(served.api), "apple", served.account("apple"))
    forwarded = served.api.post(callback, data=redirect)
    assert forwarded.status_code == 303
    location = forwarded.headers["Location"]
    assert f"state={redirect['state']}" in location
    assert f"code={redirect['code']}" in location


def test_a_parameter_of_a_redirect_without_a_value_is_none(served: Platforms) -> None:
    """RFC 6749, section 3.1: it is treated as if it were omitted."""
    browser = Browser(served.api)
    account = served.account("github", "someone@example.net")
    redirect = served.redirect(browser, "github", account)
    callback = "/api/v1/oidc-authorizations/callback/github"
    refused = {"state": redirect["state"], "error": "access_denied", "error_description": "", "code": ""}
    answer = served.api.get(callback, query_string=refused)
    assert error_code(answer) == "error.oidc-access-denied"
    agreed = served.api.get(callback, query_string={**redirect, "error": "", "user": ""})
    assert agreed.json == redirect
