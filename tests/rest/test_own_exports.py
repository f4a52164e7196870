"""Exports of one's own data: what is in the archive, what is not, and who gets it."""

import io
import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from zipfile import ZipFile

import pytest
from tests.support.api import PASSWORD, Answer, Api, Person, error_code

from strongroom.clock import iso_format
from strongroom.extensions.own_data.own_exports import OwnExports
from strongroom.plugin_api.exports import UserExport
from strongroom.testing.clock import HOUR, MINUTE

DAY = 24 * HOUR
FILES = {
    "README.txt",
    "access-keys.json",
    "audit-events.json",
    "business-files.json",
    "consents.json",
    "contacts.json",
    "file-attributes.json",
    "files.json",
    "groups.json",
    "invitations.json",
    "logins.json",
    "memberships.json",
    "metadata.json",
    "profile.json",
    "second-factors.json",
    "sent-invitations.json",
}


def export(api: Api, person: Person, **options: Any) -> Answer:
    return api.post("/users/me/exports", by=person, **options)


def archive_of(reply: Answer) -> ZipFile:
    assert reply.status_code == 200, reply.text
    assert reply.headers["Content-Type"] == "application/zip"
    assert int(reply.headers["Content-Length"]) == len(reply.data)
    archive = ZipFile(io.BytesIO(reply.data))
    assert archive.testzip() is None
    return archive


def rows(archive: ZipFile, name: str) -> Any:
    return json.loads(archive.read(f"{name}.json"))


def export_too(api: Api, added: UserExport) -> None:
    """Let archives have a further file."""
    container = api.container
    container.get(OwnExports).write_by([*container.registry.user_exports, added])


@pytest.mark.config({"plugins": {"enabled": ["storage_local", "factor_totp"]}})
def test_the_archive_has_the_data_of_its_user_and_of_no_other(api: Api) -> None:
    person, other = api.person(name="Alice"), api.person(name="Bob", email="bob@example.com")
    tenant = api.tenant(person, "Acme")
    api.join(tenant, person, other)
    api.upload(tenant, person, "note.txt", b"the content of a note")
    api.upload(tenant, other, "secret-of-bob.txt", b"x")
    group = api.post(f"{tenant}/groups", {"name": "Team"}, by=person).json
    api.put(f"{tenant}/groups/{group['id']}/members/{person.id}", {}, by=person)
    api.patch("/users/me/metadata", {"colour": "red"}, by=person)
    key = api.post("/users/me/access-keys", {"name": "laptop", "scopes": ["files:read"]}, by=person).json
    foreign = api.tenant(other, "Elsewhere")
    api.post(f"{foreign}/invitations", {"email": person.email, "role": "member"}, by=other)
    api.post(f"{tenant}/invitations", {"email": "new@example.com", "role": "member"}, by=person)
    factor = api.post("/users/me/factors", {"kind": "totp"}, by=person).json
    reply = export(api, person)
    archive = archive_of(reply)
    assert set(archive.namelist()) == FILES
    assert [item["name"] for item in rows(archive, "profile")] == ["Alice"]
    assert [item["value"] for item in rows(archive, "contacts")] == [person.email]
    assert rows(archive, "metadata") == [{"colour": "red"}]
    assert [item["method"] for item in rows(archive, "logins")] == ["password"]
    assert [item["name"] for item in rows(archive, "access-keys")] == ["laptop"]
    assert [item["tenantName"] for item in rows(archive, "memberships")] == ["Acme"]
    assert [item["name"] for item in rows(archive, "groups")] == ["Team"]
    assert [item["tenantName"] for item in rows(archive, "invitations")] == ["Elsewhere"]
    assert [item["recipient"] for item in rows(archive, "sent-invitations")] == ["new@example.com"]
    (file,) = rows(archive, "files")
    assert (file["name"], file["size"], file["inTrash"]) == ("note.txt", 21, False)
    actions = [item["action"] for item in rows(archive, "audit-events")]
    assert "tenant.create" in actions
    assert actions[-1] == "user.export"
    assert rows(archive, "profile")[0]["createdAt"].endswith("Z")
    # Bob invited Alice, so the server has the address, but not for Alice's archive.
    texts = b"".join(archive.read(name) for name in FILES).decode()
    secrets = (PASSWORD, key["key"], factor["shown"]["secret"], "$2b$", "bob", "content of a note")
    assert [secret for secret in secrets if secret in texts] == []


def test_invitations_to_an_unproven_contact_are_left_out(api: Api) -> None:
    admin, person = api.person(admin=True), api.person(email="own@example.com")
    body = {"value": "ceo@example.com", "verified": False}
    tenant = api.tenant(admin, "Merger")
    assert api.put(f"/users/{person.id}/contacts/email", body, by=admin).status_code == 200
    api.post(f"{tenant}/invitations", {"email": "ceo@example.com", "role": "member"}, by=admin)
    assert rows(archive_of(export(api, person)), "invitations") == []


