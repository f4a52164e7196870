"""Logins: renewing their tokens, listing them, and ending them."""

import base64
import json
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import text
from tests.support.api import Answer, Api, Person, error_code, token_id
from tests.support.audit import reading_sealed

from strongroom.testing.clock import MINUTE, SECOND, ManualClock

SOMEWHERE = "/api/v1/tenants"
MINE = "/users/me/authorizations"
DAY = 24 * 60 * MINUTE


def log_in(api: Api, person: Person, **headers: str) -> dict[str, Any]:
    """Log a person in once more and return the answer's body."""
    body = {"username": person.email, "password": "Correct1Horse"}
    tokens: dict[str, Any] = api.post("/authorizations", body, headers=headers).json
    return tokens


def refresh(api: Api, token: str) -> Answer:
    """Spend a refresh token, sent in the header."""
    return api.post("/authorizations/refresh", headers={"X-Refresh-Token": token})


def is_good(api: Api, token: str) -> bool:
    """Return whether an access token is accepted."""
    status = api.get(SOMEWHERE, headers={"X-Access-Token": token}).status_code
    assert status in (200, 401)
    return status == 200


def audited(api: Api, action: str) -> list[tuple[str | None, str, str]]:
    """Return actor, target and outcome of the events of an action."""
    query = text("SELECT actor_id, target_id, outcome FROM audit_events WHERE action = :action")
    with reading_sealed(api.container.database) as connection:
        return [tuple(row) for row in connection.execute(query, {"action": action})]


def suspend(api: Api, person: Person) -> None:
    """Suspend a user and nothing more, as if the login had slipped past the suspension."""
    with api.container.database.write() as connection:
        statement = text("UPDATE users SET status = 'suspended' WHERE id = :id")
        connection.execute(statement, {"id": person.id})


