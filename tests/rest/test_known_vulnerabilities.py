"""Known vulnerabilities of similar systems; each test names one."""

from collections import Counter
from functools import partial
from typing import Any, NoReturn

import bcrypt
import pytest
from joserfc import jwt
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.config import lifted
from tests.support.http import at_once

from strongroom.foundation.errors import Unavailable
from strongroom.identity.sessions.signing_keys import load_keys
from strongroom.identity.users.password_hashing import HashQueue
from strongroom.identity.users.password_policy import password_faults
from strongroom.identity.verification.codes import CodeService
from strongroom.testing.clock import HOUR, MINUTE

GUESSERS = 64


class TestEmptyAnswers:
    """An empty captcha was compared with None, and was right (CVE-2022-24880)."""

    @pytest.mark.parametrize("answer", [None, "", " ", "\u3000", 42, 42.0, True, [], ["42"], {}, "\0"])
    def test_no_empty_or_wrong_typed_answer_sends_a_code(self, api: Api, answer: object) -> None:
        captcha = {"id": api.captcha()["id"], "answer": answer}
        body = {"recipient": "a@example.com", "purpose": "register", "captcha": captcha}
        response = api.post("/verification-codes", body)
        assert response.status_code == 400
        assert error_code(response) in {"error.validation-failed", "error.captcha-invalid"}
        assert api.outbox() == []

    @pytest.mark.parametrize("captcha", [None, "", "42", 42, True, [], {}, {"id": None, "answer": None}])
    def test_nothing_in_the_place_of_a_captcha_sends_a_code(self, api: Api, captcha: object) -> None:
        body = {"recipient": "a@example.com", "purpose": "register", "captcha": captcha}
        assert api.post("/verification-codes", body).status_code == 400
        assert api.outbox() == []

    @pytest.mark.parametrize("code", [None, "", " ", 0, 123456, True, [], {}])
    def test_no_empty_or_wrong_typed_code_resets_a_password(self, api: Api, code: object) -> None:
        person = api.person()
        sent = api.code(person.email, "reset-password")
        body = {"verificationCode": {"id": sent["id"], "code": code}, "newPassword": "Another2Battery"}
        assert api.post(f"/users/{person.email}/reset-password", body).status_code == 400
        assert api.log_in(person.email).status_code == 200


@pytest.mark.config(lifted("reset_per_address"))
class TestParallelGuesses:
    """Guesses at one moment were more than those one after the other (CVE-2024-4629, CVE-2023-32320)."""

    def test_of_sixty_four_guesses_at_a_code_five_are_looked_at(
        self, api: Api, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        person = api.person()
        code = api.code(person.email, "reset-password")
        looked_at = []
        consume = CodeService._consume

        def count(self: CodeService, *arguments: Any) -> bool:
            looked_at.append(arguments)
            return consume(self, *arguments)

        monkeypatch.setattr(CodeService, "_consume", count)
        wrong = "000000" if code["code"] != "000000" else "999999"
        body = {"verificationCode": {**code, "code": wrong}, "newPassword": "Another2Battery"}
        guess = partial(api.post, f"/users/{person.email}/reset-password", body)
        answers = Counter(error_code(answer) for answer in at_once([guess] * GUESSERS))
        assert answers == {"error.code-invalid": 5, "error.too-many-requests": GUESSERS - 5}
        assert len(looked_at) == 5
        right = {"verificationCode": code, "newPassword": "Another2Battery"}
        refused = api.post(f"/users/{person.email}/reset-password", right)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "300")


class TestOldPassword:
    """Another way to try passwords ignored the lock of the login (CVE-2026-9798)."""

    def change(self, api: Api, person: Person, old: str) -> Answer:
        body = {"oldPassword": old, "newPassword": "Another2Battery"}
        return api.put("/users/me/password", body, by=person)

    def test_the_holder_of_a_token_has_ten_attempts_an_hour_at_the_password(self, api: Api) -> None:
        person = api.person()
        answers = at_once([partial(self.change, api, person, "Wrong1Password")] * GUESSERS)
        assert Counter(answer.status_code for answer in answers) == {400: 10, 429: GUESSERS - 10}
        refused = self.change(api, person, PASSWORD)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "3600")
        api.clock.advance(HOUR)
        person.token = api.log_in(person.email).headers["X-Access-Token"]
        assert self.change(api, person, PASSWORD).status_code == 200

    def test_a_right_one_resets_the_count(self, api: Api) -> None:
        person = api.person()
        for _ in range(9):
            assert self.change(api, person, "Wrong1Password").status_code == 400
        assert self.change(api, person, PASSWORD).status_code == 200
        for _ in range(10):
            assert self.change(api, person, "Wrong1Password").status_code == 400


