"""Rate limits per address; requests are refused while the counters are unavailable."""

import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import select
from tests.support.api import Answer, Api, error_code
from tests.support.audit import reading_sealed
from tests.support.config import Table, merged
from tests.support.http import at_once
from tests.support.redis import RedisServer
from tests.support.redis_groups import SentinelGroup
from tests.support.waiting import SLACK_SECONDS

from strongroom.assembly.doctor import assemble_doctor
from strongroom.extensions.observability.readiness import FRESH
from strongroom.foundation.errors import InvalidCredentials, TooManyRequests
from strongroom.foundation.limits import service
from strongroom.foundation.limits.backends import rate_events
from strongroom.foundation.logs import ErrorLog
from strongroom.identity.verification.captchas import CaptchaService
from strongroom.testing.clock import HOUR, MINUTE, ManualClock

LIMITS: Table = {
    "limits": {
        "login_failures_before_captcha": 1000,
        "login_per_address": ["3/minute", "5/hour"],
        "available_per_address": ["2/minute", "3/hour"],
        "captchas_per_address": ["20/minute"],
        "strength_per_address": ["3/minute"],
    }
}
WAYS = 32
SOON_SECONDS = 2.5


pytestmark = pytest.mark.config(LIMITS)


def log_in(api: Api, address: str = "192.0.2.1", **headers: str) -> Answer:
    return api.post(
        "/authorizations",
        {"username": "nobody@example.com", "password": "Wrong1Password"},
        environ_overrides={"REMOTE_ADDR": address},
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def check_availability(api: Api) -> Answer:
    return api.get("/credentials/a@example.com/available")


def request_captcha(api: Api) -> Answer:
    return api.post("/captchas", {})


def request_code(api: Api) -> Answer:
    # Created without a request, because the limit of captchas may be unavailable.
    captcha = {"id": api.container.get(CaptchaService).issue().id, "answer": "42"}
    body = {"recipient": "a@example.com", "purpose": "register", "captcha": captcha}
    return api.post("/verification-codes", body)


def test_every_rate_of_a_list_applies_and_the_longest_wait_is_returned(
    api: Api, clock: ManualClock
) -> None:
    assert [log_in(api).status_code for _ in range(3)] == [401] * 3
    assert log_in(api).headers["Retry-After"] == "60"
    clock.advance(MINUTE)
    assert [log_in(api).status_code for _ in range(2)] == [401] * 2
    refused = log_in(api)
    assert (refused.status_code, error_code(refused)) == (429, "error.too-many-requests")
    assert refused.headers["Retry-After"] == str(3600 - 60)
    clock.advance(HOUR)
    assert log_in(api).status_code == 401


@pytest.mark.parametrize(
    ("path", "body", "status", "limit"),
    [("/captchas", {}, 201, 20), ("/password-strength", {"password": "Wrong1Password"}, 200, 3)],
)
def test_expensive_operations_are_limited(
    api: Api, clock: ManualClock, path: str, body: dict[str, str], status: int, limit: int
) -> None:
    assert [api.post(path, body).status_code for _ in range(limit)] == [status] * limit
    refused = api.post(path, body)
    assert (refused.status_code, error_code(refused)) == (429, "error.too-many-requests")
    assert refused.headers["Retry-After"] == "60"
    clock.advance(MINUTE)
    assert api.post(path, body).status_code == status


def test_each_address_has_a_limit_of_its_own(api: Api) -> None:
    statuses = [log_in(api).status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]
    assert log_in(api, "192.0.2.2").status_code == 401


def test_a_made_up_x_forwarded_for_gains_nothing(api: Api) -> None:
    statuses = [log_in(api, X_Forwarded_For=f"198.51.100.{n}").status_code for n in range(4)]
    assert statuses == [401, 401, 401, 429]


def test_a_refusal_is_not_recorded(api: Api) -> None:
    for _ in range(9):
        log_in(api)
    with reading_sealed(api.container.database) as connection:
        counted = connection.exec_driver_sql("SELECT count(*) FROM audit_events WHERE action = 'login'")
        assert counted.scalar_one() == 3


def test_of_many_at_once_as_many_pass_as_the_limit_says(api: Api) -> None:
    counted = Counter(answer.status_code for answer in at_once([partial(log_in, api)] * WAYS))
    assert counted == {401: 3, 429: WAYS - 3}


def test_past_the_limit_each_question_costs_a_captcha(api: Api, clock: ManualClock) -> None:
    for _ in range(2):
        assert check_availability(api).status_code == 200
    assert error_code(check_availability(api)) == "error.captcha-required"
    captcha = api.captcha()
    headers = {"X-Captcha": f"{captcha['id']}.{captcha['answer']}"}
    assert api.get("/credentials/a@example.com/available", headers=headers).status_code == 200
    used = api.get("/credentials/a@example.com/available", headers=headers)
    assert error_code(used) == "error.captcha-invalid"
    clock.advance(MINUTE)
    assert check_availability(api).status_code == 200
    assert error_code(check_availability(api)) == "error.captcha-required"


def test_no_address_stands_in_the_table(api: Api) -> None:
    log_in(api)
    check_availability(api)
    with api.container.database.read() as connection:
        rows = str(connection.execute(select(rate_events)).all())
    assert "login_per_address" in rows
    assert "available_per_address" in rows
    assert "192.0.2.1" not in rows
    assert "127.0.0.1" not in rows


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every operation of an OpenAPI document, by its method and path."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in {"get", "post", "put", "patch", "delete"}:
                yield f"{method.upper()} {path}", operation


def test_every_way_to_log_in_is_limited(api: Api) -> None:
    document = api.get("/openapi.json").json
    gives_tokens = {
        name: operation
        for name, operation in operations(document)
        if "IssuedTokens" in str([operation["responses"].get(code) for code in ("200", "201")])
    }
    assert "POST /authorizations" in gives_tokens
    # A refresh token of 256 bits cannot be guessed.
    del gives_tokens["POST /authorizations/refresh"]
    assert [
        name for name, operation in gives_tokens.items() if "429" not in operation["responses"]
    ] == []


def test_one_limiter_of_the_application_counts_and_adds_no_hooks(api: Api) -> None:
    (limiter,) = api.app.extensions["limiter"]
    assert limiter.storage is api.container.base.limits_store
    hooks = (api.app.before_request_funcs, api.app.after_request_funcs, api.app.teardown_request_funcs)
    of_limiter = [hook for table in hooks for hook in table.get(None, ()) if "limiter" in repr(hook)]
    assert of_limiter == []


def test_a_login_by_a_route_of_a_plugin_counts_by_the_same_limit(api: Api) -> None:
    host = api.container.hosts.get("password")
    with api.app.test_request_context(environ_base={"REMOTE_ADDR": "192.0.2.1"}):
        api.app.preprocess_request()
        for _ in range(3):
            with pytest.raises(InvalidCredentials):
                host.logins.log_in("riddle", {})
        with pytest.raises(TooManyRequests) as refusal:
            host.logins.log_in("riddle", {})
    assert refusal.value.retry_after == 60
    assert log_in(api).status_code == 429
    assert log_in(api, "192.0.2.2").status_code == 401


class TestRedis:
    """Counting in Redis, which may be unavailable."""

    @pytest.fixture
    def redis(self, tmp_path: Path) -> Iterator[RedisServer]:
        with RedisServer.serving(tmp_path) as server:
            yield server

    @pytest.fixture
    def config_changes(self, redis: RedisServer) -> Table:
        return merged(LIMITS, {"redis": {"url": redis.url}})

    @pytest.fixture(params=["sqlite"])
    def database_url(self, request: pytest.FixtureRequest) -> Iterator[str]:
        with request.getfixturevalue("sqlite_databases").create() as url:
            yield url

    def test_it_counts_as_the_database_does(self, api: Api) -> None:
        counted = Counter(answer.status_code for answer in at_once([partial(log_in, api)] * WAYS))
        assert counted == {401: 3, 429: WAYS - 3}
        assert [check_availability(api).status_code for _ in range(3)] == [200, 200, 400]

    @pytest.mark.parametrize("trouble", ["kill", "hang"])
    @pytest.mark.parametrize("was_used", [True, False])
    def test_when_it_is_away_all_that_is_limited_is_refused_soon(
        self, api: Api, redis: RedisServer, trouble: str, was_used: bool
    ) -> None:
        if was_used:
            assert log_in(api).status_code == 401
        getattr(redis, trouble)()
        for send in (log_in, check_availability, request_captcha, request_code):
            began = time.monotonic()
            response = send(api)
            assert time.monotonic() - began < SOON_SECONDS + SLACK_SECONDS
            assert (response.status_code, error_code(response)) == (503, "error.unavailable")
            assert response.headers["Retry-After"] == "5"
        assert api.outbox() == []

    @pytest.mark.parametrize(("trouble", "code"), [("follow", "READONLY"), ("fill", "OOM")])
    def test_when_it_refuses_writes_its_reason_is_named(
        self,
        api: Api,
        redis: RedisServer,
        trouble: str,
        code: str,
        caplog: pytest.LogCaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        # Without what other tests have logged in this minute.
        log = ErrorLog(service.logger, has_traceback=False)
        monkeypatch.setattr(service, "UNCOUNTED", log)
        assert "notes" not in api.get("/readyz").json
        getattr(redis, trouble)()
        api.clock.advance(FRESH)
        response = api.get("/readyz")
        assert response.status_code == 200
        assert response.json["notes"] == {"limits": f"It refuses writes: {code}."}
        for _ in range(3):
            assert log_in(api).status_code == 503
        (line,) = [record.getMessage() for record in caplog.records if "limits" in record.name]
        assert line.startswith(f"Rate limits cannot be counted: {code}: ")
        (finding,) = [
            item for item in assemble_doctor(api.container, dict).examine() if item.part == "limits"
        ]
        place = redis.url.removeprefix("redis://")
        assert finding.message == f"Redis at {place} refuses writes ({code})"

    def test_a_probe_adds_no_key(self, api: Api, redis: RedisServer) -> None:
        assert api.get("/readyz").status_code == 200
        with Redis.from_url(redis.url) as client:
            assert client.dbsize() == 0


@pytest.mark.extended
class TestFailover:
    """Counting in a Redis whose primary is killed."""

    @pytest.fixture
    def group(self, tmp_path: Path) -> Iterator[SentinelGroup]:
        with SentinelGroup.serving(tmp_path) as group:
            yield group

    @pytest.fixture
    def config_changes(self, group: SentinelGroup) -> Table:
        return merged(LIMITS, {"redis": {"url": group.url}})

    @pytest.fixture(params=["sqlite"])
    def database_url(self, request: pytest.FixtureRequest) -> Iterator[str]:
        with request.getfixturevalue("sqlite_databases").create() as url:
            yield url

    def test_logins_are_unavailable_until_another_primary_counts(
        self, api: Api, group: SentinelGroup
    ) -> None:
        assert log_in(api).status_code == 401
        group.primary().kill()
        answers = [log_in(api)]
        while answers[-1].status_code == 503:
            assert answers[-1].headers["Retry-After"] == "5"
            assert len(answers) < 5000, "no other primary counts"
            answers.append(log_in(api))
        assert len(answers) > 1
        counted = [answers[-1], *(log_in(api) for _ in range(3))]
        # Of three a minute, one was counted by the former primary; an unavailable one may be counted.
        assert {answer.status_code for answer in counted} <= {401, 429}
        assert [answer.status_code for answer in counted].count(401) <= 2
        api.clock.advance(FRESH)
        assert "notes" not in api.get("/readyz").json
