"""Links of agents: a download and an upload without a token, with the rights of their maker."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.agents import PLUGINS, Agent, Office, ToolAnswer
from tests.support.api import Answer, Api
from tests.support.databases import on_sqlite

from strongroom.testing.clock import MINUTE, SECOND

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]


@pytest.fixture
def office(api: Api) -> Office:
    return Office.made(api)


@pytest.fixture
def agent(office: Office) -> Agent:
    return office.agent()


def path_in(answer: ToolAnswer) -> str:
    """Return the path of a link."""
    assert not answer.is_error, answer.text
    return urlsplit(str(answer.data["url"])).path


def put(office: Office, path: str, content: bytes) -> Answer:
    return office.api.request("PUT", path, data=content)


def revoke(office: Office, agent: Agent) -> None:
    key_id = str(agent.caller.token).split("_")[1]
    assert office.api.delete(f"/users/me/access-keys/{key_id}", by=office.user).status_code == 200


def test_a_file_is_downloaded_for_a_minute(office: Office, agent: Agent) -> None:
    file = office.file("a.bin", b"0123456789")
    path = path_in(agent.tool("files_download_link", fileId=file["id"]))
    assert office.api.get(path).data == b"0123456789"
    part = office.api.get(path, headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.data) == (206, b"234")
    assert office.api.request("HEAD", path).data == b""
    office.api.clock.advance(60 * SECOND)
    assert office.api.get(path).status_code == 404


def test_a_link_ends_with_the_key_and_the_right(office: Office, agent: Agent) -> None:
    file = office.file("a.bin", b"x")
    path = path_in(agent.tool("files_download_link", fileId=file["id"]))
    upload = path_in(agent.tool("files_upload_link", name="new.txt"))
    revoke(office, agent)
    assert office.api.get(path).status_code in (401, 403, 404)
    assert put(office, upload, b"x").status_code in (401, 403, 404)


def test_a_link_reaches_no_file_that_left_the_folder(office: Office, agent: Agent) -> None:
    file = office.file("a.bin", b"x")
    path = path_in(agent.tool("files_download_link", fileId=file["id"]))
    move = {"parentId": office.other, "revision": file["revision"]}
    moved = office.api.put(f"{office.path}/files/{file['id']}/directory", move, by=office.user)
    assert moved.status_code == 200, moved.text
    assert office.api.get(path).status_code in (403, 404)


def test_a_new_file_is_uploaded_once(office: Office, agent: Agent) -> None:
    path = path_in(agent.tool("files_upload_link", name="new.bin", folderId=office.deeper))
    answer = put(office, path, b"\xff" * 200_000)
    assert (answer.status_code, answer.json["parentId"]) == (201, office.deeper)
    assert answer.json["size"] == 200_000
    assert put(office, path, b"again").status_code == 409
    office.api.clock.advance(10 * MINUTE)
    assert put(office, path, b"late").status_code == 404


def test_content_is_replaced_by_its_revision(office: Office, agent: Agent) -> None:
    file = office.file("a.txt", b"first")
    call = {"fileId": file["id"], "revision": file["revision"]}
    path = path_in(agent.tool("files_upload_link", **call))
    assert put(office, path, b"second").status_code == 200
    assert put(office, path, b"third").status_code == 409
    assert agent.tool("files_read", fileId=file["id"]).text == "second"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("files_download_link", {"fileId": "{folder}"}),
        ("files_download_link", {"fileId": "{other}"}),
        ("files_upload_link", {}),
        ("files_upload_link", {"name": "x", "folderId": "{other}"}),
        ("files_upload_link", {"fileId": "{folder}"}),
    ],
)
def test_other_links_are_refused(
    office: Office, agent: Agent, tool: str, arguments: dict[str, Any]
) -> None:
    ids = {"{folder}": office.folder, "{other}": office.other}
    answer = agent.tool(tool, **{name: ids.get(text, text) for name, text in arguments.items()})
    assert (answer.is_error, len(answer.text) > 20) == (True, True)


def test_a_reader_gets_no_link_to_upload(office: Office) -> None:
    answer = office.agent("files:read").tool("files_upload_link", name="x")
    assert (answer.is_error, "files:write" in answer.text) == (True, True)


def test_a_link_is_for_one_kind_of_request(office: Office, agent: Agent) -> None:
    file = office.file("a.txt", b"x")
    download = path_in(agent.tool("files_download_link", fileId=file["id"]))
    upload = path_in(agent.tool("files_upload_link", name="new.txt"))
    for path in (download.replace("downloads", "uploads"), upload.replace("uploads", "downloads")):
        method = "PUT" if "uploads" in path else "GET"
        assert office.api.request(method, path, data=b"").status_code == 404
    for method, path in (("PUT", download), ("DELETE", download), ("GET", upload), ("POST", upload)):
        assert office.api.request(method, path).status_code == 405
    for text in ("", "x", "x" * 5000, download.rpartition("/")[2][:-8], "%00"):
        assert office.api.get(f"/mcp/downloads/{text}").status_code == 404


def test_links_and_uploads_are_recorded(office: Office, agent: Agent) -> None:
    path = path_in(agent.tool("files_upload_link", name="new.txt"))
    file_id = put(office, path, b"x").json["id"]
    admin = office.api.person(admin=True)
    (upload,) = office.api.get("/audit-events?action=mcp.upload", by=admin).json["data"]
    assert upload["target"]["id"] == file_id
    assert upload["details"]["keyId"] == str(agent.caller.token).split("_")[1]
    assert [record["details"]["tool"] for record in office.records(admin)] == ["files_upload_link"]
    assert path.rpartition("/")[2] not in str(upload)
