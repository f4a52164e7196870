"""Copies, search, trash, versions, permissions and share links as methods of the client."""

import pytest

from strongroom.testing.server import LiveUser
from strongroom_client import Client, errors_by_code
from strongroom_client.api import files, groups, tenants
from strongroom_client.models import NewGrant, NewGroup, NewGroupGrant, NewShare, Role, ShareChanges


def test_a_file_is_copied(client: Client, tenant_id: str) -> None:
    note = client.upload(tenant_id, b"one", name="note.txt")
    folder = client.create_folder(tenant_id, "copies")
    copy = client.copy(tenant_id, note.id, folder.id)
    assert (copy.name, copy.parent_id, copy.checksum) == ("note.txt", folder.id, note.checksum)
    with pytest.raises(errors_by_code.NameConflict):
        client.copy(tenant_id, note.id, folder.id)
    named = client.copy(tenant_id, note.id, None, "other.txt")
    assert (named.name, named.parent_id) == ("other.txt", None)
    assert client.copy(tenant_id, note.id, None, on_conflict="rename").name != "note.txt"


def test_files_are_found_by_a_part_of_their_name(client: Client, tenant_id: str) -> None:
    folder = client.create_folder(tenant_id, "Report folder")
    client.upload(tenant_id, b"x", name="report.txt")
    client.upload(tenant_id, b"12345", name="old report.txt", parent_id=folder.id)
    client.upload(tenant_id, b"x", name="note.txt")
    search = client.search
    assert {node.name for node in search(tenant_id, "REPORT")} == {
        "Report folder",
        "report.txt",
        "old report.txt",
    }
    assert [node.name for node in search(tenant_id, "report", type_="folder")] == ["Report folder"]
    assert [node.name for node in search(tenant_id, "r", folder_id=folder.id)] == ["old report.txt"]
    assert [node.name for node in search(tenant_id, "report", min_size=5)] == ["old report.txt"]
    assert list(search(tenant_id, "missing")) == []


def test_a_list_is_whole_while_its_records_are_removed(client: Client, tenant_id: str) -> None:
    expected = {client.create_folder(tenant_id, f"folder {number}").id for number in range(5)}
    seen = []
    for node in client.iterate(files.list_files(tenant_id, "me", page_size=2)):
        client.delete(tenant_id, node.id)
        seen.append(node.id)
    assert sorted(seen) == sorted(expected)


def test_a_list_is_read_from_a_page(client: Client, tenant_id: str) -> None:
    for number in range(5):
        client.create_folder(tenant_id, f"folder {number}")
    listing = files.list_files(tenant_id, "me", page_size=2, page_number=2)
    assert [node.name[-1] for node in client.iterate(listing)] == ["2", "3", "4"]


def test_deleted_files_are_restored_or_removed(client: Client, tenant_id: str) -> None:
    folder = client.create_folder(tenant_id, "folder")
    note = client.upload(tenant_id, b"one", name="note.txt", parent_id=folder.id)
    client.delete(tenant_id, note.id)
    assert [item.id for item in client.trash.iterate(tenant_id)] == [note.id]
    assert client.trash.restore(tenant_id, note.id).parent_id == folder.id
    client.delete(tenant_id, note.id)
    client.upload(tenant_id, b"two", name="note.txt", parent_id=folder.id)
    with pytest.raises(errors_by_code.NameConflict):
        client.trash.restore(tenant_id, note.id)
    assert client.trash.restore(tenant_id, note.id, parent_id=None).parent_id is None
    client.delete(tenant_id, note.id)
    client.trash.delete(tenant_id, note.id)
    client.delete(tenant_id, folder.id)
    client.trash.empty(tenant_id)
    assert list(client.trash.iterate(tenant_id)) == []


def test_earlier_contents_are_read_and_restored(client: Client, tenant_id: str) -> None:
    note = client.upload(tenant_id, b"one", name="note.txt")
    client.upload(tenant_id, b"two", name="note.txt", on_conflict="replace")
    versions = client.versions
    (first,) = versions.iterate(tenant_id, note.id)
    assert b"".join(versions.stream(tenant_id, note.id, first.number)) == b"one"
    changed = versions.change(tenant_id, note.id, first.number, label="draft", keep=True)
    assert (changed.label, changed.keep) == ("draft", True)
    versions.restore(tenant_id, note.id, first.number)
    assert b"".join(client.stream(tenant_id, note.id)) == b"one"
    assert len(list(versions.iterate(tenant_id, note.id))) == 2
    versions.delete(tenant_id, note.id, first.number)
    assert first.number not in {each.number for each in versions.iterate(tenant_id, note.id)}


def test_files_are_shared_by_links(client: Client, tenant_id: str) -> None:
    note, other = (client.upload(tenant_id, b"x", name=name) for name in ("note.txt", "other.txt"))
    shares = client.shares
    made = shares.create(tenant_id, note.id, NewShare(kind="read", label="For Ben"))
    assert made.url
    assert [share.id for share in shares.iterate(tenant_id)] == [made.id]
    assert [share.id for share in shares.iterate(tenant_id, note.id)] == [made.id]
    assert list(shares.iterate(tenant_id, other.id)) == []
    assert shares.change(tenant_id, made.id, ShareChanges(label="For Anna")).label == "For Anna"
    assert shares.get(tenant_id, made.id).label == "For Anna"
    assert list(shares.with_me()) == []
    shares.delete(tenant_id, made.id)
    assert list(shares.iterate(tenant_id)) == []


def test_members_and_groups_get_permissions(
    administrator: Client, alice: LiveUser, client: Client
) -> None:
    tenant_id = administrator.create_tenant("Acme").id
    folder = administrator.create_folder(tenant_id, "folder")
    administrator.send(tenants.put_member(tenant_id, alice.id, body=Role(role="member")))
    group = administrator.send(groups.create_group(tenant_id, body=NewGroup(name="Editors")))
    administrator.send(groups.put_group_member(tenant_id, group.id, alice.id))
    grants = administrator.grants

    def held() -> list[tuple[str | None, str]]:
        """Return the grants that alice's permission comes from."""
        reasons = grants.explain(tenant_id, folder.id, alice.id).grants
        return [(reason.group_id, reason.permission) for reason in reasons]

    assert grants.explain(tenant_id, folder.id).permission == "manage"
    grants.set(tenant_id, folder.id, NewGrant(owner_id=alice.id, permission="read"))
    grants.set(tenant_id, folder.id, NewGrant(owner_id=alice.id, permission="write"))
    members = {grant.owner_id: grant.permission for grant in grants.iterate(tenant_id, folder.id)}
    assert members[alice.id] == "write"
    assert held() == [(None, "write")]
    grants.set_group(tenant_id, folder.id, NewGroupGrant(group_id=group.id, permission="manage"))
    assert [grant.group_name for grant in grants.iterate_groups(tenant_id, folder.id)] == ["Editors"]
    assert sorted(held(), key=str) == sorted([(None, "write"), (group.id, "manage")], key=str)
    grants.revoke(tenant_id, folder.id, alice.id)
    assert grants.explain(tenant_id, folder.id, alice.id).permission == "manage"
    grants.revoke_group(tenant_id, folder.id, group.id)
    assert list(grants.iterate_groups(tenant_id, folder.id)) == []
    assert grants.explain(tenant_id, folder.id, alice.id).grants == []
