"""A member who leaves the company loses files within five minutes, also in a download."""

import os

import pytest
from tests.support.api import Api, Person
from tests.support.config import Table, merged
from tests.support.databases import on_sqlite
from tests.support.departed_members import Download, ServerTime, with_access_key
from tests.support.feishu import ROOT, decide, feishu_config

from strongroom.web.http import downloads
from strongroom_simulators.feishu import Platform, Simulator, Status
from strongroom_simulators.feishu.registry import CONTACT

CONTENT = os.urandom(4 * 1024 * 1024)
API = "/api/v1/feishu-authorization"

pytestmark = on_sqlite


@pytest.fixture
def on_leave() -> str:
    return "suspend"


@pytest.fixture
def config_changes(feishu: Simulator, on_leave: str) -> Table:
    server = {"server": {"public_url": ROOT}, "login": {"feishu": {"on_leave": on_leave}}}
    changes = merged(feishu_config(feishu), server)
    return {**changes, "plugins": {"enabled": ["storage_local", "login_feishu"]}}


@pytest.fixture
def time(api: Api) -> ServerTime:
    return ServerTime(api)


def log_in(api: Api, person: str) -> Person:
    client = api.app.test_client()
    url = client.post(f"{API}-requests", json={}, base_url=ROOT).get_json()["url"]
    answer = client.post(f"{API}s", json=decide(url, person), base_url=ROOT).get_json()
    return Person(answer["user"]["id"], "", answer["accessToken"])


@pytest.fixture
def lin(api: Api) -> Person:
    return log_in(api, "lin")


@pytest.fixture
def path(api: Api, lin: Person, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a large file, whose downloads look for an end at each part."""
    monkeypatch.setattr(downloads, "WATCH_SECONDS", 0)
    tenant = api.tenant(lin)
    return f"{tenant}/files/{api.upload(tenant, lin, 'large.bin', CONTENT)['id']}/download"


@pytest.mark.parametrize("kind", ["access token", "access key"])
def test_a_download_of_a_leaver_ends(
    api: Api, vendor: Platform, lin: Person, path: str, time: ServerTime, kind: str
) -> None:
    by = with_access_key(api, lin) if kind == "access key" else lin
    download = Download(api, path, by)
    vendor.leave("lin")
    time.pass_minutes(5)
    assert download.finish() < len(CONTENT)
    assert api.get(path, by=by).status_code in (401, 403)


def test_a_download_of_a_member_goes_on(
    api: Api, vendor: Platform, lin: Person, path: str, time: ServerTime
) -> None:
    log_in(api, "wei")
    download = Download(api, path, lin)
    vendor.leave("wei")
    time.pass_minutes(5)
    assert download.finish() == len(CONTENT)


@pytest.mark.parametrize("status", [Status.FROZEN, Status.EXITED, Status.RESIGNED])
def test_people_who_cannot_use_the_app_are_suspended(
    api: Api, vendor: Platform, lin: Person, time: ServerTime, status: Status
) -> None:
    admin = api.person(admin=True)
    vendor.leave("lin", status)
    time.pass_minutes(5)
    assert api.get("/users/me", by=lin).status_code in (401, 403)
    user = api.get(f"/users/{lin.id}", by=admin).json
    assert user["status"] == "suspended"


@pytest.mark.parametrize("on_leave", ["log-out"])
def test_people_who_are_logged_out_can_come_back(
    api: Api, vendor: Platform, lin: Person, time: ServerTime
) -> None:
    vendor.leave("lin")
    time.pass_minutes(5)
    assert api.get("/users/me", by=lin).status_code == 401
    vendor.leave("lin", Status.ACTIVE)
    again = log_in(api, "lin")
    assert again.id == lin.id
    assert api.get("/users/me", by=again).status_code == 200


def test_a_platform_that_does_not_answer_ends_no_login(
    api: Api, vendor: Platform, lin: Person, time: ServerTime
) -> None:
    vendor.apps["cli_00000000000000a1"].scopes.remove(CONTACT)
    vendor.leave("lin")
    time.pass_minutes(10)
    assert api.get("/users/me", by=lin).status_code == 200
