"""A plugin uses a user's rights within limits, by ``host.acting_for``."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest
from tests.support.api import Api, Person

from strongroom.plugin_api.files import Delegation, Level
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError


@dataclass
class Lent:
    """A tenant with a maker who manages the folder ``shared``, and a delegation of it."""

    api: Api
    host: HostAPI
    admin: Person
    maker: Person
    path: str
    shared: str
    inside: str
    file: str
    outside: str
    delegation: Delegation

    @property
    def tenant(self) -> str:
        return self.path.rpartition("/")[2]

    def limited(self, permission: Level) -> Delegation:
        return replace(self.delegation, permission=permission)

    def grant(self, node: str, level: str | None) -> None:
        url = f"{self.path}/files/{node}/owners"
        if level is None:
            reply = self.api.delete(f"{url}/{self.maker.id}", by=self.admin)
        else:
            reply = self.api.post(url, {"ownerId": self.maker.id, "permission": level}, by=self.admin)
        assert reply.status_code in (200, 201), reply.text


@pytest.fixture
def lent(api: Api) -> Lent:
    host: HostAPI = api.container.hosts.get("storage_local")
    admin, maker = api.person(), api.person()
    path = api.tenant(admin)
    tenant = path.rpartition("/")[2]
    api.join(path, admin, maker)
    with host.acting_as(admin.id):
        outer = host.files.create_folder(tenant, None, "Outer")
        shared = host.files.create_folder(tenant, outer.id, "Shared")
        inside = host.files.create_folder(tenant, shared.id, "Inside")
        file = host.files.upload(tenant, inside.id, "a.txt", io.BytesIO(b"inside"))
        outside = host.files.upload(tenant, outer.id, "b.txt", io.BytesIO(b"outside"))
    for node in (shared, outside):
        grant = {"ownerId": maker.id, "permission": "manage"}
        assert api.post(f"{path}/files/{node.id}/owners", grant, by=admin).status_code == 201
    delegation = Delegation(maker.id, tenant, shared.id, "read")
    ids = (shared.id, inside.id, file.id, outside.id)
    return Lent(api, host, admin, maker, path, *ids, delegation)


@contextmanager
def refused(code: str) -> Iterator[None]:
    with pytest.raises(ApiError) as raised:
        yield
    assert raised.value.code == f"error.{code}"


def test_it_reaches_the_folder_with_everything_in_it(lent: Lent) -> None:
    files = lent.host.files
    with lent.host.acting_for(lent.delegation):
        assert files.stat(lent.tenant, lent.shared).permission == "read"
        assert files.stat(lent.tenant, lent.file).permission == "read"
        assert [item.id for item in files.list(lent.tenant, lent.shared).items] == [lent.inside]
        with refused("forbidden"):
            files.stat(lent.tenant, lent.outside)
        with refused("forbidden"):
            files.list(lent.tenant, files.stat(lent.tenant, lent.shared).parent_id)
        assert [item.id for item in files.list(lent.tenant, None).items] == [lent.shared]
        with refused("insufficient-scope"):
            lent.host.tenants.usage(lent.tenant)


def test_its_permission_is_a_ceiling(lent: Lent) -> None:
    files = lent.host.files
    with lent.host.acting_for(lent.delegation), refused("insufficient-scope"):
        files.upload(lent.tenant, lent.shared, "x", io.BytesIO(b"x"))
    with lent.host.acting_for(lent.limited("write")):
        made = files.upload(lent.tenant, lent.inside, "x", io.BytesIO(b"x"))
        assert (made.owner_id, made.permission) == (lent.maker.id, "write")
        with refused("insufficient-scope"):
            files.delete(lent.tenant, made.id)
        with refused("forbidden"):
            files.upload(lent.tenant, None, "x", io.BytesIO(b"x"))


def test_a_file_moved_out_of_the_folder_is_out_of_reach(lent: Lent) -> None:
    with lent.host.acting_as(lent.admin.id):
        lent.host.files.move(lent.tenant, lent.inside, None)
    with lent.host.acting_for(lent.delegation), refused("forbidden"):
        lent.host.files.stat(lent.tenant, lent.file)


@pytest.mark.parametrize("level", ["read", "write", None])
def test_it_ends_when_the_user_no_longer_holds_what_it_requires(lent: Lent, level: str | None) -> None:
    lent.grant(lent.shared, level)
    # A permission on a node below is not enough.
    lent.grant(lent.file, "manage")
    with lent.host.acting_for(lent.delegation):
        for node in (lent.shared, lent.inside, lent.file):
            with refused("forbidden"):
                lent.host.files.stat(lent.tenant, node)
    if level is not None:
        with lent.host.acting_for(replace(lent.delegation, required=level)):  # type: ignore[arg-type]
            assert lent.host.files.stat(lent.tenant, lent.file).permission == "read"


def test_it_ends_with_the_user_and_the_membership(lent: Lent) -> None:
    api, root = lent.api, lent.api.person(admin=True)
    suspension = f"/users/{lent.maker.id}/suspension"
    assert api.post(suspension, by=root).status_code == 200
    with lent.host.acting_for(lent.delegation), refused("user-suspended"):
        lent.host.files.stat(lent.tenant, lent.shared)
    assert api.delete(suspension, by=root).status_code == 200
    api.delete(f"{lent.path}/members/{lent.maker.id}", by=lent.admin)
    with lent.host.acting_for(lent.delegation), refused("forbidden"):
        lent.host.files.stat(lent.tenant, lent.shared)


def test_it_ends_with_its_tenant(lent: Lent) -> None:
    other = lent.api.tenant(lent.maker).rpartition("/")[2]
    with lent.host.acting_for(lent.delegation), refused("forbidden"):
        lent.host.files.list(other, None)
    with lent.host.acting_for(replace(lent.delegation, tenant_id=other)), refused("not-found"):
        lent.host.files.stat(other, lent.shared)


def test_an_administrators_delegation_is_limited_as_well(lent: Lent) -> None:
    with lent.host.acting_for(replace(lent.delegation, user_id=lent.admin.id)):
        assert lent.host.files.stat(lent.tenant, lent.file).permission == "read"
        with refused("forbidden"):
            lent.host.files.stat(lent.tenant, lent.outside)


def test_it_creates_only_accepted_types(lent: Lent) -> None:
    pictures = replace(lent.limited("write"), content_types=("image/*",))
    with lent.host.acting_for(pictures):
        with refused("unsupported-media-type"):
            lent.host.files.upload(lent.tenant, lent.shared, "a.png", io.BytesIO(b"no picture"))
        png = b"\x89PNG\r\n\x1a\n" + bytes(20)
        assert lent.host.files.upload(lent.tenant, lent.shared, "a.png", io.BytesIO(png)).size == 28


def test_its_tenure_ends_with_the_request(lent: Lent) -> None:
    managing = replace(lent.limited("manage"), user_id=lent.admin.id)
    with lent.host.acting_for(managing):
        assert lent.host.files.tenure(lent.tenant, lent.shared).expires_at == 0
