"""What a user could do ends at once on all nodes, by each change that ends it: a table of both."""

import hashlib
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import insert, select, update
from tests.support.api import PASSWORD, Answer, Api, Json, Person, creation_headers, error_code
from tests.support.config import lifted, main_storage, write_api_config
from tests.support.features import needs
from tests.support.imports import import_users
from tests.support.stores import ObjectStore, oss_store

from strongroom.assembly.features import import_models
from strongroom.extensions.uploads.direct_feature import DirectUploadsFeature
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.metadata import metadata
from strongroom.foundation.errors import StrongroomError
from strongroom.identity.sessions.models import authorizations
from strongroom.identity.sessions.oauth_states import OAuthStateStore
from strongroom.identity.users.contact_links import ContactLinks
from strongroom.identity.users.credential_changes import ChangedBy, SettledChange
from strongroom.identity.users.models import account_links
from strongroom.plugin_api.login import Credential
from strongroom.web.http import downloads
from strongroom_login_pages.front_ends.models import metadata as login_pages
from strongroom_oidc_provider.models import metadata as oidc_provider
from strongroom_share_links.models import metadata as share_links
from strongroom_webhooks.models import metadata as webhooks

pytestmark = needs(DirectUploadsFeature)

TUS = {"Tus-Resumable": "1.0.0"}
CONTENT = b"content"


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with oss_store() as store:
        yield store


@pytest.fixture
def config(tmp_path: Path, database_url: str, store: ObjectStore) -> Path:
    options = {**store.options(), "direct_uploads": True, "addressing": "path"}
    changes = main_storage({**options, "prefix": tmp_path.name})
    plugins = {"plugins": {"enabled": ["storage_oss", "factor_totp"]}}
    return write_api_config(tmp_path, database_url, *changes, plugins, lifted())


@dataclass
class Case:
    """A user with secrets of each kind, on one node, which another node checks."""

    api: Api
    other: Api
    root: Person
    owner: Person
    user: Person
    tenant: str
    secrets: Json = field(default_factory=dict)

    def again(self) -> Person:
        """Return the user with a new login."""
        reply = self.api.log_in(self.user.email)
        assert reply.status_code == 200, reply.text
        return replace(self.user, token=reply.json["accessToken"])


Use = Callable[[Case, Person], Answer]
"""Presents a secret to the other node, with the current login of the user."""


def answer_of(code: str | None) -> Answer:
    """Return an answer for a secret that has no route of the core."""
    reply: Json = {"error": {"code": code}} if code else {}
    made = Answer.__new__(Answer)
    made.status_code, made.json, made.text = 400 if code else 200, reply, str(reply)
    return made


def make_tokens(case: Case) -> None:
    login = case.api.log_in(case.user.email).json
    case.secrets["access"], case.secrets["refresh"] = login["accessToken"], login["refreshToken"]


def use_access_token(case: Case, _: Person) -> Answer:
    return case.other.get("/users/me", by=replace(case.user, token=case.secrets["access"]))


def use_refresh_token(case: Case, _: Person) -> Answer:
    reply = case.other.post("/authorizations/refresh", {"refreshToken": case.secrets["refresh"]})
    case.secrets["refresh"] = (reply.json or {}).get("refreshToken", case.secrets["refresh"])
    return reply


def make_key(case: Case, **limits: str) -> str:
    body = {"name": "key", "scopes": ["files:read"], "currentPassword": PASSWORD, **limits}
    reply = case.api.post("/users/me/access-keys", body, by=case.user)
    assert reply.status_code == 201, reply.text
    key: str = reply.json["key"]
    return key


def make_keys(case: Case) -> None:
    case.secrets["key"] = make_key(case)
    case.secrets["tenant-key"] = make_key(case, tenantId=case.tenant.rpartition("/")[2])


def use_key(case: Case, _: Person) -> Answer:
    return _files(case, replace(case.user, token=case.secrets["key"]))


def use_tenant_key(case: Case, _: Person) -> Answer:
    return _files(case, replace(case.user, token=case.secrets["tenant-key"]))