class TestCostBeforeHash:
    """What costs an attacker comes before what costs the server."""

    def test_who_must_solve_a_captcha_first_costs_no_hash(
        self, api: Api, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        person = api.person()
        for _ in range(3):
            api.log_in(person.email, "Wrong1Password")

        def explode(*_: Any) -> None:
            raise AssertionError("a hash was computed")

        monkeypatch.setattr(bcrypt, "checkpw", explode)
        monkeypatch.setattr(bcrypt, "hashpw", explode)
        assert error_code(api.log_in(person.email)) == "error.captcha-required"
        wrong = {"id": api.captcha()["id"], "answer": "41"}
        assert error_code(api.log_in(person.email, captcha=wrong)) == "error.captcha-invalid"

    @pytest.mark.parametrize(
        ("path", "body", "code"),
        [
            ("/users/{email}/reset-password", {"newPassword": "Another2Battery"}, "code-invalid"),
            ("/users", {"name": "A", "password": "Another2Battery", "email": "a@b.cn"}, "code-invalid"),
            (
                "/users",
                {"name": "A", "password": "Another2Battery", "username": "al"},
                "validation-failed",
            ),
            (
                "/users",
                {"name": "A", "password": "Another2Battery", "username": "alice"},
                "captcha-required",
            ),
            (
                "/setup",
                {"token": "x", "email": "a@example.com", "password": "Another2Battery"},
                "setup-link-invalid",
            ),
        ],
    )
    def test_a_new_password_without_a_proof_costs_no_hash(
        self, api: Api, monkeypatch: pytest.MonkeyPatch, path: str, body: Json, code: str
    ) -> None:
        person = api.person()
        proof = {"id": "01a1fd35-41a4-7159-832d-f9df39268981", "code": "000000"}
        if path.endswith("reset-password"):
            body = {**body, "verificationCode": proof}
        if "email" in body and path == "/users":
            body = {**body, "verificationCodes": [proof]}

        def explode(*_: Any) -> None:
            raise AssertionError("a hash was computed")

        monkeypatch.setattr(bcrypt, "hashpw", explode)
        answer = api.post(path.format(email=person.email), body)
        assert error_code(answer) == f"error.{code}"

    def test_a_taken_credential_costs_no_hash(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        api.person(username="taken")
        body = {"name": "A", "username": "taken", "password": PASSWORD, "captcha": api.captcha()}

        def explode(*_: Any) -> None:
            raise AssertionError("a hash was computed")

        monkeypatch.setattr(bcrypt, "hashpw", explode)
        assert error_code(api.post("/users", body)) == "error.credential-taken"

    def test_parallel_resets_by_one_code_cost_one_hash(
        self, api: Api, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        person, hashed = api.person(), []
        code = api.code(person.email, "reset-password")
        hashpw = bcrypt.hashpw

        def count(*arguments: bytes) -> bytes:
            hashed.append(arguments)
            return hashpw(*arguments)

        monkeypatch.setattr(bcrypt, "hashpw", count)
        body = {"verificationCode": code, "newPassword": "Another2Battery"}
        send = partial(api.post, f"/users/{person.email}/reset-password", body)
        answers = Counter(answer.status_code for answer in at_once([send] * 16))
        assert answers == {200: 1, 400: 15}
        assert len(hashed) == 1

    def test_a_server_too_busy_to_hash_says_so_and_keeps_the_code(
        self, api: Api, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        person = api.person()
        reset = api.code(person.email, "reset-password")
        new = api.code("new@example.com", "register")
        requests: list[tuple[str, Json]] = [
            (
                f"/users/{person.email}/reset-password",
                {"verificationCode": reset, "newPassword": "Another2Battery"},
            ),
            (
                "/users",
                {
                    "name": "A",
                    "email": "new@example.com",
                    "password": PASSWORD,
                    "verificationCodes": [new],
                },
            ),
        ]
        with monkeypatch.context() as patch:
            patch.setattr(HashQueue, "slot", refuse_all)
            for path, body in requests:
                answer = api.post(path, body)
                assert (answer.status_code, error_code(answer)) == (503, "error.unavailable")
                assert int(answer.headers["Retry-After"]) > 0
        assert [api.post(path, body).status_code for path, body in requests] == [200, 201]


def refuse_all(_: HashQueue) -> NoReturn:
    raise Unavailable(retry_after=2)


class TestIssuer:
    """A token of another issuer was taken, for its signature was good (CVE-2026-31813)."""

    @pytest.mark.parametrize(
        "changes",
        [
            {"iss": "https://evil.example.com"},
            {"iss": "https://files.example.com/"},
            {"iss": None},
            {"aud": "https://evil.example.com"},
            {"aud": None},
            {"exp": None},
            {"exp": "never"},
            {"sub": "01a1fd35-41a4-7159-832d-f9df39268981"},
            {"jti": None},
        ],
        ids=str,
    )
    def test_what_our_own_key_has_signed_is_401_all_the_same(self, api: Api, changes: Json) -> None:
        person = api.person()
        settings = api.container.settings
        key = load_keys(settings.keys_path, settings.tokens.algorithm).keys[0]
        token = jwt.decode(str(person.token), key)
        claims = {**token.claims, **changes}
        good = jwt.encode(token.header, token.claims, key)
        assert api.get("/users/me", headers={"X-Access-Token": good}).status_code == 200
        forged = {name: value for name, value in claims.items() if value is not None}
        response = api.get(
            "/users/me", headers={"X-Access-Token": jwt.encode(token.header, forged, key)}
        )
        assert (response.status_code, error_code(response)) == (401, "error.token-invalid")

    @pytest.mark.parametrize(
        "changes",
        [{"typ": "JWT"}, {"typ": None}, {"jku": "http://127.0.0.1/keys"}, {"cty": "JWT"}],
        ids=str,
    )
    def test_an_unusual_header_that_our_own_key_has_signed_is_401(self, api: Api, changes: Json) -> None:
        person = api.person()
        settings = api.container.settings
        key = load_keys(settings.keys_path, settings.tokens.algorithm).keys[0]
        token = jwt.decode(str(person.token), key)
        header = {**token.header, **changes}
        signed = {name: value for name, value in header.items() if value is not None}
        # Without a type of its own, the encoder would add one.
        forged = jwt.encode(signed, token.claims, key, default_type=None)
        response = api.get("/users/me", headers={"X-Access-Token": forged})
        assert (response.status_code, error_code(response)) == (401, "error.token-invalid")


@pytest.mark.config(
    {
        "server": {"trusted_proxies": ["10.0.0.0/8"]},
        "limits": {"login_failures_per_address_before_captcha": 3},
    }
)
class TestForwardedFor:
    """A made-up X-Forwarded-For opened a new count (CVE-2023-22474)."""

    def fail(self, api: Api, peer: str, forwarded: str) -> int:
        body = {"username": f"{forwarded}@example.com".replace(", ", "-"), "password": "Wrong1Password"}
        headers = {"X-Forwarded-For": forwarded}
        overrides = {"REMOTE_ADDR": peer}
        return api.post(
            "/authorizations", body, headers=headers, environ_overrides=overrides
        ).status_code

    def test_it_is_ignored_from_other_peers(self, api: Api) -> None:
        statuses = [self.fail(api, "192.0.2.1", f"198.51.100.{n}") for n in range(5)]
        assert statuses == [401, 401, 401, 400, 400]

    def test_of_a_trusted_proxy_the_hop_that_it_added_is(self, api: Api) -> None:
        assert [self.fail(api, "10.0.0.1", f"198.51.100.{n}") for n in range(5)] == [401] * 5

    def test_entries_of_the_client_are_ignored(self, api: Api) -> None:
        statuses = [self.fail(api, "10.0.0.1", f"198.51.100.{n}, 192.0.2.1") for n in range(5)]
        assert statuses == [401, 401, 401, 400, 400]


class TestCommonPasswords:
    """Passwords that satisfy the policy but are guessed first."""

    def test_at_least_ten_thousand_are_known(self) -> None:
        from strongroom.identity.users.password_policy import _common_passwords

        assert len(_common_passwords()) >= 10_000

    @pytest.mark.parametrize("password", ["Password1", "Passw0rd", "Abcd1234", "Qwerty123"])
    def test_the_first_of_them_are_refused_in_any_case(self, password: str) -> None:
        assert "too-common" in [detail.code for detail in password_faults(password)]

    @pytest.mark.parametrize("password", ["Aa1" + "密码🔑" * 340, "Aa1 " + "x" * 60])
    def test_a_long_one_of_any_script_registers_and_logs_in(self, api: Api, password: str) -> None:
        body = {"name": "A", "username": "alice", "password": password, "captcha": api.captcha()}
        assert api.post("/users", body).status_code == 201
        assert api.log_in("alice", password).status_code == 200
        assert api.log_in("alice", password[:-1]).status_code == 401


class TestClientsUrls:
    """The server sent requests to addresses that a client named (CVE-2026-35409, CVE-2023-27159)."""

    @pytest.mark.parametrize(
        "recipient",
        ["http://127.0.0.1:1/", "file:///etc/passwd", "//127.0.0.1/x@example.com\r\nBcc: b@c.de"],
    )
    def test_no_url_is_a_recipient(self, api: Api, recipient: str) -> None:
        response = api.request_code(recipient, "register")
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
        assert api.outbox() == []


def test_a_resend_refills_no_attempts_even_at_one_moment(api: Api) -> None:
    """A second code came with a budget of its own (better-auth #11162)."""
    person = api.person()
    first = api.code(person.email, "reset-password", "phone")
    path = f"/users/{person.email}/reset-password"

    def guess(code: Json) -> int:
        body = {"verificationCode": {**code, "code": "wrong"}, "newPassword": "Another2Battery"}
        return api.post(path, body).status_code

    assert [guess(first) for _ in range(3)] == [400] * 3
    api.clock.advance(MINUTE)
    second = api.code(person.email, "reset-password", "phone")
    assert [guess(second) for _ in range(2)] == [400] * 2
    body = {"verificationCode": second, "newPassword": "Another2Battery"}
    assert error_code(api.post(path, body)) == "error.too-many-requests"
    assert api.log_in(person.email, PASSWORD).status_code == 200
