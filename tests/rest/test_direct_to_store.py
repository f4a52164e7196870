"""Clients read from the store and write to it directly, where that is configured."""

import hashlib
import os
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update
from tests.support.api import Answer, Api, error_code
from tests.support.config import Table, main_storage, write_api_config
from tests.support.features import needs
from tests.support.http import at_once
from tests.support.scanners import SCANNING, VIRUS, install_word_scanner
from tests.support.stores import oss_store, s3_store

from strongroom.assembly.app import create_app
from strongroom.content.scanning.worker import ScanWorker
from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.models import tenants
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.uploads.direct import DirectUploads
from strongroom.extensions.uploads.direct_feature import DirectUploadsFeature
from strongroom.foundation.caller import Identity
from strongroom.foundation.config import ConfigurationError, load

pytestmark = needs(DirectUploadsFeature)

STORES = {"s3": s3_store, "oss": oss_store}
DIRECT = {"downloads": "redirect", "direct_uploads": True}
STORE_AND_SCANNER: Table = {"plugins": {"enabled": ["storage_s3", "scan_words"]}}
CONTENT = os.urandom(5000)


@pytest.fixture(params=["s3", "oss"])
def api(request: pytest.FixtureRequest, tmp_path: Path, database_url: str) -> Iterator[Api]:
    """A server whose files are at a real store."""
    with ExitStack() as stack:
        store = stack.enter_context(STORES[request.param]())
        addressing = {"addressing": "path"} if request.param == "oss" else {}
        storage = store.options() | DIRECT | addressing
        config = write_api_config(tmp_path, database_url, *main_storage(storage))
        yield stack.enter_context(Api.running(config))


def send(request: dict[str, Any], body: bytes) -> int:
    """Send a signed request to the store, and return the status of its answer."""
    url = urlsplit(request["url"])
    connection = HTTPConnection(url.netloc, timeout=30)
    connection.request(request["method"], f"{url.path}?{url.query}", body, request["headers"])
    status = connection.getresponse().status
    connection.close()
    return status


def announce(api: Api, tenant: str, by: Any, content: bytes = CONTENT, **changes: Any) -> Answer:
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    body = {"name": "direct.bin", "size": len(content), "checksum": checksum, **changes}
    return api.post(f"{tenant}/direct-uploads", body, by=by)


def complete(api: Api, tenant: str, by: Any, upload: Answer) -> Answer:
    return api.post(f"{tenant}/direct-uploads/{upload.json['uploadId']}/complete", {}, by=by)


def collect_two_days_later(api: Api) -> int:
    api.clock.advance(2 * ABANDONED_AFTER)
    return api.container.get(BlobService).collect()


def test_a_download_is_a_redirect_to_a_url_that_gives_the_file_under_its_name(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    node = api.upload(tenant, alice, "naïve.bin", CONTENT)
    answer = api.get(f"{tenant}/files/{node['id']}/download", by=alice)
    assert (answer.status_code, answer.data) == (307, b"")
    assert answer.headers["Cache-Control"] == "private, no-store"
    with urllib.request.urlopen(answer.headers["Location"]) as response:
        assert response.read() == CONTENT
        assert response.headers["Content-Type"] == "application/octet-stream"
        assert "attachment" in response.headers["Content-Disposition"]
        assert "na%C3%AFve.bin" in response.headers["Content-Disposition"]


def test_conditions_are_evaluated_before_a_redirect(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    path = f"{tenant}/files/{api.upload(tenant, alice, 'a.bin', CONTENT)['id']}/download"
    head = api.request("HEAD", path, by=alice)
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(CONTENT)))
    etag = head.headers["ETag"]
    assert api.get(path, by=alice, headers={"If-None-Match": etag}).status_code == 304
    assert api.get(path, by=alice, headers={"If-Match": '"other"'}).status_code == 412
    assert api.get(path, by=alice, headers={"Range": "bytes=0-9"}).status_code == 307
    assert api.get(path).status_code == 401


