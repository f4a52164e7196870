"""The listing on a live server: permissions, ranges, languages, and nothing but reading."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from strongroom.testing.server import LiveServer, LiveUser, Reply, live_server
from strongroom.testing.wsgi import WsgiApplicationContract


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=["directory_listing"]) as server:
        yield server


class TestDirectoryListing(WsgiApplicationContract):
    @pytest.fixture
    def prefix(self) -> str:
        return "/browse"


@dataclass
class Scene:
    """A tenant with a folder, two members, and keys of the member who may read the folder."""

    server: LiveServer
    tenant: str
    admin: LiveUser
    reader: LiveUser
    folder: dict[str, Any]
    file: dict[str, Any]

    def key(
        self,
        user: LiveUser,
        scopes: tuple[str, ...] = ("files:read", "tenants:read"),
        **limits: str,
    ) -> str:
        """Return a new access key, for which the login of the user is recent enough."""
        body = {"name": "browser", "scopes": scopes, **limits}
        path = "/users/me/access-keys"
        return str(self.server.succeed("POST", path, by=user, json_body=body)["key"])

    def browse(self, key: str, path: str, method: str = "GET", **headers: str) -> Reply:
        presented = base64.b64encode(f"anybody:{key}".encode()).decode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.request(
            method, f"/browse{path}", headers={"Authorization": f"Basic {presented}", **sent}
        )


@pytest.fixture(scope="module")
def scene(server: LiveServer) -> Scene:
    admin, reader = server.user(), server.user()
    tenant = server.tenant(admin, "Acme <&>")
    server.join(tenant, admin, reader)
    folder = server.folder_in(tenant, admin, "报告 100%")
    file = server.upload(tenant, admin, 'a ?#"<b>.txt', b"0123456789", folder["id"])
    server.upload(tenant, admin, "secret.txt", b"secret")
    body = {"ownerId": reader.id, "permission": "read"}
    path = f"/api/v1/tenants/{tenant}/files/{folder['id']}/owners"
    server.succeed("POST", path, by=admin, json_body=body)
    return Scene(server, tenant, admin, reader, folder, file)


FOLDER = "/%E6%8A%A5%E5%91%8A%20100%25"
FILE = f"{FOLDER}/a%20%3F%23%22%3Cb%3E.txt"


@pytest.fixture(scope="module")
def key(scene: Scene) -> str:
    return scene.key(scene.reader)


def test_the_links_lead_from_the_tenants_to_a_file(scene: Scene, key: str) -> None:
    tenants = scene.browse(key, "/")
    assert "Acme &lt;&amp;&gt;" in tenants.text
    assert f'href="/browse/{scene.tenant}/"' in tenants.text
    top = scene.browse(key, f"/{scene.tenant}/")
    assert f'href="/browse/{scene.tenant}{FOLDER}/"' in top.text
    assert "secret" not in top.text
    inside = scene.browse(key, f"/{scene.tenant}{FOLDER}/")
    assert f'href="/browse/{scene.tenant}{FILE}"' in inside.text
    assert scene.browse(key, f"/{scene.tenant}{FILE}").body == b"0123456789"


def test_a_download_has_ranges_conditions_and_a_record(scene: Scene, key: str) -> None:
    path = f"/{scene.tenant}{FILE}"
    part = scene.browse(key, path, Range="bytes=2-4")
    assert (part.status, part.body) == (206, b"234")
    assert part.headers["content-range"] == "bytes 2-4/10"
    whole = scene.browse(key, path)
    assert whole.headers["content-disposition"].startswith("inline")
    assert scene.browse(key, path, If_None_Match=whole.headers["etag"]).status == 304
    assert scene.browse(key, path, Range="bytes=99-").error == "error.range-not-satisfiable"


def test_permissions_are_those_of_rest(scene: Scene, key: str) -> None:
    secret = scene.browse(key, f"/{scene.tenant}/secret.txt")
    assert (secret.status, secret.error) == (404, "error.not-found")
    assert scene.browse(scene.key(scene.admin), f"/{scene.tenant}/secret.txt").body == b"secret"
    stranger = scene.key(scene.server.user())
    for path in ("/", FOLDER, "/nothing"):
        reply = scene.browse(stranger, f"/{scene.tenant}{path}")
        assert (reply.status, reply.error) == (403, "error.forbidden")
    assert "Acme" not in scene.browse(stranger, "/").text


def test_a_key_shows_only_what_it_is_limited_to(scene: Scene) -> None:
    limits = {"tenantId": scene.tenant, "fileId": scene.folder["id"]}
    key = scene.key(scene.admin, ("files:read",), **limits)
    assert scene.browse(key, f"/{scene.tenant}{FILE}").body == b"0123456789"
    assert scene.browse(key, f"/{scene.tenant}/secret.txt").status == 404
    top = scene.browse(key, f"/{scene.tenant}/").text
    assert (FOLDER in top, "secret" in top) == (True, False)
    other = scene.server.tenant(scene.admin, "Other")
    scene.server.upload(other, scene.admin, "other.txt", b"other")
    assert scene.browse(scene.key(scene.admin), f"/{other}/other.txt").body == b"other"
    of_tenant = scene.key(scene.admin, tenantId=scene.tenant)
    for limited in (key, of_tenant):
        assert scene.browse(limited, f"/{other}/").status == 403
        assert scene.browse(limited, f"/{other}/other.txt").status == 403
    assert "Other" not in scene.browse(of_tenant, "/").text


def test_a_key_without_the_scope_is_refused(scene: Scene) -> None:
    key = scene.key(scene.admin, scopes=("users:read",))
    assert scene.browse(key, f"/{scene.tenant}/").error == "error.insufficient-scope"
    key = scene.key(scene.admin, scopes=("files:read",))
    assert scene.browse(key, "/").error == "error.insufficient-scope"
    assert scene.browse(key, f"/{scene.tenant}/").status == 200


def test_a_revoked_key_ends_at_once(scene: Scene) -> None:
    key = scene.key(scene.admin)
    assert scene.browse(key, "/").status == 200
    scene.server.command("access-keys", "revoke", key.split("_")[1])
    assert (scene.browse(key, "/").status, scene.browse(key, "/").error) == (
        401,
        "error.token-invalid",
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "MKCOL", "MOVE"])
def test_nothing_can_be_changed(scene: Scene, method: str) -> None:
    key = scene.key(scene.admin, scopes=("files:share", "tenants:read"))
    reply = scene.browse(key, f"/{scene.tenant}{FILE}", method)
    assert (reply.status, reply.error) == (405, "error.browse-read-only")
    assert scene.browse(key, f"/{scene.tenant}{FILE}").body == b"0123456789"


@pytest.mark.parametrize(
    ("accepted", "language", "title"),
    [("zh-CN,en;q=0.5", "zh", "租户"), ("de,en", "en", "Tenants"), ("", "en", "Tenants")],
)
def test_pages_are_in_the_language_of_the_browser(
    scene: Scene, key: str, accepted: str, language: str, title: str
) -> None:
    page = scene.browse(key, "/", Accept_Language=accepted)
    assert f'<html lang="{language}"' in page.text
    assert f"<title>{title}</title>" in page.text
    assert page.headers["content-language"] == language
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy


def test_a_browser_gets_an_error_page_that_asks_for_the_key(scene: Scene) -> None:
    page = scene.server.request("GET", "/browse/", headers={"Accept": "text/html"})
    assert (page.status, page.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert "files:read" in page.text
    assert page.headers["www-authenticate"].startswith("Basic ")


def test_a_page_after_the_last_one_is_empty(scene: Scene, key: str) -> None:
    page = scene.browse(key, f"/{scene.tenant}/?page=2")
    assert (page.status, "Nothing here." in page.text) == (200, True)


def test_a_tenant_that_demands_a_recent_proof_accepts_no_key(scene: Scene) -> None:
    server, admin = scene.server, scene.admin
    tenant = server.tenant(admin)
    server.upload(tenant, admin, "a.txt", b"secret")
    key = scene.key(admin)
    assert scene.browse(key, f"/{tenant}/a.txt").body == b"secret"
    body = {"assurance": {"maxAgeSeconds": 600}}
    server.succeed("PATCH", f"/api/v1/tenants/{tenant}", by=admin, json_body=body)
    for path in ("/", "/a.txt"):
        reply = scene.browse(key, f"/{tenant}{path}")
        assert (reply.status, reply.error) == (403, "error.key-not-accepted")
