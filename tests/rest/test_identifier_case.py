"""UUIDs are accepted in any case (RFC 9562, section 4)."""

from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.scene import Scene

pytestmark = on_sqlite


def test_a_path_has_identifiers_in_upper_case(scene: Scene, api: Api) -> None:
    admin = api.person()
    tenant = api.tenant(admin)
    file = api.upload(tenant, admin, "Case.txt", b"content", None)["id"]
    identifier = tenant.rpartition("/")[2].upper()
    answer = api.get(f"/api/v1/tenants/{identifier}/files/{file.upper()}", by=admin)
    assert (answer.status_code, answer.json.get("id")) == (200, file)


def test_a_body_and_a_query_have_identifiers_in_upper_case(api: Api) -> None:
    admin, member = api.person(), api.person()
    tenant = api.tenant(admin)
    api.join(tenant, admin, member)
    folder = api.folder(tenant, admin, "Folder")["id"]
    file = api.upload(tenant, admin, "Case.txt", b"content", None)["id"]
    moved = api.put(f"{tenant}/files/{file}/directory", {"parentId": folder.upper()}, by=admin)
    assert (moved.status_code, moved.json["parentId"]) == (200, folder)
    body = {"ownerId": member.id.upper(), "permission": "read"}
    assert api.post(f"{tenant}/files/{file}/owners", body, by=admin).status_code in (200, 201)
    bundle = api.post(f"{tenant}/multi-files-download", {"fileIds": [file.upper()]}, by=admin)
    assert bundle.status_code == 200
    events = api.get(f"{tenant}/file-events?nodeId={file.upper()}", by=admin)
    assert events.status_code == 200
    assert events.json["data"]


def test_text_that_is_no_identifier_keeps_its_case(api: Api) -> None:
    admin = api.person(username="Carol")
    answer = api.get("/credentials/Carol/available", headers={})
    assert (admin.id, answer.status_code) == (admin.id, 200)


def test_an_encoded_slash_separates_no_segments(api: Api) -> None:
    """The gateway keeps it encoded; here, the path is as an application receives it."""
    admin = api.person()
    tenant = api.tenant(admin)
    file = api.upload(tenant, admin, "a.txt", b"content", None)["id"]
    answer = api.get(f"{tenant}/files/{file}%252Fdownload", by=admin)
    assert answer.status_code in (403, 404)
