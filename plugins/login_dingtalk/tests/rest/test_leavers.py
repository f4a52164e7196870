"""A member who leaves the company loses access within five minutes, and downloads end."""

import os

import pytest
from tests.support.api import Api, Person, error_code
from tests.support.config import Table
from tests.support.departed_members import Download, ServerTime, with_access_key
from tests.support.dingtalk import DingTalk, DingTalkLogins

from strongroom.web.http import downloads
from strongroom_simulators.dingtalk.samples import COMPANY

MEMBERS = "/topapi/user/getbyunionid"
CONTENT = os.urandom(4 * 1024 * 1024)
WITHIN = 5


@pytest.fixture
def time(api: Api) -> ServerTime:
    return ServerTime(api)


@pytest.fixture
def lin(logins: DingTalkLogins) -> Person:
    return logins.person(logins.scan("lin"))


@pytest.fixture
def path(api: Api, lin: Person) -> str:
    """The path of a large file."""
    tenant = api.tenant(lin)
    return f"{tenant}/files/{api.upload(tenant, lin, 'large.bin', CONTENT)['id']}/download"


class TestLeaving:
    @pytest.mark.parametrize("kind", ["access token", "access key"])
    def test_a_download_that_has_begun_ends(
        self,
        kind: str,
        api: Api,
        time: ServerTime,
        platform: DingTalk,
        lin: Person,
        path: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(downloads, "WATCH_SECONDS", 0)
        by = with_access_key(api, lin) if kind == "access key" else lin
        time.run_jobs()
        download = Download(api, path, by)
        platform.platform.leave(COMPANY, "lin")
        time.pass_minutes(WITHIN)
        assert download.finish() < len(CONTENT) // 2
        assert api.get(path, by=by).status_code in (401, 403)

    def test_a_member_who_stays_keeps_downloading(
        self, api: Api, time: ServerTime, lin: Person, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(downloads, "WATCH_SECONDS", 0)
        time.run_jobs()
        download = Download(api, path, lin)
        time.pass_minutes(WITHIN)
        assert download.finish() == len(CONTENT)

    def test_the_user_is_suspended_and_cannot_come_back(
        self, api: Api, time: ServerTime, platform: DingTalk, logins: DingTalkLogins, lin: Person
    ) -> None:
        platform.platform.leave(COMPANY, "lin")
        time.pass_minutes(WITHIN)
        assert api.get("/users/me", by=lin).status_code in (401, 403)
        platform.platform.join(COMPANY, "lin")
        answer = logins.scan("lin")
        assert (answer.status_code, error_code(answer)) == (403, "error.user-suspended")

    @pytest.mark.parametrize("errcode", [-1, 88, 60011, 60020, 90018])
    def test_a_platform_that_does_not_answer_ends_nothing(
        self, errcode: int, api: Api, time: ServerTime, platform: DingTalk, lin: Person
    ) -> None:
        platform.platform.failures.plan(MEMBERS, errcode, times=1000)
        time.pass_minutes(WITHIN)
        assert api.get("/users/me", by=lin).status_code == 200

    def test_the_token_of_the_app_is_shared_with_the_logins(
        self, api: Api, time: ServerTime, platform: DingTalk, lin: Person
    ) -> None:
        time.pass_minutes(WITHIN)
        assert platform.platform.requests["/v1.0/oauth2/accessToken"] == 1
        assert platform.platform.requests[MEMBERS] > 1


class TestLoggingOut:
    @pytest.fixture
    def config_changes(self, platform: DingTalk) -> Table:
        return platform.config(on_leave="log-out")

    def test_the_user_comes_back_with_the_membership(
        self, api: Api, time: ServerTime, platform: DingTalk, logins: DingTalkLogins, lin: Person
    ) -> None:
        platform.platform.leave(COMPANY, "lin")
        time.pass_minutes(WITHIN)
        assert api.get("/users/me", by=lin).status_code == 401
        platform.platform.join(COMPANY, "lin")
        assert logins.scan("lin").json["user"]["id"] == lin.id


class TestForEveryone:
    @pytest.fixture
    def config_changes(self, platform: DingTalk) -> Table:
        return platform.config(app={"members_only": False})

    def test_no_one_is_checked(
        self, api: Api, time: ServerTime, platform: DingTalk, lin: Person
    ) -> None:
        platform.platform.leave(COMPANY, "lin")
        time.pass_minutes(WITHIN)
        assert api.get("/users/me", by=lin).status_code == 200
        assert platform.platform.requests[MEMBERS] == 0
