"""Log in, bind and unbind by the REST API; and what another browser or provider cannot do."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.support.api import Api, error_code
from tests.support.wechat import Browser

from ..hostile import HostileProvider
from .browsers import AUTHORIZATIONS, IDS, People

ONCE = 32


def test_a_login_creates_a_user_and_the_next_one_is_the_same_user(people: People) -> None:
    first = people.log_in()
    assert first.status_code == 200, first.text
    assert first.json["user"]["name"] == "Ada"
    assert people.log_in().json["user"]["id"] == first.json["user"]["id"]


def test_the_same_sub_at_another_provider_is_another_person(people: People) -> None:
    assert people.log_in().json["user"]["id"] != people.log_in("other").json["user"]["id"]


def test_a_request_has_state_nonce_and_challenge(people: People) -> None:
    browser = Browser(people.api)
    queries = [dict(parse_qsl(urlsplit(people.begin(browser).json["url"]).query)) for _ in range(2)]
    for member in ("state", "nonce", "code_challenge"):
        assert queries[0][member] != queries[1][member]
    assert queries[0]["response_type"] == "code"
    assert queries[0]["code_challenge_method"] == "S256"
    assert queries[0]["redirect_uri"].endswith("/api/v1/oidc-authorizations/callback/company")


def test_the_secret_of_the_client_is_form_encoded_in_the_header(
    people: People, provider: HostileProvider
) -> None:
    assert people.log_in().status_code == 200
    assert provider.basic() == ("strongroom", "s3cret: of+the/client %")
    assert "client_secret" not in provider.forms[0]


def test_a_user_binds_and_unbinds_an_account(people: People, api: Api) -> None:
    person = api.person()
    bound = people.bind(person)
    assert bound.status_code == 201, bound.text
    assert people.log_in().json["user"]["id"] == person.id
    assert people.bind(person, "other").status_code == 201
    assert people.log_in("other").json["user"]["id"] == person.id
    assert people.unbind(person).status_code == 200
    assert people.log_in().json["user"]["id"] != person.id


def test_an_account_of_another_user_is_not_bound(people: People, api: Api) -> None:
    owner = people.log_in().json["user"]["id"]
    person = api.person()
    refused = people.bind(person)
    assert error_code(refused) == "error.credential-taken"
    assert people.log_in().json["user"]["id"] == owner


def test_the_state_of_another_browser_does_not_log_in(people: People) -> None:
    """The attacker's code and state in the victim's browser: login CSRF."""
    attacker, victim = Browser(people.api), Browser(people.api)
    people.begin(victim)
    stolen = people.confirm(people.begin(attacker))
    refused = victim.post(AUTHORIZATIONS, stolen)
    assert refused.status_code == 400, refused.text
    assert error_code(refused).startswith("error.state")


def test_the_code_of_another_login_is_refused(people: People) -> None:
    """The victim's code with the attacker's state: PKCE and the nonce are those of another login."""
    attacker, victim = Browser(people.api), Browser(people.api)
    stolen = people.confirm(people.begin(victim))
    own = people.confirm(people.begin(attacker))
    refused = attacker.post(AUTHORIZATIONS, {**own, "code": stolen["code"]})
    assert (refused.status_code, error_code(refused)) == (401, "error.oidc-code-invalid")


def test_a_state_is_spent_once(people: People) -> None:
    browser = Browser(people.api)
    redirect = people.confirm(people.begin(browser))
    assert browser.post(AUTHORIZATIONS, redirect).status_code == 200
    assert browser.post(AUTHORIZATIONS, redirect).status_code == 400


def test_of_many_uses_of_one_code_at_once_one_logs_in(people: People) -> None:
    browser = Browser(people.api)
    redirect = people.confirm(people.begin(browser))
    with ThreadPoolExecutor(ONCE) as pool:
        answers = list(pool.map(lambda _: browser.post(AUTHORIZATIONS, redirect), range(ONCE)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200, *[400] * (ONCE - 1)]


def test_the_code_of_an_honest_provider_is_not_sent_to_a_hostile_one(
    people: People, provider: HostileProvider, other: HostileProvider
) -> None:
    """Mix-up: the hostile provider leads its visitor to the honest one, to get the code of that one."""
    browser = Browser(people.api)
    began = people.begin(browser, "other")
    redirect = people.confirm(began, "company")
    refused = browser.post(AUTHORIZATIONS, redirect)
    assert (refused.status_code, error_code(refused)) == (401, "error.oidc-answer-invalid")
    assert other.forms == []
    assert provider.forms == []


def test_the_token_of_an_honest_provider_is_not_accepted_from_a_hostile_one(
    people: People, provider: HostileProvider, other: HostileProvider
) -> None:
    people.log_in()
    other.claims["iss"] = provider.url
    refused = people.log_in("other")
    assert (refused.status_code, error_code(refused)) == (401, "error.oidc-answer-invalid")
    other.signer, other.header["kid"] = provider.signer, "ES256"
    other.published = []
    assert people.log_in("other").status_code == 401


@pytest.mark.parametrize("error", ["access_denied", "login_required", "<script>", "x" * 2000])
def test_an_error_of_the_provider_becomes_one_of_this_server(people: People, error: str) -> None:
    browser = Browser(people.api)
    state = people.confirm(people.begin(browser))["state"]
    answer = people.api.get(
        "/api/v1/oidc-authorizations/callback/company",
        query_string={"state": state, "error": error, "error_description": "<b>secret</b>"},
    )
    assert "secret" not in answer.text
    assert "script" not in answer.text
    assert (answer.status_code, error_code(answer)) == (401, "error.oidc-access-denied")


def test_a_person_of_another_domain_does_not_log_in(people: People, provider: HostileProvider) -> None:
    provider.claims.update(email="ada@example.com", email_verified=True)
    assert people.log_in("members").status_code == 200
    provider.claims["email"] = "ada@example.org"
    refused = people.log_in("members")
    assert (refused.status_code, error_code(refused)) == (403, "error.oidc-email-not-allowed")


def test_nothing_is_unbound_without_a_code(people: People, api: Api) -> None:
    person = api.person()
    assert people.bind(person).status_code == 201
    assert api.delete(IDS, by=person).status_code in (400, 403)
    assert people.log_in().json["user"]["id"] == person.id


def test_a_person_with_hundreds_of_groups_logs_in(people: People, provider: HostileProvider) -> None:
    provider.claims["groups"] = [f"group-of-the-company-{number}" for number in range(700)]
    assert people.log_in().status_code == 200


@pytest.mark.parametrize("sid", ["", "x" * 256, "a\0b", 7, ["a"], "\u4e2d" * 255])
def test_an_odd_session_of_the_provider_does_not_fail_the_login(
    people: People, provider: HostileProvider, sid: object
) -> None:
    provider.claims["sid"] = sid
    assert people.log_in().status_code == 200


@pytest.mark.parametrize("name", ["", "\0", "a\0b", "x" * 10_000, 7, None, ["Ada"], "\u202eadA"])
def test_an_odd_name_does_not_fail_the_login(
    people: People, provider: HostileProvider, name: object
) -> None:
    provider.claims["name"] = name
    assert people.log_in().status_code == 200
