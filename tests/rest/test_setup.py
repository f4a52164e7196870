"""The first administrator, made by a link that is good once."""

from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, error_code

from strongroom.extensions.first_start.first_administrator import (
    LIFETIME,
    AdministratorExists,
    Setup,
    setup_links,
)
from strongroom.foundation.caller import Origin

EMAIL = "root@example.com"


def issue(api: Api) -> str:
    """Make the link, and return its token."""
    return api.container.get(Setup).issue(Origin()).token


def redeem(api: Api, token: Any, **changes: Any) -> Answer:
    body = {"token": token, "email": EMAIL, "name": "Root", "password": PASSWORD, **changes}
    return api.post("/setup", body)


def assert_void(api: Api, token: str) -> None:
    answer = redeem(api, token)
    assert (answer.status_code, error_code(answer)) == (400, "error.setup-link-invalid")


def test_the_link_makes_an_administrator_who_can_log_in(api: Api) -> None:
    answer = redeem(api, issue(api))
    assert (answer.status_code, answer.json["type"], answer.json["name"]) == (201, "ADMIN", "Root")
    token = api.log_in(EMAIL).headers["X-Access-Token"]
    listed = api.get("/users", headers={"Authorization": f"Bearer {token}"})
    assert [user["id"] for user in listed.json["data"]] == [answer.json["id"]]


def test_the_link_is_good_once_and_no_other_is_made(api: Api) -> None:
    token = issue(api)
    assert redeem(api, token).status_code == 201
    assert_void(api, token)
    with pytest.raises(AdministratorExists):
        issue(api)


def test_it_is_void_once_there_is_an_administrator_from_elsewhere(api: Api) -> None:
    token = issue(api)
    api.person()
    api.person(admin=True)
    assert_void(api, token)


def test_it_is_void_after_an_hour(api: Api) -> None:
    token = issue(api)
    api.clock.advance(LIFETIME)
    assert_void(api, token)


def test_a_new_link_voids_the_one_before(api: Api) -> None:
    older, newer = issue(api), issue(api)
    assert_void(api, older)
    assert redeem(api, newer).status_code == 201


@pytest.mark.parametrize("token", ["", "guessed", None, 1, ["x"], "x" * 1025, "\0"])
def test_no_other_token_is_taken(api: Api, token: Any) -> None:
    issue(api)
    assert redeem(api, token).status_code == 400


def test_no_token_is_taken_without_a_link(api: Api) -> None:
    assert_void(api, "guessed")


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("password", "alllowercase1", "error.validation-failed"),
        ("password", "Password1", "error.validation-failed"),
        ("email", "nobody", "error.validation-failed"),
        ("email", "13800138000", "error.validation-failed"),
        ("email", "taken@example.com", "error.credential-taken"),
    ],
)
def test_a_refusal_leaves_the_link_valid(api: Api, field: str, value: str, code: str) -> None:
    api.person(email="taken@example.com")
    token = issue(api)
    assert error_code(redeem(api, token, **{field: value})) == code
    assert redeem(api, token).status_code == 201


def test_the_database_holds_no_token(api: Api) -> None:
    token = issue(api)
    with api.container.database.read() as connection:
        (row,) = connection.execute(setup_links.select()).all()
    assert token not in str(row)


def test_the_record_has_links_and_attempts_and_no_token(api: Api) -> None:
    token = issue(api)
    assert_void(api, "guessed")
    assert redeem(api, token).status_code == 201
    bearer = {"Authorization": f"Bearer {api.log_in(EMAIL).headers['X-Access-Token']}"}
    events = api.get("/audit-events", headers=bearer)
    assert token not in events.text
    assert [(event["action"], event["outcome"]) for event in reversed(events.json["data"])][:3] == [
        ("setup-link.issue", "success"),
        ("setup-link.redeem", "failure"),
        ("user.create", "success"),
    ]


def test_guesses_are_limited_by_address(api: Api) -> None:
    answers = [redeem(api, "guessed").status_code for _ in range(601)]
    assert answers == [400] * 600 + [429]


def test_the_page_runs_its_own_script_alone_and_is_kept_nowhere(api: Api) -> None:
    first, second = api.get("/setup"), api.get("/setup")
    assert first.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = dict(part.split(" ", 1) for part in first.headers["Content-Security-Policy"].split("; "))
    nonce = policy["script-src"]
    assert policy == {
        "default-src": "'none'",
        "script-src": nonce,
        "style-src": f"'self' {nonce}",
        "img-src": "'self'",
        "font-src": "'self'",
        "connect-src": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    value = nonce.removeprefix("'nonce-").removesuffix("'")
    assert first.text.count(f'nonce="{value}"') == first.text.count("<script") > 0
    assert nonce not in second.headers["Content-Security-Policy"]
    assert first.headers["Cache-Control"] == "no-store"
    assert first.headers["Referrer-Policy"] == "no-referrer"


def test_the_page_speaks_the_language_of_the_browser(api: Api) -> None:
    assert '<html lang="en"' in api.get("/setup").text
    chinese = api.get("/setup", headers={"Accept-Language": "zh-CN,en;q=0.5"})
    assert '<html lang="zh"' in chinese.text
    assert "目前没有有效的设置链接" in chinese.text


@pytest.mark.parametrize("has_link", [True, False])
def test_a_server_without_an_administrator_has_the_command_for_a_link(api: Api, has_link: bool) -> None:
    if has_link:
        api.container.get(Setup).issue(Origin())
    page = api.get("/setup").text
    assert 'id="command" data-text=' in page
    assert "The server is set up" not in page


def test_a_server_with_an_administrator_says_so(api: Api) -> None:
    api.person(admin=True)
    page = api.get("/setup").text
    assert "<h1>The server is set up</h1>" in page
    assert "invite-admin" not in page
