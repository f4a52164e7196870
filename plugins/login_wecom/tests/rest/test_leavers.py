"""Users who leave the corporation lose their files within five minutes, and no one else does."""

import os

import pytest
from tests.support.api import Api, Person
from tests.support.config import Table
from tests.support.departed_members import Download, ServerTime, with_access_key
from tests.support.wecom import AUTHORIZATIONS, Client, Logins, WeCom

from strongroom.web.http import downloads
from strongroom_simulators.wecom import Status, sample_app
from strongroom_simulators.wecom.interfaces import GET_USER

SIZE = 4 * 1024 * 1024
JOB = "login_wecom.wecom_members"


@pytest.fixture
def config_changes(platform: WeCom) -> Table:
    return without_pages(platform)


def without_pages(platform: WeCom) -> Table:
    changes = platform.config("https://127.0.0.1")
    return {**changes, "plugins": {"enabled": ["storage_local", "login_wecom"]}}


@pytest.fixture
def time(api: Api) -> ServerTime:
    return ServerTime(api)


@pytest.fixture
def lin(logins: Logins) -> Person:
    return logins.person(logins.log_in("lin"))


@pytest.fixture
def wei(logins: Logins) -> Person:
    return logins.person(logins.log_in("wei"))


def test_a_leaver_loses_files_that_are_being_downloaded(
    api: Api,
    lin: Person,
    wei: Person,
    platform: WeCom,
    time: ServerTime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The watch looks at each part, instead of once a second.
    monkeypatch.setattr(downloads, "WATCH_SECONDS", 0)
    tenant, key = api.tenant(lin), with_access_key(api, lin)
    path = f"{tenant}/files/{api.upload(tenant, lin, 'large.bin', os.urandom(SIZE))['id']}/download"
    complete = Download(api, path, lin)
    begun = [Download(api, path, by) for by in (lin, key)]
    time.pass_minutes(5)
    assert complete.finish() == SIZE
    platform.platform.remove("lin")
    time.pass_minutes(5)
    assert max(download.finish() for download in begun) < SIZE // 2
    for by in (lin, key):
        assert api.get(path, by=by).status_code == 401
    assert api.get("/users/me", by=wei).status_code == 200
    listed = api.get(f"/users/{lin.id}", by=api.person(admin=True)).json
    assert (listed["status"], listed["suspensionReason"]) == ("suspended", "Has left the organisation")


@pytest.mark.parametrize("status", [Status.DISABLED, Status.LEFT])
def test_a_disabled_member_leaves_too(
    api: Api, lin: Person, platform: WeCom, time: ServerTime, status: Status
) -> None:
    platform.platform.set_status("lin", status)
    time.pass_minutes(5)
    assert api.get("/users/me", by=lin).status_code == 401


def test_a_member_outside_the_visible_range_leaves_too(
    api: Api, lin: Person, wei: Person, platform: WeCom, time: ServerTime
) -> None:
    platform.app.visible_to = frozenset({"wei"})
    time.pass_minutes(5)
    assert [api.get("/users/me", by=person).status_code for person in (lin, wei)] == [401, 200]


class TestTwoApps:
    """One app of the corporation is for sales, and the other for all members."""

    @pytest.fixture
    def config_changes(self, platform: WeCom) -> Table:
        sales = sample_app("127.0.0.1", agentid=1000003, secret="sales-secret")
        sales.visible_to = frozenset({"wei"})
        platform.platform.add_app(sales)
        changes = without_pages(platform)
        apps = changes["login"]["wecom"]["apps"]
        apps["sales"] = {**apps["main"], "agentid": 1000003, "secret": "sales-secret"}
        return changes

    def test_a_user_stays_while_one_of_them_is_visible(
        self, api: Api, logins: Logins, platform: WeCom, time: ServerTime
    ) -> None:
        client = Client(api)
        begun = client.begin(app="main")
        answer = client.post(AUTHORIZATIONS, {"code": platform.code("lin"), "state": begun["state"]})
        lin = logins.person(answer)
        time.pass_minutes(5)
        assert api.get("/users/me", by=lin).status_code == 200
        platform.app.visible_to = frozenset({"wei"})
        time.pass_minutes(5)
        assert api.get("/users/me", by=lin).status_code == 401


@pytest.mark.parametrize("errcode", [-1, 40014, 45009, 48002, 60020, 301002])
def test_a_platform_that_does_not_answer_ends_no_login(
    api: Api,
    lin: Person,
    platform: WeCom,
    time: ServerTime,
    caplog: pytest.LogCaptureFixture,
    errcode: int,
) -> None:
    platform.platform.failures.plan(GET_USER, errcode, times=50)
    time.pass_minutes(5)
    assert api.get("/users/me", by=lin).status_code == 200
    assert api.container.job_leases.states()[JOB].failure == "MembersUnknown"
    assert str(errcode) in caplog.text


class TestLogOut:
    @pytest.fixture
    def config_changes(self, platform: WeCom) -> Table:
        changes = without_pages(platform)
        changes["login"]["wecom"]["on_leave"] = "log-out"
        return changes

    def test_a_leaver_is_logged_out_and_not_suspended(
        self, api: Api, lin: Person, platform: WeCom, time: ServerTime
    ) -> None:
        platform.platform.remove("lin")
        time.pass_minutes(5)
        assert api.get("/users/me", by=lin).status_code == 401
        listed = api.get(f"/users/{lin.id}", by=api.person(admin=True)).json
        assert listed["status"] == "active"
