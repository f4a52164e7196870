"""Names: any Unicode is returned in one normal form; invalid names are refused with the reason."""

import json
import re
import unicodedata
from urllib.parse import unquote

from tests.rest.nasty_names import COUNT, in_order, may_be_a_name, nasty_names
from tests.support.api import Answer, Api, Json, Person, error_code

from strongroom.content.storage.service import BlobService
from strongroom.foundation.text_direction import without_direction


def saved_as(download: Answer) -> str:
    """Return the name that a download is saved under, by RFC 6266."""
    header = download.headers["Content-Disposition"]
    extended = re.search(r"filename\*=UTF-8''(\S+)$", header)
    plain = re.search(r'filename="([^"]*)"', header)
    if extended:
        return unquote(extended[1], errors="strict")
    assert plain
    return plain[1]


def send(api: Api, person: Person, method: str, path: str, body: Json) -> Answer:
    """Send JSON in ASCII, which can spell half of a surrogate pair."""
    content = json.dumps(body)
    return api.request(method, path, by=person, data=content, content_type="application/json")


def refusal(answer: Answer) -> tuple[int, str, str]:
    """Return the status, the code, and the invalid field."""
    return answer.status_code, error_code(answer), answer.json["error"]["details"][0]["field"]


def test_four_hundred_nasty_names_come_back_or_are_refused_with_the_field(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    names = nasty_names()
    assert len(names) == COUNT
    refused = 0
    for number, name in enumerate(names):
        # Each in a folder of its own: some are the same name, once they are in their one form.
        around = api.folder(tenant, person, f"around {number}")["id"]
        answer = send(api, person, "POST", f"{tenant}/files/{around}/folders", {"name": name})
        if may_be_a_name(name):
            assert answer.status_code == 201, repr(name)
            check_round_trip(api, tenant, person, answer.json, name)
        else:
            assert refusal(answer) == (400, "error.validation-failed", "name"), repr(name)
            refused += 1
    assert 20 < refused < COUNT // 2
    keys = [item.key for item in api.container.get(BlobService).storages["main"].scan()]
    assert all(re.fullmatch(r"[0-9a-f]{2}/[0-9a-f]{32}", key) for key in keys)


def check_round_trip(api: Api, tenant: str, person: Person, folder: Json, name: str) -> None:
    """Compare the names of a folder and of a file in it with the requested ones."""
    final = unicodedata.normalize("NFC", name)
    assert folder["name"] == final
    file = api.upload(tenant, person, name, b"x", folder["id"])
    assert file["name"] == final, repr(name)
    listed = api.get(f"{tenant}/owners/me/files/{folder['id']}/files", by=person).json["data"]
    assert [item["name"] for item in listed] == [final]
    download = api.get(f"{tenant}/files/{file['id']}/download", by=person)
    assert (saved_as(download), download.data) == (without_direction(final), b"x"), repr(name)


def test_two_forms_of_one_name_are_one_name(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    api.folder(tenant, person, "e\u0301")
    answer = api.post(f"{tenant}/folders", {"name": "é"}, by=person)
    assert (answer.status_code, error_code(answer)) == (409, "error.name-conflict")


def test_names_differ_by_case_and_trailing_dots_and_spaces(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    names = ["a", "A", "a.", "a ", " a", "ﬁ", "fi", "ß", "ss", "a\u200b", "\u202ea"]
    for name in names:
        api.folder(tenant, person, name)
    listed = api.get(f"{tenant}/owners/me/files?pageSize=50", by=person).json["data"]
    assert [item["name"] for item in listed] == in_order(names)


def test_a_rename_and_a_move_hold_names_to_the_same_rule(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    file = api.upload(tenant, person, "file", b"x")["id"]
    for name in ("", ".", "..", "a/b", "a\0b", "\ud800", "a" * 256):
        renamed = send(api, person, "PATCH", f"{tenant}/files/{file}", {"name": name})
        body = {"parentId": None, "name": name}
        moved = send(api, person, "PUT", f"{tenant}/files/{file}/directory", body)
        for answer in (renamed, moved):
            assert refusal(answer) == (400, "error.validation-failed", "name")
