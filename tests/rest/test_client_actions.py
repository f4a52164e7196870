"""GET /users/me/client-actions: what a client has done for a user."""

import pytest
from tests.support.agents import PLUGINS_WITH_LOGIN, Office
from tests.support.api import Api, error_code

from strongroom.activity.audit import client_actions

PATH = "/users/me/client-actions/assistant"

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config({"plugins": {"enabled": PLUGINS_WITH_LOGIN}}),
]


@pytest.fixture
def office(api: Api) -> Office:
    return Office.made(api)


def test_the_user_sees_what_the_client_did_and_nothing_else(api: Api, office: Office) -> None:
    client, file = office.client(), office.file("sales.txt", b"Sales")
    client.tool("files_read", fileId=file["id"])
    office.agent().tool("files_list")
    answer = api.get(PATH, by=office.user)
    assert answer.status_code == 200, answer.text
    (record,) = answer.json["data"]
    assert (record["action"], record["details"]["tool"]) == ("mcp.call", "files_read")
    assert record["target"] == {"type": "file", "id": file["id"]}
    assert record["details"]["client"] == "assistant"
    assert api.get("/users/me/client-actions/other", by=office.user).json["data"] == []


def test_the_newest_is_first_on_each_page(api: Api, office: Office) -> None:
    client = office.client()
    for name in ("files_list", "files_search", "files_stat"):
        client.tool(name)
    pages = [
        api.get(f"{PATH}?pageSize=2&pageNumber={number}", by=office.user).json["data"]
        for number in (1, 2, 3)
    ]
    tools = [[item["details"]["tool"] for item in page] for page in pages]
    assert tools == [["files_stat", "files_search"], ["files_list"], []]


def test_other_users_do_not_see_it(api: Api, office: Office) -> None:
    office.client().tool("files_list")
    path = PATH.replace("me", office.user.id, 1)
    for other in (api.person(), api.person(admin=True)):
        assert error_code(api.get(path, by=other)) == "error.forbidden"
        assert api.get(PATH, by=other).json["data"] == []


def test_the_client_does_not_see_it(api: Api, office: Office) -> None:
    answer = api.get(PATH, by=office.client().caller)
    assert answer.status_code in (401, 403)


def test_only_the_newest_records_of_the_user_are_searched(
    api: Api, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_actions, "MOST_SEARCHED", 3)
    client = office.client()
    for _ in range(5):
        client.tool("files_list")
    assert api.get(PATH, by=office.user).json["meta"]["totalCount"] == 3
