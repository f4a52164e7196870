"""No route returns content that is pending or in quarantine. A new route fails until it is listed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import Table, merged
from tests.support.features import needs
from tests.support.images import picture
from tests.support.scanners import SCANNING, WordScanner, install_word_scanner

import strongroom
from strongroom.content.files.service import FileService
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.scanning.rescans import Rescans
from strongroom.content.scanning.worker import ScanWorker
from strongroom.extensions.business_files.feature import BusinessFilesFeature
from strongroom.foundation.errors import NotScannedYet, Quarantined
from strongroom.identity.sessions.service import AuthorizationService

MARKER = b"the-bytes-that-nobody-may-read"
CORE = Path(strongroom.__file__).parent

READ_ROUTES = {
    "/",
    "/favicon.ico",
    "/.well-known/jwks.json",
    "/api/v1/files/<file_name>",
    "/api/v1/login-providers",
    "/api/v1/quarantine",
    "/api/v1/tenants",
    "/api/v1/tenants/<tenant_id>",
    "/api/v1/tenants/<tenant_id>/changes",
    "/api/v1/tenants/<tenant_id>/file-events",
    "/api/v1/tenants/<tenant_id>/files/<file_id>",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/access",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/download",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/group-grants",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/owners",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/locks",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/versions",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/versions/<number>/download",
    "/api/v1/tenants/<tenant_id>/groups",
    "/api/v1/tenants/<tenant_id>/groups/<group_id>",
    "/api/v1/tenants/<tenant_id>/groups/<group_id>/members",
    "/api/v1/tenants/<tenant_id>/holds",
    "/api/v1/tenants/<tenant_id>/invitations",
    "/api/v1/tenants/<tenant_id>/invitations/<invitation_id>",
    "/api/v1/tenants/<tenant_id>/members",
    "/api/v1/tenants/<tenant_id>/multi-files-download/<bundle_id>",
    "/api/v1/tenants/<tenant_id>/owners/<owner_id>/files",
    "/api/v1/tenants/<tenant_id>/owners/<owner_id>/files/<parent_id>/files",
    "/api/v1/tenants/<tenant_id>/retention",
    "/api/v1/tenants/<tenant_id>/service-accounts",
    "/api/v1/tenants/<tenant_id>/service-accounts/<account_id>",
    "/api/v1/tenants/<tenant_id>/service-accounts/<account_id>/access-keys",
    "/api/v1/tenants/<tenant_id>/trash",
    "/api/v1/tenants/<tenant_id>/uploads/<upload_id>",
    "/api/v1/tenants/<tenant_id>/usage",
    *(
        f"/api/v1/{name}-authorizations/{page}"
        for name in ("alipay", "dingtalk", "feishu", "oidc", "sso", "wecom")
        for page in ("begin", "callback", "callback/<name>")
    ),
    "/api/v1/wechat-authorizations/callback",
    "/api/v1/wechat-authorizations/scan",
    "/audit-events",
    "/credentials/<credential>/available",
    "/docs",
    "/docs/<path:name>",
    "/livez",
    "/openapi.json",
    "/readyz",
    "/setup",
    "/api/v1/service-accounts",
    "/api/v1/service-accounts/<account_id>",
    "/user-exports",
    "/user-imports",
    "/user-imports/<import_id>",
    "/user-imports/<import_id>/errors",
    "/users",
    "/users/<user_id>",
    "/users/<user_id>/access-keys",
    "/users/<user_id>/access-keys/<key_id>",
    "/users/<user_id>/authorizations",
    "/users/<user_id>/client-actions/<client_id>",
    "/users/<user_id>/credentials",
    "/users/<user_id>/deletion",
    "/api/v1/tenants/<tenant_id>/search",
    "/second-factors",
    "/users/<user_id>/factors",
    "/users/<user_id>/invitations",
    "/users/<user_id>/metadata",
    "/users/<user_id>/server-metadata",
}
"""All routes of the core that clients read by GET or HEAD."""

CONTENT_ROUTES = {
    "/api/v1/files/<file_name>",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/download",
    "/api/v1/tenants/<tenant_id>/files/<file_id>/versions/<number>/download",
    "/api/v1/tenants/<tenant_id>/multi-files-download/<bundle_id>",
}
"""Those that return content of files; POST .../multi-files-download returns it as well."""

READERS = {
    ("extensions/business_files/service.py", "BusinessFileService.get checks the state"),
    ("extensions/business_files/variants.py", "called by BusinessFileService.get"),
    ("extensions/bundles/archive.py", "its manifest has only files that Contents.write has checked"),
    ("content/files/service.py", "FileService.open checks the state"),
    ("content/scanning/worker.py", "scans"),
    ("extensions/backup/restore_tenant.py", "copies bytes with their scan states"),
    ("extensions/uploads/chunk_writer.py", "joins the parts of an upload that is not complete"),
}
"""The modules that read blobs, and why none of them returns content that may not be read."""

NGINX: Table = merged(SCANNING, {"storages": {"main": {"downloads": "x_accel"}}})
HEADERS: list[dict[str, str]] = [
    {},
    {"Range": "bytes=0-9"},
    {"Range": "bytes=0-0,5-9"},
    {"If-None-Match": '"x"'},
    {"Want-Content-Digest": "sha-256=1"},
]


@pytest.fixture(autouse=True)
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_word_scanner(tmp_path / "plugins", monkeypatch)


pytestmark = [
    pytest.mark.config(SCANNING),
    needs(ScanningFeature),
    needs(BusinessFilesFeature),
]


@dataclass
class Site:
    """A tenant with a file, a picture and a bundle of the file, which cannot be read."""

    api: Api
    people: list[Person]
    values: dict[str, list[str]]

    def answers(self, route: str) -> Iterator[Answer]:
        """Call a route with all values of its parameters, as everyone, and all headers of downloads."""
        is_download = route in CONTENT_ROUTES
        for path in self.paths(route):
            for person in self.people:
                for headers in HEADERS if is_download else HEADERS[:1]:
                    yield self.api.request("GET", path, by=person, headers=headers)
                if is_download:
                    yield self.api.request("HEAD", path, by=person)

    def paths(self, route: str) -> list[str]:
        """Return the paths of a route with the values of its parameters."""
        paths = [route]
        for parameter in re.findall(r"<(?:\w+:)?(\w+)>", route):
            pattern = re.compile(rf"<(?:\w+:)?{parameter}>")
            values = self.values.get(parameter, ["x"])
            paths = [pattern.sub(value, path, count=1) for path in paths for value in values]
        return paths


def make_site(api: Api, state: str) -> Site:
    """Make files of a state: uploaded while the scanner was away, or found by a later scan."""
    if state == "pending":
        WordScanner.is_available = False
    alice, admin = api.person(), api.person(admin=True)
    tenant = api.tenant(alice)
    api.join(tenant, alice, admin, "admin")
    folder = api.folder(tenant, alice, "folder")["id"]
    body = {"fileIds": [folder]}
    small = api.upload(tenant, alice, "small", MARKER, folder)
    if state == "pending":
        api.delete(f"{tenant}/files/{small['id']}", by=alice)
    made = api.post(f"{tenant}/multi-files-download", body, by=alice)
    bundle = made.headers["Content-Location"].rpartition("/")[2]
    if state == "pending":
        small = api.upload(tenant, alice, "small", MARKER, folder)
    big = api.upload(tenant, alice, "big", MARKER * 100, folder)
    replaced = api.upload(tenant, alice, "replaced", MARKER * 100, folder)
    content = f"{tenant}/files/{replaced['id']}/content"
    assert api.request("PUT", content, by=alice, data=MARKER + b"2").status_code == 200
    pictures = [send_business_file(api, alice, path) for path in ("/avatars", "")]
    if state != "pending":
        quarantine_all(api)
    values = {
        "tenant_id": [tenant.rpartition("/")[2]],
        "file_id": [small["id"], big["id"], replaced["id"], folder],
        "number": ["1"],
        "parent_id": [folder, small["id"]],
        "owner_id": [alice.id, "me"],
        "user_id": [alice.id],
        "bundle_id": [bundle],
        "file_name": [*pictures, f"{pictures[0]}?width=48"],
    }
    return Site(api, [alice, admin], values)


def send_business_file(api: Api, by: Person, path: str) -> str:
    content = picture((100, 100)) if path else b"%PDF-1.7\n" + MARKER
    headers = {"Content-Disposition": 'attachment; filename="a"'}
    answer = api.request("POST", f"/api/v1/files{path}", by=by, headers=headers, data=content)
    name: str = answer.json["fileName"]
    if path:
        # Its variant exists before a later scan finds the picture.
        api.get(f"/api/v1/files/{name}?width=48", by=by)
    return name


def quarantine_all(api: Api) -> None:
    services = api.container
    services.get(ScanWorker).run_due()
    WordScanner.words = {MARKER, b"\x89PNG"}
    WordScanner.database = "2"
    assert services.get(Rescans).plan_older("2") == 6
    assert services.get(ScanWorker).run_due() == 6


@pytest.mark.parametrize("config_changes", [SCANNING, NGINX], ids=["server", "nginx"])
@pytest.mark.parametrize("state", ["pending", "infected"])
def test_no_read_route_returns_it(api: Api, state: str) -> None:
    site = make_site(api, state)
    calls, codes = 0, set()
    for route in READ_ROUTES:
        for answer in site.answers(route):
            calls += 1
            assert MARKER not in answer.data, route
            assert b"PNG" not in answer.data, route
            assert "X-Accel-Redirect" not in answer.headers, route
            assert answer.status_code != 307, route
            if route in CONTENT_ROUTES:
                codes.add((route, answer.status_code))
    expected = 409 if state == "pending" else 403
    for route in CONTENT_ROUTES:
        assert (route, expected) in codes or route.endswith("<bundle_id>"), codes
    assert calls > 100
    body = {"fileIds": site.values["file_id"][:1]}
    (tenant,) = site.values["tenant_id"]
    for person in site.people:
        answer = api.post(f"/api/v1/tenants/{tenant}/multi-files-download", body, by=person)
        assert answer.status_code == expected
    folder: Json = {"fileIds": site.values["file_id"][2:]}
    answer = api.post(f"/api/v1/tenants/{tenant}/multi-files-download", folder, by=site.people[0])
    assert MARKER not in answer.data


@pytest.mark.parametrize("state", ["pending", "infected"])
def test_the_services_refuse_it_to_plugins(api: Api, state: str) -> None:
    site = make_site(api, state)
    files = api.container.get(FileService)
    identity = api.container.get(AuthorizationService).verify(site.people[0].token or "")
    (tenant,) = site.values["tenant_id"]
    for file_id in site.values["file_id"][:2]:
        node = files.get(identity, tenant, file_id).node
        refusals: Any = (NotScannedYet, Quarantined)
        with pytest.raises(refusals):
            files.locate(identity, tenant, file_id)
        with pytest.raises(refusals), files.open(node, 0, node.size):
            pytest.fail("the content was opened")


def test_every_read_route_is_listed(api: Api) -> None:
    rules = {rule.rule for rule in api.app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    assert rules == READ_ROUTES
    assert len(READ_ROUTES) == 83


STORES = ("content/storage/", "extensions/storage_maintenance/")
"""Packages that move and compare the bytes of all files, and send none to users."""


def test_every_module_that_reads_blobs_is_listed() -> None:
    reads = re.compile(r"\b_?(blobs|store)\.open\b|partial\(self\._blobs\.open")
    modules = {str(path.relative_to(CORE)): path for path in CORE.rglob("*.py")}
    found = {
        name
        for name, path in modules.items()
        if not name.startswith((*STORES, "testing/")) and reads.search(path.read_text())
    }
    assert found == {module for module, _ in READERS}