class TestRefresh:
    """Rotation, and what becomes of a token that is used twice."""

    def test_login_answers_with_a_refresh_token_in_header_and_body(self, api: Api) -> None:
        response = api.log_in(api.person().email)
        assert response.json["refreshToken"] == response.headers["X-Refresh-Token"]
        exposed = response.headers["Access-Control-Expose-Headers"].split(", ")
        assert exposed == ["X-Access-Token", "X-Refresh-Token"]
        assert response.json["refreshExpiresAt"] > response.json["expiresAt"]

    def test_a_refresh_token_has_256_bits_and_is_stored_only_as_a_hash(self, api: Api) -> None:
        tokens = {log_in(api, api.person())["refreshToken"] for _ in range(3)}
        assert len(tokens) == 3
        assert all(len(base64.urlsafe_b64decode(token + "=")) == 32 for token in tokens)
        with api.container.database.read() as connection:
            stored = repr(connection.execute(text("SELECT * FROM refresh_tokens")).all())
        assert not any(token in stored for token in tokens)

    @pytest.mark.parametrize("place", ["header", "body"])
    def test_it_gives_new_tokens_of_the_same_login(self, api: Api, place: str) -> None:
        old = log_in(api, api.person())
        sent = {"refreshToken": old["refreshToken"]}
        path = "/authorizations/refresh"
        response = api.post(path, sent) if place == "body" else refresh(api, sent["refreshToken"])
        assert response.status_code == 200
        new = response.json
        assert new["refreshToken"] == response.headers["X-Refresh-Token"] != old["refreshToken"]
        assert new["accessToken"] == response.headers["X-Access-Token"]
        authorization_id, serial = token_id(old["accessToken"]).rsplit("-", 1)
        assert token_id(new["accessToken"]) == f"{authorization_id}-{int(serial) + 1}"
        assert new["user"] == old["user"]
        assert is_good(api, new["accessToken"])
        assert refresh(api, new["refreshToken"]).status_code == 200

    def test_tabs_that_use_one_at_once_get_the_same_successor(
        self, api: Api, clock: ManualClock
    ) -> None:
        tokens = log_in(api, api.person())
        for _ in range(20):
            answers = [refresh(api, tokens["refreshToken"]).json]
            for _ in range(7):
                clock.advance(SECOND)
                answers.append(refresh(api, tokens["refreshToken"]).json)
            assert len({answer["refreshToken"] for answer in answers}) == 1
            assert len({answer["refreshExpiresAt"] for answer in answers}) == 1
            assert len({answer["accessToken"] for answer in answers}) == 8
            assert all(is_good(api, answer["accessToken"]) for answer in answers)
            tokens = answers[-1]

    def test_one_before_the_last_ends_the_login_at_any_time(self, api: Api) -> None:
        oldest = log_in(api, api.person())
        old = refresh(api, oldest["refreshToken"]).json
        new = refresh(api, old["refreshToken"]).json
        assert refresh(api, old["refreshToken"]).json["refreshToken"] == new["refreshToken"]
        assert refresh(api, oldest["refreshToken"]).status_code == 401
        assert refresh(api, new["refreshToken"]).status_code == 401
        assert not is_good(api, new["accessToken"])

    @pytest.mark.config({"tokens": {"refresh_reuse_seconds": 60}})
    def test_an_answer_lost_in_a_failover_can_be_repeated_for_the_set_time(
        self, api: Api, clock: ManualClock
    ) -> None:
        tokens = log_in(api, api.person())
        refresh(api, tokens["refreshToken"])
        clock.advance(59 * SECOND)
        first, second = (refresh(api, tokens["refreshToken"]).json for _ in range(2))
        assert first["refreshToken"] == second["refreshToken"]
        assert is_good(api, refresh(api, first["refreshToken"]).json["accessToken"])

    @pytest.mark.config({"tokens": {"refresh_reuse_seconds": 60}})
    def test_a_repeat_after_the_set_time_ends_the_login_whose_successor_is_unused(
        self, api: Api, clock: ManualClock
    ) -> None:
        tokens = log_in(api, api.person())
        unused = refresh(api, tokens["refreshToken"]).json
        clock.advance(60 * SECOND)
        assert refresh(api, tokens["refreshToken"]).status_code == 401
        assert refresh(api, unused["refreshToken"]).status_code == 401
        assert not is_good(api, unused["accessToken"])

    @pytest.mark.config({"tokens": {"refresh_reuse_seconds": 0}})
    def test_zero_seconds_permit_no_second_use(self, api: Api) -> None:
        old = log_in(api, api.person())
        new = refresh(api, old["refreshToken"]).json
        assert refresh(api, old["refreshToken"]).status_code == 401
        assert not is_good(api, new["accessToken"])

    @pytest.mark.config({"tokens": {"refresh_reuse_seconds": 0}})
    def test_zero_seconds_permit_no_second_use_by_a_clock_that_is_behind(
        self, api: Api, clock: ManualClock
    ) -> None:
        old = log_in(api, api.person())
        new = refresh(api, old["refreshToken"]).json
        clock.advance(-1)
        assert refresh(api, old["refreshToken"]).status_code == 401
        assert not is_good(api, new["accessToken"])

    def test_using_one_twice_ends_the_login_with_all_its_tokens(
        self, api: Api, clock: ManualClock
    ) -> None:
        person = api.person()
        old = log_in(api, person)
        new = refresh(api, old["refreshToken"]).json
        clock.advance(10 * SECOND)
        assert error_code(refresh(api, old["refreshToken"])) == "error.token-invalid"
        assert error_code(refresh(api, new["refreshToken"])) == "error.token-invalid"
        assert not is_good(api, old["accessToken"])
        assert not is_good(api, new["accessToken"])
        assert is_good(api, str(person.token)), "another login of the user is not concerned"

    def test_a_reuse_is_audited_once_and_a_refresh_each_time(self, api: Api, clock: ManualClock) -> None:
        person = api.person()
        old = log_in(api, person)
        target = token_id(old["accessToken"]).rsplit("-", 1)[0]
        refresh(api, old["refreshToken"])
        clock.advance(10 * SECOND)
        for _ in range(3):
            refresh(api, old["refreshToken"])
        assert audited(api, "authorization.refresh") == [(person.id, target, "success")]
        assert audited(api, "refresh-token.reuse") == [(None, target, "failure")]

    def test_it_expires_after_thirty_days_without_use(self, api: Api, clock: ManualClock) -> None:
        token = log_in(api, api.person())["refreshToken"]
        clock.advance(30 * DAY - 1)
        token = refresh(api, token).json["refreshToken"]
        clock.advance(30 * DAY - 1)
        token = refresh(api, token).json["refreshToken"]
        clock.advance(30 * DAY)
        response = refresh(api, token)
        assert (response.status_code, error_code(response)) == (401, "error.token-invalid")

    def test_spent_tokens_are_forgotten_once_they_have_expired(
        self, api: Api, clock: ManualClock
    ) -> None:
        tokens = log_in(api, api.person())
        for _ in range(4):
            clock.advance(20 * DAY)
            tokens = refresh(api, tokens["refreshToken"]).json
        with api.container.database.read() as connection:
            query = "SELECT count(*) FROM refresh_tokens WHERE used_at IS NOT NULL"
            assert connection.execute(text(query)).scalar_one() == 1

    @pytest.mark.parametrize("token", ["x", "A" * 43, "A" * 44, "é" * 43, "a.b.c"])
    def test_an_unknown_one_is_401(self, api: Api, token: str) -> None:
        body = json.dumps({"refreshToken": token})
        path = "/authorizations/refresh"
        response = api.request("POST", path, data=body, content_type="application/json")
        assert (response.status_code, error_code(response)) == (401, "error.token-invalid")

    def test_an_access_token_is_no_refresh_token(self, api: Api) -> None:
        assert refresh(api, str(api.person().token)).status_code == 401

    def test_a_refresh_token_is_no_access_token(self, api: Api) -> None:
        assert not is_good(api, log_in(api, api.person())["refreshToken"])

    def test_none_is_401_and_two_are_400(self, api: Api) -> None:
        assert error_code(api.post("/authorizations/refresh")) == "error.token-required"
        response = api.post(
            "/authorizations/refresh", {"refreshToken": "a"}, headers={"X-Refresh-Token": "b"}
        )
        assert (response.status_code, error_code(response)) == (400, "error.ambiguous-token")

    def test_a_login_that_was_ended_is_not_renewed(self, api: Api) -> None:
        tokens = log_in(api, api.person())
        api.delete(f"/authorizations/{tokens['accessToken']}")
        assert error_code(refresh(api, tokens["refreshToken"])) == "error.token-invalid"

    def test_a_suspended_user_gets_no_tokens(self, api: Api) -> None:
        person = api.person()
        tokens = log_in(api, person)
        suspend(api, person)
        response = refresh(api, tokens["refreshToken"])
        assert (response.status_code, error_code(response)) == (401, "error.token-invalid")
        assert error_code(api.log_in(person.email)) == "error.user-suspended"