def _files(case: Case, by: Person) -> Answer:
    return case.other.get(f"{case.tenant}/owners/me/files", by=by)


def make_impersonation(case: Case) -> None:
    other = case.api.person()
    with case.api.container.database.write() as connection:
        acting = update(authorizations).where(authorizations.c.user_id == other.id)
        connection.execute(acting.values(actor_id=case.user.id))
    case.secrets["impersonation"] = other


def use_impersonation(case: Case, _: Person) -> Answer:
    return case.other.get("/users/me", by=case.secrets["impersonation"])


def make_enrolment(case: Case) -> None:
    reply = case.api.post("/users/me/factors", {"kind": "totp"}, by=case.user)
    assert reply.status_code == 201, reply.text
    case.secrets["enrolment"] = reply.json


def use_enrolment(case: Case, by: Person) -> Answer:
    begun = case.secrets["enrolment"]
    body = {"answer": "wrong"}
    return case.other.post(f"/users/me/factors/{begun['id']}/confirmation", body, by=by)


def make_code(case: Case) -> None:
    case.secrets["code"] = case.api.code(case.user.email, "reset-password")


def use_code(case: Case, _: Person) -> Answer:
    path = f"/users/{case.user.email}/reset-password"
    return case.other.post(path, {"verificationCode": case.secrets["code"], "newPassword": PASSWORD})


def make_contact_link(case: Case) -> None:
    former = Credential("email", "former@example.com")
    change = SettledChange(
        case.user.id,
        changes=[],
        contacts=[],
        former=[former],
        restorable=[former],
        bound_at={former: case.api.clock.now()},
        by=ChangedBy(case.user.id),
    )
    with case.api.container.database.write() as connection:
        case.secrets["contact"] = case.api.container.get(ContactLinks).issue(connection, change)[former]


def use_contact_link(case: Case, _: Person) -> Answer:
    return case.other.post("/users/contact-restoration-previews", {"token": case.secrets["contact"]})


def make_state(case: Case) -> None:
    case.secrets["states"] = [
        case.api.container.get(OAuthStateStore)
        .issue("bind", "browser", case.user.id, {}, Origin(address="192.0.2.1"))
        .value
        for _ in range(2)
    ]


def use_state(case: Case, _: Person) -> Answer:
    states, value = case.other.container.get(OAuthStateStore), case.secrets["states"].pop()
    try:
        states.consume(value, "bind", "browser", case.user.id, Origin(address="192.0.2.1"))
    except StrongroomError as error:
        return answer_of(error.code)
    return answer_of(None)


def make_link(case: Case) -> None:
    row = {"user_id": case.user.id, "kind": "reset", "created_by": case.root.id}
    times = {"created_at": 0, "expires_at": 1 << 50}
    with case.api.container.database.write() as connection:
        connection.execute(insert(account_links), {"hash": case.user.id, **row, **times})


def use_link(case: Case, _: Person) -> Answer:
    with case.other.container.database.read() as connection:
        rows = connection.execute(select(account_links)).all()
    return answer_of(None if rows else "error.not-found")


def make_upload(case: Case) -> None:
    headers = creation_headers(len(CONTENT), filename="a.bin")
    reply = case.api.post(f"{case.tenant}/uploads", by=case.user, headers=headers)
    assert reply.status_code == 201, reply.text
    case.secrets["upload"] = "/api" + reply.headers["Location"].partition("/api")[2]


def use_upload(case: Case, by: Person) -> Answer:
    return case.other.request("HEAD", case.secrets["upload"], by=by, headers=TUS)


def make_lock(case: Case) -> None:
    file = case.api.upload(case.tenant, case.user, "locked", CONTENT)["id"]
    case.secrets["locked"] = f"{case.tenant}/files/{file}"
    reply = case.api.post(f"{case.secrets['locked']}/locks", {}, by=case.user)
    assert reply.status_code == 201, reply.text


