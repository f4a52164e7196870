"""The tools that change: nothing is overwritten blindly, nothing is deleted but to the trash."""

import base64
from typing import Any

import pytest
from tests.support.agents import PLUGINS, Agent, Office, ToolAnswer
from tests.support.api import Api
from tests.support.databases import on_sqlite

from strongroom_mcp.tools.writing import MAX_BYTES

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]

WITHOUT_TRASH = {"plugins": {"enabled": PLUGINS}, "files": {"trash": {"enabled": False}}}


@pytest.fixture
def office(api: Api) -> Office:
    return Office.made(api)


@pytest.fixture
def agent(office: Office) -> Agent:
    return office.agent()


def content(office: Office, file_id: str) -> bytes:
    return office.api.get(f"{office.path}/files/{file_id}/download", by=office.user).data


def refused(answer: ToolAnswer, *words: str) -> bool:
    return answer.is_error and all(word in answer.text for word in words)


def test_a_file_is_created_in_the_folder_of_the_key(office: Office, agent: Agent) -> None:
    file = agent.tool("files_write", name="note.txt", content="你好").data
    assert (file["parentId"], content(office, file["id"])) == (office.folder, "你好".encode())
    blob = base64.b64encode(b"\xff\0").decode()
    other = agent.tool(
        "files_write", name="b.bin", folderId=office.deeper, content=blob, encoding="base64"
    ).data
    assert (other["parentId"], content(office, other["id"])) == (office.deeper, b"\xff\0")
    folder = agent.tool("folders_create", name="New").data
    assert (folder["parentId"], folder["type"]) == (office.folder, "folder")


def test_a_taken_name_is_not_overwritten(office: Office, agent: Agent) -> None:
    file = office.file("note.txt", b"first")
    assert refused(agent.tool("files_write", name="note.txt", content="x"), "error.name-conflict")
    assert refused(agent.tool("folders_create", name="note.txt"), "error.name-conflict")
    assert content(office, file["id"]) == b"first"


def test_content_is_replaced_by_the_revision_that_was_read(office: Office, agent: Agent) -> None:
    file = office.file("note.txt", b"first")
    first = file["revision"]
    changed = agent.tool("files_write", fileId=file["id"], revision=first, content="second").data
    assert (changed["id"], changed["revision"] > first) == (file["id"], True)
    stale = agent.tool("files_write", fileId=file["id"], revision=first, content="third")
    assert refused(stale, "error.revision-conflict", "Read it again")
    assert content(office, file["id"]) == b"second"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"fileId": "x"},
        {"revision": 1},
        {"name": "a", "fileId": "x", "revision": 1},
        {"name": "a", "revision": 1},
        {"name": ""},
        {"name": "a", "content": "!", "encoding": "base64"},
        {"name": "a", "content": "x" * (MAX_BYTES + 1)},
        {"name": "a", "content": None},
        {"name": "a/b"},
        {"name": ".."},
        {"name": "\0"},
    ],
)
def test_invalid_writes_are_refused_in_words(
    office: Office, agent: Agent, arguments: dict[str, Any]
) -> None:
    answer = agent.tool("files_write", **{"content": "x", **arguments})
    assert (answer.is_error, len(answer.text) > 20) == (True, True)
    assert agent.tool("files_list", folderId=office.folder).data["total"] == 1


def test_the_largest_content_is_written(office: Office, agent: Agent) -> None:
    blob = base64.b64encode(b"\xff" * MAX_BYTES).decode()
    file = agent.tool("files_write", name="max.bin", content=blob, encoding="base64").data
    assert file["size"] == MAX_BYTES


def test_files_are_moved_and_renamed_within_the_folder(office: Office, agent: Agent) -> None:
    file = office.file("a.txt", b"x")
    call = {"fileId": file["id"], "revision": file["revision"]}
    assert refused(agent.tool("files_move", **call), "folderId")
    renamed = agent.tool("files_move", **call, name="b.txt").data
    assert renamed["name"] == "b.txt"
    assert refused(agent.tool("files_move", **call, name="c.txt"), "error.revision-conflict")
    call["revision"] = renamed["revision"]
    assert agent.tool("files_move", **call, folderId=office.other).is_error
    moved = agent.tool("files_move", **call, folderId=office.deeper).data
    assert (moved["parentId"], moved["name"]) == (office.deeper, "b.txt")


def test_a_removed_file_is_in_the_trash(office: Office, agent: Agent) -> None:
    file = office.file("a.txt", b"x")
    call = {"fileId": file["id"], "revision": file["revision"] + 1}
    assert refused(agent.tool("files_trash", **call), "error.revision-conflict")
    call["revision"] -= 1
    assert agent.tool("files_trash", **call).data["trashed"] is True
    assert agent.tool("files_read", fileId=file["id"]).is_error
    trashed = office.api.get(f"{office.path}/trash", by=office.user).json["data"]
    assert [item["name"] for item in trashed] == ["a.txt"]


@pytest.mark.config(WITHOUT_TRASH)
def test_nothing_is_deleted_without_a_trash(office: Office, agent: Agent) -> None:
    file = office.file("a.txt", b"x")
    answer = agent.tool("files_trash", fileId=file["id"], revision=file["revision"])
    assert refused(answer, "no trash")
    assert content(office, file["id"]) == b"x"


@pytest.mark.parametrize("tool", ["files_move", "files_trash"])
def test_the_folder_of_the_key_stays(office: Office, agent: Agent, tool: str) -> None:
    stat = agent.tool("files_stat", fileId=office.folder).data
    call = {"fileId": office.folder, "revision": stat["revision"]}
    more = {"name": "x"} if tool == "files_move" else {}
    assert refused(agent.tool(tool, **call, **more), "folder of your access key")


@pytest.mark.parametrize(
    ("scopes", "missing"),
    [
        (("files:read",), {"files_write", "folders_create", "files_move", "files_trash"}),
        (("files:write",), {"files_trash"}),
        (("files:share",), set()),
    ],
)
def test_a_key_has_the_tools_of_its_scopes(
    office: Office, scopes: tuple[str, ...], missing: set[str]
) -> None:
    agent = office.agent(*scopes)
    offered = {tool["name"] for tool in agent.result("tools/list")["tools"]}
    assert {"files_write", "folders_create", "files_move", "files_trash"} - offered == missing
    file = office.file("a.txt", b"x")
    for tool in missing:
        assert refused(agent.tool(tool, fileId=file["id"], revision=1), "scope")
    assert content(office, file["id"]) == b"x"


def test_a_move_needs_the_scope_to_share(office: Office) -> None:
    file, agent = office.file("a.txt", b"x"), office.agent("files:write")
    call = {"fileId": file["id"], "revision": file["revision"]}
    answer = agent.tool("files_move", **call, folderId=office.deeper)
    assert refused(answer, "files:share")
    assert agent.tool("files_move", **call, name="b.txt").data["name"] == "b.txt"


def test_a_member_who_may_only_read_writes_nothing(office: Office) -> None:
    api, member = office.api, office.api.person()
    api.join(office.path, office.user, member)
    path = f"{office.path}/files/{office.folder}/owners"
    assert api.post(path, {"ownerId": member.id, "permission": "read"}, by=office.user).status_code < 300
    agent = Agent(api, member)
    arguments = {"tenantId": office.tenant_id, "folderId": office.folder}
    answer = agent.tool("files_write", name="x.txt", content="x", **arguments)
    assert refused(answer, "error.forbidden", "ask the user")