@pytest.mark.config({"tokens": {"lifetime_seconds": 60, "refresh_lifetime_seconds": 3600}})
class TestShortAccess:
    """Lifetimes are configured one by one."""

    def test_each_token_expires_in_its_own_time(self, api: Api, clock: ManualClock) -> None:
        kept, unused = (log_in(api, api.person()) for _ in range(2))
        clock.advance(MINUTE - SECOND)
        assert is_good(api, unused["accessToken"])
        clock.advance(SECOND)
        assert not is_good(api, unused["accessToken"])
        clock.advance(59 * MINUTE - 1)
        assert refresh(api, kept["refreshToken"]).status_code == 200
        clock.advance(1)
        assert refresh(api, unused["refreshToken"]).status_code == 401


class TestList:
    """Where a user is logged in."""

    def test_it_lists_each_login_the_newest_first(self, api: Api, clock: ManualClock) -> None:
        person = api.person()
        clock.advance(SECOND)
        log_in(api, person, **{"User-Agent": "Phone/1", "X-Device-Id": "phone-1"})
        response = api.get(MINE, by=person)
        assert response.json["meta"]["totalCount"] == 2
        newest, oldest = response.json["data"]
        assert {key: newest[key] for key in ("method", "device", "address", "userAgent", "current")} == {
            "method": "password",
            "device": "phone-1",
            "address": "127.0.0.1",
            "userAgent": "Phone/1",
            "current": False,
        }
        assert newest["createdAt"] == newest["lastSeenAt"] > oldest["createdAt"]
        assert newest["expiresAt"] > newest["createdAt"]
        assert oldest["current"] is True
        assert token_id(str(person.token)).startswith(oldest["id"])
        assert "revokedAt" not in newest

    def test_it_is_paged(self, api: Api) -> None:
        person = api.person()
        log_in(api, person)
        pages = [api.get(f"{MINE}?pageSize=1&pageNumber={n}", by=person).json for n in (1, 2, 3)]
        assert [[login["current"] for login in page["data"]] for page in pages] == [[False], [True], []]
        assert [page["meta"]["totalCount"] for page in pages] == [2, 2, 2]

    def test_ended_and_expired_logins_are_not_in_it(self, api: Api, clock: ManualClock) -> None:
        person = api.person()
        ended = log_in(api, person)
        api.delete(f"/authorizations/{ended['accessToken']}")
        clock.advance(30 * DAY)
        person.token = log_in(api, person)["accessToken"]
        assert [login["current"] for login in api.get(MINE, by=person).json["data"]] == [True]

    def test_only_the_user_and_administrators_see_it(self, api: Api) -> None:
        person, stranger, admin = api.person(), api.person(), api.person(admin=True)
        path = f"/users/{person.id}/authorizations"
        assert api.get(path).status_code == 401
        response = api.get(path, by=stranger)
        assert (response.status_code, error_code(response)) == (403, "error.forbidden")
        assert api.get(path, by=person).json["meta"]["totalCount"] == 1
        assert [login["current"] for login in api.get(path, by=admin).json["data"]] == [False]

    def test_of_an_unknown_user_it_is_403_or_for_administrators_404(self, api: Api) -> None:
        path = "/users/01a1fd35-41a4-7159-832d-f9df39268981/authorizations"
        assert api.get(path, by=api.person()).status_code == 403
        admin = api.person(admin=True)
        assert api.get(path, by=admin).status_code == api.delete(path, by=admin).status_code == 404

    def test_last_seen_is_kept_to_within_a_minute(self, api: Api, clock: ManualClock) -> None:
        person = api.person()
        before = api.get(MINE, by=person).json["data"][0]["lastSeenAt"]
        clock.advance(MINUTE - 1)
        assert api.get(MINE, by=person).json["data"][0]["lastSeenAt"] == before
        clock.advance(1)
        assert api.get(MINE, by=person).json["data"][0]["lastSeenAt"] > before