def use_lock(case: Case, by: Person) -> Answer:
    return case.other.patch(case.secrets["locked"], {"name": str(uuid4())}, by=case.owner)


def make_direct_upload(case: Case) -> None:
    checksum = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
    body = {"name": "direct.bin", "size": len(CONTENT), "checksum": checksum}
    reply = case.api.post(f"{case.tenant}/direct-uploads", body, by=case.user)
    assert reply.status_code == 201, reply.text
    case.secrets["direct"] = reply.json["uploadId"]


def use_direct_upload(case: Case, by: Person) -> Answer:
    path = f"{case.tenant}/direct-uploads/{case.secrets['direct']}/complete"
    return case.other.post(path, {}, by=by)


def make_bundle(case: Case) -> None:
    file = case.api.upload(case.tenant, case.user, "a.txt", CONTENT)["id"]
    reply = case.api.post(f"{case.tenant}/multi-files-download", {"fileIds": [file]}, by=case.user)
    assert reply.status_code == 200, reply.text
    case.secrets["bundle"] = reply.headers["Content-Location"]


def use_bundle(case: Case, by: Person) -> Answer:
    return case.other.get(case.secrets["bundle"], by=by)


@dataclass(frozen=True)
class Secret:
    """A kind of secrets.

    Args:
        good: the status or the error code while it is valid.
        ended: the status once it has ended, for the user with a new login.
        tables: the tables that store it.
        is_of_tenant: whether it ends with the membership of its tenant.
    """

    make: Callable[[Case], None]
    use: Use
    good: int | str
    ended: int
    tables: tuple[str, ...] = ()
    is_of_tenant: bool = False


def nothing(_: Case) -> None:
    """Make nothing: the secret is made with another one."""


SECRETS = {
    "access token": Secret(make_tokens, use_access_token, 200, 401, ("authorizations",)),
    "refresh token": Secret(nothing, use_refresh_token, 200, 401, ("refresh_tokens",)),
    "access key": Secret(make_keys, use_key, 200, 401, ("access_keys",)),
    "key of the tenant": Secret(nothing, use_tenant_key, 200, 401, (), is_of_tenant=True),
    "impersonation": Secret(make_impersonation, use_impersonation, 200, 401),
    "enrolment": Secret(
        make_enrolment, use_enrolment, "error.factor-invalid", 401, ("factor_challenges",)
    ),
    "state of OAuth": Secret(make_state, use_state, 200, 400, ("browser_states",)),
    "password link": Secret(make_link, use_link, 200, 400, ("account_links",)),
    "contact link": Secret(make_contact_link, use_contact_link, 200, 400, ("contact_links",)),
    "lock": Secret(make_lock, use_lock, "error.file-locked", 200, ("node_locks",), is_of_tenant=True),
    "resumable upload": Secret(make_upload, use_upload, 200, 404, ("uploads",), is_of_tenant=True),
    "direct upload": Secret(
        make_direct_upload,
        use_direct_upload,
        "error.upload-incomplete",
        404,
        ("direct_uploads",),
        is_of_tenant=True,
    ),
    "bundle": Secret(make_bundle, use_bundle, 200, 404, ("bundles",), is_of_tenant=True),
    # Last, because its use ends the logins.
    "verification code": Secret(make_code, use_code, 200, 400, ("verification_codes",)),
}