def test_records_about_a_tenant_that_the_user_has_left_have_no_details(api: Api) -> None:
    """Also those of plugins, which do nothing for it but name the tenant."""
    owner, leaver = api.person(), api.person()
    left, kept = api.tenant(owner, "Left"), api.tenant(leaver, "Kept")
    api.join(left, owner, leaver)
    files = {tenant: api.upload(tenant, leaver, "plan.txt", b"x") for tenant in (left, kept)}

    def notes(_user_id: str) -> Iterator[dict[str, str]]:
        at = iso_format(api.clock.now())
        for tenant, file in files.items():
            tenant_id = tenant.rpartition("/")[2]
            yield {"id": file["id"], "tenantId": tenant_id, "createdAt": at, "text": "about plan.txt"}

    export_too(api, UserExport("acme-notes", "Notes", notes))
    assert api.delete(f"{left}/members/{leaver.id}", by=owner).status_code == 200
    renamed = api.patch(f"{left}/files/{files[left]['id']}", {"name": "merger.txt"}, by=owner)
    assert renamed.status_code == 200, renamed.text
    archive = archive_of(export(api, leaver))
    for name in ("files", "acme-notes"):
        records = {item["id"]: item for item in rows(archive, name)}
        outside, inside = (records[files[tenant]["id"]] for tenant in (left, kept))
        assert set(outside) == {"id", "tenantId", "createdAt"}
        assert outside["tenantId"] == left.rpartition("/")[2]
        assert "plan.txt" in str(inside)


def test_the_text_is_in_the_language_of_the_user(api: Api) -> None:
    person = api.person()
    english = archive_of(export(api, person)).read("README.txt").decode()
    assert english.startswith("What Strongroom stores about you\n")
    assert "\nlogins.json: Your logins, with devices and addresses\n" in english
    api.patch("/users/me", {"locale": "zh-CN"}, by=person)
    chinese = archive_of(export(api, person)).read("README.txt").decode()
    assert chinese.startswith("Strongroom 存储的您的数据\n")
    # Each line is translated: English words are names of files, of the product and of formats only.
    lines = [line.partition(": ")[2] or line for line in chinese.splitlines()[3:] if line]
    assert [line for line in lines if line.isascii()] == []


def test_an_old_login_needs_a_proof(api: Api) -> None:
    person = api.person()
    api.clock.advance(10 * MINUTE)
    refused = export(api, person)
    assert (refused.status_code, error_code(refused)) == (403, "error.fresh-proof-required")
    archive_of(export(api, person, headers={"X-Current-Password": PASSWORD}))


def test_no_one_exports_the_data_of_others(api: Api) -> None:
    person = api.person()
    for caller in (api.person(), api.person(admin=True)):
        assert api.post(f"/users/{person.id}/exports", by=caller).status_code == 403
    assert api.post("/users/me/exports").status_code == 401


def test_a_user_has_two_exports_a_day_and_each_is_audited(api: Api) -> None:
    person, other = api.person(), api.person()
    for _ in range(2):
        archive_of(export(api, person))
    refused = export(api, person)
    assert (refused.status_code, error_code(refused)) == (429, "error.too-many-requests")
    archive_of(export(api, other))
    admin = api.person(admin=True)
    events = api.get("/audit-events?action=user.export", by=admin).json["data"]
    assert sorted(item["target"]["id"] for item in events) == sorted([person.id, person.id, other.id])
    api.clock.advance(DAY)
    person = replace(person, token=api.log_in(person.email).json["accessToken"])
    archive_of(export(api, person))


def test_files_are_not_in_memory_as_a_whole(api: Api) -> None:
    count, text = 20_000, "x" * 1000

    def many(_user_id: str) -> Iterator[dict[str, str]]:
        return ({"text": text, "at": iso_format(number)} for number in range(count))

    export_too(api, UserExport("many", "Many", many))
    person = api.person()
    tracemalloc.start()
    try:
        reply = export(api, person)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(rows(archive_of(reply), "many")) == count
    # The records are 20 MB.
    assert peak < 5 * 1024 * 1024


def test_a_fault_while_the_archive_is_written_is_an_error_and_no_broken_archive(api: Api) -> None:
    def fail(_user_id: str) -> Iterator[dict[str, str]]:
        yield {"first": "record"}
        raise RuntimeError("the table is gone")

    export_too(api, UserExport("broken", "Broken", fail))
    reply = export(api, api.person())
    assert (reply.status_code, error_code(reply)) == (500, "error.internal")