class TestEnd:
    """Ending all of a user's logins, and RFC 7009."""

    @pytest.mark.parametrize("by", ["user", "administrator"])
    def test_all_logins_end_at_once(self, api: Api, by: str) -> None:
        person, stranger, admin = api.person(), api.person(), api.person(admin=True)
        other = log_in(api, person)
        actor, name = (person, "me") if by == "user" else (admin, person.id)
        response = api.delete(f"/users/{name}/authorizations", by=actor)
        assert (response.status_code, response.json) == (200, {"success": True})
        assert not is_good(api, str(person.token))
        assert not is_good(api, other["accessToken"])
        assert refresh(api, other["refreshToken"]).status_code == 401
        assert is_good(api, str(stranger.token))
        assert audited(api, "authorization.revoke-all") == [(actor.id, person.id, "success")]

    def test_users_cannot_end_those_of_another(self, api: Api) -> None:
        person, stranger = api.person(), api.person()
        response = api.delete(f"/users/{person.id}/authorizations", by=stranger)
        assert (response.status_code, error_code(response)) == (403, "error.forbidden")
        assert is_good(api, str(person.token))

    @pytest.mark.parametrize("kind", ["accessToken", "refreshToken"])
    @pytest.mark.parametrize("hint", [None, "access_token", "refresh_token", "nonsense"])
    def test_either_token_is_revoked_by_rfc_7009(self, api: Api, kind: str, hint: str | None) -> None:
        person = api.person()
        tokens = log_in(api, person)
        form = {"token": tokens[kind], "client_id": "web", **({"token_type_hint": hint} if hint else {})}
        response = send_form(api, form)
        assert (response.status_code, response.json) == (200, {"success": True})
        assert not is_good(api, tokens["accessToken"])
        assert refresh(api, tokens["refreshToken"]).status_code == 401
        assert is_good(api, str(person.token))
        target = token_id(tokens["accessToken"]).rsplit("-", 1)[0]
        assert audited(api, "authorization.revoke") == [(person.id, target, "success")]

    @pytest.mark.parametrize("token", ["x", "a.b.c", "A" * 43, "中文"])
    def test_revoking_an_unknown_token_is_200(self, api: Api, token: str) -> None:
        assert send_form(api, {"token": token}).status_code == 200
        assert audited(api, "authorization.revoke") == []

    @pytest.mark.parametrize("form", [{}, {"token": ""}, {"token_type_hint": "access_token"}])
    def test_revoking_nothing_is_400(self, api: Api, form: dict[str, str]) -> None:
        response = send_form(api, form)
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")


def send_form(api: Api, form: dict[str, str]) -> Answer:
    """Request a revocation (RFC 7009)."""
    return api.request(
        "POST",
        "/authorizations/revocation",
        data=urlencode(form),
        content_type="application/x-www-form-urlencoded",
    )