UNTOUCHED = {
    "audit_events": "the hash links records",
    "unsealed_audit_events": "records of the next moment",
    "file_events": "history",
    "group_members": "rights, not secrets; a deletion of the membership removes them",
    "grants": "likewise",
    "tenant_members": "re-activation restores membership; removed by a removal",
    "provisioned_users": "what a directory says of the user; removed by a deletion",
    "due_handovers": "the files of a leaver that are transferred later",
    "service_accounts": "names the tenant that manages the account",
    "server_accounts": "likewise, of the server; removed by a deletion",
    "invitations": "the secret is of the invited person",
    "setup_links": "before the first user exists",
    "user_import_keys": "keyed hashes of names, to find duplicates in an import",
    "credentials": "no login while suspended; released by a deletion",
    "passwords": "likewise",
    "second_factors": "needed again at the next login",
    "factor_grace": "the beginning of a period, so that it is not granted twice",
    "plugin_values": "data about the user; erased by a deletion",
    "user_metadata": "likewise",
    "consents": "likewise",
    "business_files": "files stay with the server",
    "nodes": "files stay with their tenant",
    "share_links_links": "closed while its maker cannot act; open again afterwards",
    "share_links_people": "of the share",
    "share_links_openings": "likewise",
    "share_links_downloads": "likewise",
    "share_links_uploads": "likewise",
    "webhooks_endpoints": "disabled while its owner cannot act",
    "login_pages_codes": "in the tests of the plugin",
    "oidc_provider_codes": "likewise",
    "oidc_provider_consents": "likewise",
    "oidc_provider_devices": "likewise",
    "oidc_provider_logins": "likewise",
    "oidc_provider_logouts": "likewise",
    "oidc_provider_pushed": "has no user",
    "idempotency_keys": "in test_idempotency.py",
}
"""Tables with users or hashes that no deactivation changes, with the reason."""


def suspend(case: Case) -> Answer:
    return case.api.post(f"/users/{case.user.id}/suspension", by=case.root)


def reinstate(case: Case) -> Answer:
    return case.api.delete(f"/users/{case.user.id}/suspension", by=case.root)


def set_suspended(case: Case) -> Answer:
    return case.api.patch(f"/users/{case.user.id}", {"status": "suspended"}, by=case.root)


def set_active(case: Case) -> Answer:
    return case.api.patch(f"/users/{case.user.id}", {"status": "active"}, by=case.root)


def import_as_suspended(case: Case) -> Answer:
    import_users(case.api.container, [{"email": case.user.email, "status": "suspended"}], "update")
    return case.api.get(f"/users/{case.user.id}", by=case.root)


def promote(case: Case) -> Answer:
    return case.api.patch(f"/users/{case.user.id}", {"type": "ADMIN"}, by=case.root)


def delete(case: Case) -> Answer:
    return case.api.delete(f"/users/{case.user.id}", by=case.root)


def delete_oneself(case: Case) -> Answer:
    return case.api.delete("/users/me", by=case.user)


PATHS: dict[str, tuple[Callable[[Case], Answer], Callable[[Case], Answer] | None]] = {
    "suspension": (suspend, reinstate),
    "status": (set_suspended, set_active),
    "import": (import_as_suspended, reinstate),
    "type": (promote, None),
    "deletion": (delete, None),
    "own deletion": (delete_oneself, None),
}
"""The changes that end everything, and those that let the user act again."""


@pytest.fixture
def case(api: Api, config: Path) -> Iterator[Case]:
    root, owner, user = api.person(admin=True), api.person(), api.person()
    tenant = api.tenant(owner)
    api.join(tenant, owner, user)
    with Api.running(config, api.clock) as other:
        case = Case(api, other, root, owner, user, tenant)
        for secret in SECRETS.values():
            secret.make(case)
        yield case


def outcome(answer: Answer) -> int | str:
    return answer.status_code if answer.status_code < 400 else error_code(answer)


def assert_good(case: Case, *names: str) -> None:
    for name in names:
        assert outcome(SECRETS[name].use(case, case.user)) == SECRETS[name].good, name


UNUSED = [name for name in SECRETS if name != "verification code"]


@pytest.mark.parametrize("path", PATHS)
def test_each_secret_of_before_is_refused_at_once_on_the_other_node(case: Case, path: str) -> None:
    assert_good(case, *UNUSED)
    end, _ = PATHS[path]
    assert end(case).status_code == 200
    for name, secret in SECRETS.items():
        answer = secret.use(case, case.user)
        # With the access token of before, whatever else is presented.
        assert answer.status_code in (401, secret.ended), (name, answer.text)