def test_a_file_is_sent_to_the_store_and_completed(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    upload = announce(api, tenant, alice)
    assert upload.status_code == 201, upload.text
    assert error_code(complete(api, tenant, alice, upload)) == "error.upload-incomplete"
    assert send(upload.json, CONTENT) == 200
    answer = complete(api, tenant, alice, upload)
    assert answer.status_code == 201, answer.text
    assert answer.json["size"] == len(CONTENT)
    assert answer.json["checksum"] == f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
    assert api.get(f"{tenant}/files/{answer.json['id']}", by=alice).json == answer.json
    # A client that lost the response gets it again, and cannot replace the verified content.
    again = complete(api, tenant, alice, upload)
    assert (again.status_code, again.json) == (201, answer.json)
    assert len(api.get(f"{tenant}/owners/me/files", by=alice).json["data"]) == 1
    assert send(upload.json, os.urandom(len(CONTENT))) >= 400
    collect_two_days_later(api)
    assert api.stored_objects() == 1


def test_what_was_sent_to_the_store_is_scanned_before_it_is_read(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_word_scanner(tmp_path / "plugins", monkeypatch)
    with s3_store() as store:
        changes = main_storage(store.options() | DIRECT)
        config = write_api_config(tmp_path, database_url, *changes, SCANNING, STORE_AND_SCANNER)
        with Api.running(config) as api:
            alice = api.person()
            tenant = api.tenant(alice)
            for content, name in ((CONTENT, "clean.bin"), (CONTENT + VIRUS, "infected.bin")):
                upload = announce(api, tenant, alice, content, name=name)
                assert send(upload.json, content) == 200
                node = complete(api, tenant, alice, upload).json
                path = f"{tenant}/files/{node['id']}"
                assert node["scan"] == "pending"
                assert api.get(f"{path}/download", by=alice).status_code == 409
                api.container.get(ScanWorker).run_due()
                is_clean = name == "clean.bin"
                assert api.get(path, by=alice).json["scan"] == ("clean" if is_clean else "infected")
                answer = api.get(f"{path}/download", by=alice)
                assert (answer.status_code == 307) == is_clean
                assert ("Location" in answer.headers) == is_clean


def test_content_that_was_not_announced_is_refused_and_collected(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    upload = announce(api, tenant, alice)
    assert send(upload.json, os.urandom(len(CONTENT))) == 200
    assert error_code(complete(api, tenant, alice, upload)) == "error.digest-mismatch"
    assert complete(api, tenant, alice, upload).status_code == 404
    # The row stays until its URL has expired, because a client might send the content again.
    assert api.stored_objects() == 1
    collect_two_days_later(api)
    assert api.stored_objects() == 0


def test_an_upload_that_is_never_completed_is_collected(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    assert send(announce(api, tenant, alice).json, CONTENT) == 200
    announce(api, tenant, alice)
    assert api.container.get(BlobService).collect() == 0
    assert collect_two_days_later(api) == 2
    assert api.stored_objects() == 0


def test_permission_and_names_hold_at_the_end(api: Api) -> None:
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    assert announce(api, tenant, bob).status_code == 403
    upload = announce(api, tenant, alice)
    send(upload.json, CONTENT)
    api.join(tenant, alice, bob)
    assert complete(api, tenant, bob, upload).status_code == 404
    assert complete(api, api.tenant(alice, "Other"), alice, upload).status_code == 404
    api.upload(tenant, alice, "direct.bin", b"was faster")
    assert error_code(complete(api, tenant, alice, upload)) == "error.name-conflict"


def test_a_login_weaker_than_the_tenant_demands_gets_no_signed_url(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    node = api.upload(tenant, alice, "a.bin", CONTENT)
    begun = announce(api, tenant, alice)
    assert send(begun.json, CONTENT) == 200
    operator = api.person(admin=True)
    assert api.patch(tenant, {"assurance": {"acr": "phr"}}, by=operator).status_code == 200
    refused = [
        api.get(f"{tenant}/files/{node['id']}/download", by=alice),
        announce(api, tenant, alice, name="other.bin"),
        complete(api, tenant, alice, begun),
    ]
    assert [(answer.status_code, error_code(answer)) for answer in refused] == [
        (401, "error.step-up-required")
    ] * 3
    assert all("Location" not in answer.headers for answer in refused)


def test_too_much_and_nonsense_are_refused_at_the_beginning(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    assert announce(api, tenant, alice, size=8_000_001).status_code == 413
    assert announce(api, tenant, alice, checksum="sha256:abc").status_code == 400
    assert announce(api, tenant, alice, name="a/b").status_code == 400
    assert announce(api, tenant, alice, parentId="unknown").status_code == 404
    answer = api.post(f"{tenant}/direct-uploads/nonsense/complete", {}, by=alice)
    assert answer.status_code == 404


def space(api: Api, tenant: str, by: Any) -> tuple[int, int]:
    """Return the bytes that a tenant uses, and those that are reserved."""
    identity = Identity(by.id, "USER", "login")
    row = api.container.get(TenantService).get(identity, tenant.rpartition("/")[2])
    return row.used_bytes, row.reserved_bytes


def set_quota(api: Api, tenant: str, size: int) -> None:
    with api.container.database.write() as connection:
        change = update(tenants).where(tenants.c.id == tenant.rpartition("/")[2])
        connection.execute(change.values(quota_bytes=size))


def test_announced_bytes_are_reserved_until_they_are_completed(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    set_quota(api, tenant, len(CONTENT) + 1000)
    upload = announce(api, tenant, alice)
    assert space(api, tenant, alice) == (0, len(CONTENT))
    assert error_code(announce(api, tenant, alice, name="b.bin")) == "error.storage-full"
    assert error_code(api.send(tenant, alice, "c.bin", bytes(1001))) == "error.storage-full"
    assert send(upload.json, CONTENT) == 200
    assert complete(api, tenant, alice, upload).status_code == 201
    assert space(api, tenant, alice) == (len(CONTENT), 0)
    collect_two_days_later(api)
    api.container.get(DirectUploads).collect()
    assert space(api, tenant, alice) == (len(CONTENT), 0)


def test_reserved_space_comes_back_when_an_upload_ends_or_fails(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    set_quota(api, tenant, len(CONTENT))
    upload = announce(api, tenant, alice)
    assert send(upload.json, os.urandom(len(CONTENT))) == 200
    assert error_code(complete(api, tenant, alice, upload)) == "error.digest-mismatch"
    assert space(api, tenant, alice) == (0, 0)
    assert announce(api, tenant, alice).status_code == 201
    api.clock.advance(2 * ABANDONED_AFTER)
    # The next direct upload releases ended reservations; so does the collection.
    alice = replace(alice, token=api.log_in(alice.email).json["accessToken"])
    assert announce(api, tenant, alice).status_code == 201
    api.clock.advance(2 * ABANDONED_AFTER)
    assert api.container.get(DirectUploads).collect() == 1
    assert space(api, tenant, alice) == (0, 0)


def test_open_announcements_of_a_user_are_bounded(api: Api) -> None:
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    api.container.get(DirectUploads)._reservations._max_open = 2
    first, second = (announce(api, tenant, alice, name=f"{n}.bin") for n in range(2))
    refused = announce(api, tenant, alice, name="3.bin")
    assert (refused.status_code, error_code(refused)) == (429, "error.too-many-requests")
    assert int(refused.headers["Retry-After"]) > 0
    assert announce(api, tenant, bob, name="bob.bin").status_code == 201
    assert send(first.json, CONTENT) == 200
    assert complete(api, tenant, alice, first).status_code == 201
    assert announce(api, tenant, alice, name="3.bin").status_code == 201
    assert second.status_code == 201


def test_an_upload_completed_many_times_at_once_is_one_file(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    for on_conflict in ("fail", "rename", "replace"):
        path = f"{tenant}/direct-uploads?onConflict={on_conflict}"
        checksum = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
        body = {"name": f"{on_conflict}.bin", "size": len(CONTENT), "checksum": checksum}
        upload = api.post(path, body, by=alice)
        assert send(upload.json, CONTENT) == 200
        answers = at_once([partial(complete, api, tenant, alice, upload)] * 8)
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json["id"] for answer in answers}) == 1
    assert space(api, tenant, alice) == (3 * len(CONTENT), 0)


def test_a_completed_upload_whose_file_is_deleted_is_gone(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    upload = announce(api, tenant, alice)
    send(upload.json, CONTENT)
    node = complete(api, tenant, alice, upload).json
    assert api.request("DELETE", f"{tenant}/files/{node['id']}", by=alice).status_code == 200
    assert complete(api, tenant, alice, upload).status_code == 404


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"downloads": "redirect"}, "local does not support"),
        ({"direct_uploads": True}, "not supported by local"),
        ({"downloads": "torrent"}, "must be one of"),
    ],
)
def test_unsupported_features_of_a_storage_are_refused_at_the_start(
    tmp_path: Path, wish: Table, message: str
) -> None:
    changes = {"storages": {"main": wish}}
    config = write_api_config(tmp_path, f"sqlite:///{tmp_path}/db.sqlite3", changes)
    with pytest.raises(ConfigurationError, match=message):
        create_app(load(config, {}))


def test_direct_uploads_need_a_store_that_replaces_nothing(tmp_path: Path) -> None:
    storage = {
        "backend": "s3",
        "bucket": "files",
        "region": "us-east-1",
        "access_key_id": "a",
        "secret_access_key": "b",
        "write_once": False,
        "direct_uploads": True,
    }
    config = write_api_config(tmp_path, f"sqlite:///{tmp_path}/db.sqlite3", *main_storage(storage))
    with pytest.raises(ConfigurationError, match="refuses to replace"):
        create_app(load(config, {}))


def test_a_direct_upload_creates_the_folders_of_its_path(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    begun = announce(api, tenant, alice, relativePath="a/b/direct.bin")
    assert send(begun.json, CONTENT) in (200, 201)
    node = complete(api, tenant, alice, begun).json
    folder = api.get(f"{tenant}/files/{node['parentId']}", by=alice).json
    top = api.get(f"{tenant}/files/{folder['parentId']}", by=alice).json
    assert (node["name"], folder["name"], top["name"]) == ("direct.bin", "b", "a")
    assert complete(api, tenant, alice, begun).json["id"] == node["id"]
    refused = announce(api, tenant, alice, relativePath="../direct.bin")
    assert refused.json["error"]["details"][0]["field"] == "relativePath"
