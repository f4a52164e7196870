"""Location: every 201 names the URL of the created resource."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Response, request
from tests.support.api import PASSWORD, Answer, Api, Person
from tests.support.full_server import ALL_PLUGINS, Town
from tests.support.images import picture

Create = Callable[[Api, Person, str], Answer]
RAW = {"Content-Disposition": "attachment; filename=a.txt", "Content-Type": "text/plain"}

WITHOUT_GET = {
    "createAuthorization": "201 is no status of it; a login is listed, not read alone",
    "createChallenge": "a challenge is answered, not read; its id is the permission to answer it",
    "createCaptcha": "a captcha is answered, not read: a GET would show it to others",
    "sendVerificationCode": "a code is secret",
    "putGrant": "grants are listed as owners of the node; none is read alone",
    "putGroupGrant": "grants to groups are listed; none is read alone",
    "bindEmail": "credentials are listed; none is read alone",
    "bindMobile": "credentials are listed; none is read alone",
    "beginDueEnrolment": "as of beginFactor",
    "beginFactor": "an enrolment is confirmed, not read: a GET would show its secret again",
    "createRecoveryCodes": "as of beginFactor",
    "createTotp": "as of beginFactor",
    "createPasskeyChallenge": "as of beginFactor",
    "createLoginChallenge": "as of createChallenge",
    "confirmFactor": "factors are listed; none is read alone",
    "createServiceAccountKey": "keys of service accounts are listed; none is read alone",
    "beginDirectUpload": "the bytes go to the store; the node does not exist yet",
    "impersonateUser": "the token is shown once; the login is listed, not read alone",
    "giveTemporaryPassword": "the password is shown once",
    "createPasswordLink": "the link is shown once, or sent",
    "takeLock": "locks are listed; none is read alone",
    "createWechatQrCode": "the code is for one browser and one use; its url is in the body",
}


def upload(path: str, content: bytes = b"x", query: str = "") -> Create:
    def create(api: Api, by: Person, tenant: str) -> Answer:
        target = path if path.startswith("/") else f"{tenant}/{path}"
        return api.request("POST", target + query, by=by, headers=RAW, data=content)

    return create


def register(api: Api, _by: Person, _tenant: str) -> Answer:
    body = {
        "name": "New",
        "email": "new@example.com",
        "password": PASSWORD,
        "verificationCodes": [api.code("new@example.com", "register")],
    }
    return api.post("/users", body)


def begin_tus(api: Api, by: Person, tenant: str) -> Answer:
    name = b64encode(b"t.txt").decode()
    headers = {
        "Tus-Resumable": "1.0.0",
        "Upload-Length": "5",
        "Upload-Metadata": f"filename {name}",
    }
    return api.request("POST", f"{tenant}/uploads", by=by, headers=headers)


def copy(api: Api, by: Person, tenant: str) -> Answer:
    node = api.upload(tenant, by, "source.txt", b"x")
    body = {"parentId": None, "name": "copy.txt"}
    return api.post(f"{tenant}/files/{node['id']}/copies", body, by=by)


def schedule_deletion(api: Api, by: Person, _tenant: str) -> Answer:
    # The last administrator cannot be deleted.
    api.person(admin=True)
    return api.post("/users/me/deletion", by=by)


CREATIONS: dict[str, Create] = {
    "copyFile": copy,
    "createUser": register,
    "createGroup": lambda api, by, tenant: api.post(f"{tenant}/groups", {"name": "g"}, by=by),
    "createInvitation": lambda api, by, tenant: api.post(
        f"{tenant}/invitations", {"email": "invited@example.com"}, by=by
    ),
    "createTenant": lambda api, by, _: api.post("/api/v1/tenants", {"name": "Other"}, by=by),
    "createFolder": lambda api, by, tenant: api.post(f"{tenant}/folders", {"name": "f"}, by=by),
    "uploadFile": upload("files", query="?onConflict=rename"),
    "createUpload": begin_tus,
    "uploadBusinessFile": upload("/api/v1/files"),
    "uploadPhoto": upload("/api/v1/files/photos", picture()),
    "uploadFigure": upload("/api/v1/files/figures", picture()),
    "uploadCover": upload("/api/v1/files/covers", picture()),
    "createAccessKey": lambda api, by, _: api.post(
        "/users/me/access-keys", {"name": "backup", "scopes": ["files:read"]}, by=by
    ),
    "createServiceAccount": lambda api, by, tenant: api.post(
        f"{tenant}/service-accounts", {"name": "backup"}, by=by
    ),
    "createServerAccount": lambda api, by, _: api.post(
        "/api/v1/service-accounts", {"name": "directory"}, by=by
    ),
    "scheduleDeletion": schedule_deletion,
    "uploadAvatar": upload("/api/v1/files/avatars", picture()),
}
ELSEWHERE = {
    "createFolderInFolder": "below, and as createFolder",
    "uploadFileIntoFolder": "below, and as uploadFile",
    "completeDirectUpload": "test_direct_to_store.py",
    "createFirstAdministrator": "test_setup.py",
}


def read(api: Api, location: str, by: Person) -> Answer:
    root = api.container.settings.public_root
    assert location.startswith(f"{root}/")
    return api.get(location.removeprefix(root), by=by, headers={"Tus-Resumable": "1.0.0"})


@pytest.mark.parametrize("name", CREATIONS)
def test_a_get_of_the_location_finds_the_created_resource(api: Api, name: str) -> None:
    admin = api.person(admin=True)
    created = CREATIONS[name](api, admin, api.tenant(admin))
    assert created.status_code == 201, created.text
    found = read(api, created.headers["Location"], admin)
    assert found.status_code == 200, found.text
    for key in {"id", "name"} & (created.json or {}).keys():
        assert found.json[key] == created.json[key]


def test_in_a_folder_it_is_the_details_of_the_node_on_both_paths(api: Api) -> None:
    admin = api.person()
    tenant = api.tenant(admin)
    folder = api.folder(tenant, admin, "folder")
    plain = f"{tenant}/files/{folder['id']}/files"
    made = [
        api.post(f"{tenant}/files/{folder['id']}/folders", {"name": "inner"}, by=admin),
        api.request("POST", plain, by=admin, headers=RAW, data=b"x"),
        api.request("POST", f"{plain}?onConflict=rename", by=admin, headers=RAW, data=b"x"),
    ]
    for answer in made:
        location = f"{api.container.settings.public_root}{tenant}/files/{answer.json['id']}"
        assert answer.headers["Location"] == location
        assert read(api, location, admin).json == answer.json


def test_a_new_grant_has_one_and_a_changed_grant_has_none(api: Api) -> None:
    admin, member = api.person(), api.person()
    tenant = api.tenant(admin)
    api.join(tenant, admin, member)
    url = f"{tenant}/files/{api.upload(tenant, admin, 'a.txt', b'x')['id']}/owners"
    location = f"{api.container.settings.public_root}{url}/{member.id}"
    body = {"ownerId": member.id, "permission": "read"}
    for status, stated in ((201, location), (200, None)):
        answer = api.post(url, body, by=admin)
        assert (answer.status_code, answer.headers.get("Location")) == (status, stated)
    assert api.delete(f"{url}/{member.id}", by=admin).status_code == 200


def test_without_a_url_of_its_own_a_resource_has_that_of_the_request(api: Api) -> None:
    captcha = api.post("/captchas", {})
    assert captcha.headers["Location"] == f"{api.container.settings.public_root}/captchas"


@pytest.mark.config(ALL_PLUGINS)
class TestAllPlugins:
    """Routes of plugins, which may build their responses themselves."""

    def test_every_201_has_a_location_in_the_document(self, api: Api) -> None:
        described = {name: "Location" in answer["headers"] for name, answer in operations(api)}
        assert len(described) > 35
        assert {name for name, is_described in described.items() if not is_described} == set()

    def test_every_201_has_the_location_of_a_route(self, api: Api) -> None:
        """The town creates a resource of nearly every kind."""
        locations: dict[str, str | None] = {}

        def note(response: Response) -> Response:
            if response.status_code == 201:
                locations[str(request.endpoint)] = response.headers.get("Location")
            return response

        api.app.after_request(note)
        Town.built(api)
        assert len(locations) > 18
        routes = api.app.url_map.bind("files.example.com")
        for endpoint, location in locations.items():
            root, _, path = str(location).partition("files.example.com")
            assert root == "https://", endpoint
            assert routes.allowed_methods(path), endpoint


def operations(api: Api) -> Iterator[tuple[str, Any]]:
    for path in api.get("/openapi.json").json["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "201" in operation.get("responses", {}):
                yield operation["operationId"], operation["responses"]["201"]


def test_every_201_can_be_read_or_has_a_reason_not_to(api: Api) -> None:
    names = {name for name, _ in operations(api)}
    assert names - CREATIONS.keys() - ELSEWHERE.keys() <= WITHOUT_GET.keys()