@pytest.mark.parametrize("path", ["suspension", "status", "import", "type"])
def test_no_secret_of_before_lives_again(case: Case, path: str) -> None:
    end, restore = PATHS[path]
    assert end(case).status_code == 200
    assert restore is None or restore(case).status_code == 200
    again = case.again()
    assert case.other.get(f"{case.tenant}/owners/me/files", by=again).status_code == 200
    for name, secret in SECRETS.items():
        answer = secret.use(case, again)
        assert answer.status_code == secret.ended, (name, answer.text)


def test_a_removed_member_loses_what_concerns_the_tenant_and_nothing_else(case: Case) -> None:
    assert_good(case, *UNUSED)
    member = f"{case.tenant}/members/{case.user.id}"
    assert case.api.delete(member, by=case.owner).status_code == 200
    ended = {name: secret for name, secret in SECRETS.items() if secret.is_of_tenant}
    for name, secret in ended.items():
        assert secret.use(case, case.user).status_code in (401, 403, 404, secret.ended), name
    case.api.join(case.tenant, case.owner, case.user)
    for name, secret in ended.items():
        assert secret.use(case, case.user).status_code == secret.ended, name
    kept = [name for name in SECRETS if name not in ended and name != "state of OAuth"]
    assert_good(case, *kept)


class _Body:
    """A body during whose arrival something happens."""

    def __init__(self, content: bytes, meanwhile: Callable[[], object]) -> None:
        self._content = io.BytesIO(content)
        self._meanwhile = meanwhile

    def read(self, size: int = -1, /) -> bytes:
        meanwhile, self._meanwhile = self._meanwhile, lambda: None
        meanwhile()
        return self._content.read(size)


def test_a_request_that_writes_to_an_upload_is_refused(case: Case) -> None:
    body = _Body(CONTENT, partial(suspend, case))
    headers = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    environ = {"wsgi.input": body, "CONTENT_LENGTH": str(len(CONTENT))}
    reply = case.other.request(
        "PATCH", case.secrets["upload"], by=case.user, headers=headers, environ_overrides=environ
    )
    assert (reply.status_code, error_code(reply)) == (423, "error.upload-locked"), reply.text
    names = _files(case, case.owner).json["data"]
    assert "a.bin" not in [node["name"] for node in names]


@pytest.mark.parametrize("kind", ["file", "ranges", "bundle"])
def test_a_download_that_has_begun_ends(case: Case, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "WATCH_SECONDS", 0)
    content = os.urandom(4 * 1024 * 1024)
    file = case.api.upload(case.tenant, case.user, "large.bin", content)["id"]
    path, headers = f"{case.tenant}/files/{file}/download", {}
    if kind == "bundle":
        body = {"fileIds": [file]}
        reply = case.api.post(f"{case.tenant}/multi-files-download", body, by=case.user)
        path = reply.headers["Content-Location"]
    elif kind == "ranges":
        headers["Range"] = "bytes=0-9,20-4000000"
    headers["Authorization"] = f"Bearer {case.user.token}"
    download = case.other.app.test_client().get(path, headers=headers)
    assert download.status_code in (200, 206)
    chunks = download.iter_encoded()
    received = len(next(chunks))
    assert suspend(case).status_code == 200
    received += sum(map(len, chunks))
    download.close()
    assert received < int(download.headers["Content-Length"]) // 2


def test_each_table_with_users_or_hashes_is_in_one_of_the_tables() -> None:
    import_models()
    tables = {
        table.name: table
        for part in (metadata, login_pages, oidc_provider, share_links, webhooks)
        for table in part.sorted_tables
    }
    concerned = {
        name
        for name, table in tables.items()
        if any(
            column.name in ("user_id", "actor_id", "owner_id", "maker_id") or "hash" in column.name
            for column in table.columns
        )
    }
    ended = {name for secret in SECRETS.values() for name in secret.tables}
    assert ended & UNTOUCHED.keys() == set()
    assert concerned - ended - UNTOUCHED.keys() == set()
    assert (ended | UNTOUCHED.keys()) - tables.keys() == set()
