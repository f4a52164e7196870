"""Shares that were closed stay closed until their maker or an administrator opens them."""

from collections.abc import Callable

import pytest
from tests.support.api import Api
from tests.support.shares import ALL_KINDS, PLUGINS, Shared, Visitor

from strongroom.content.tenants.tenant_deletions import TenantDeletion
from strongroom.foundation.caller import Origin
from strongroom_share_links.service import DELETED, Shares

pytestmark = pytest.mark.config(
    {"plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}}},
)

Step = Callable[[Shared], None]


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


def trash(shared: Shared) -> None:
    assert (
        shared.api.delete(f"{shared.tenant}/files/{shared.inside}", by=shared.admin).status_code == 200
    )


def untrash(shared: Shared) -> None:
    path = f"{shared.tenant}/trash/{shared.inside}/restore"
    assert shared.api.post(path, {}, by=shared.admin).status_code == 200


def delete_tenant(shared: Shared) -> None:
    assert shared.api.delete(shared.tenant, by=shared.admin).status_code == 200
    deliver(shared)


def deliver(shared: Shared) -> None:
    """Deliver the events of deleted tenants, as the server does in the background."""
    for event in shared.host.events.read("server", 0, 1000):
        if event.type == DELETED:
            shared.host.get_service(Shares).close_tenant(event)


def restore_tenant(shared: Shared) -> None:
    service = shared.api.container.get(TenantDeletion)
    service.restore(shared.tenant.rpartition("/")[2], Origin())


def leave(shared: Shared) -> None:
    path = f"{shared.tenant}/members/{shared.maker.id}"
    assert shared.api.delete(path, by=shared.admin).status_code == 200


def come_back(shared: Shared) -> None:
    shared.api.join(shared.tenant, shared.admin, shared.maker)
    shared.grant("manage")


def suspend(shared: Shared) -> None:
    path = f"/users/{shared.maker.id}/suspension"
    assert shared.api.post(path, by=shared.api.person(admin=True)).status_code == 200


def reinstate(shared: Shared) -> None:
    path = f"/users/{shared.maker.id}/suspension"
    assert shared.api.delete(path, by=shared.api.person(admin=True)).status_code == 200


ROWS: dict[str, tuple[Step, Step, str]] = {
    "trash": (trash, untrash, "closed"),
    "tenant": (delete_tenant, restore_tenant, "closed"),
    "maker-left": (leave, come_back, "closed"),
    # A suspension is no leaving: the share is open again when it ends.
    "maker-suspended": (suspend, reinstate, "active"),
}


def is_open(visitor: Visitor) -> bool:
    return visitor.get().status_code == 200


@pytest.mark.parametrize("kind", ["read", "drop"])
@pytest.mark.parametrize("name", ROWS)
def test_a_share_that_was_closed_stays_closed_until_it_is_opened(
    shared: Shared, name: str, kind: str
) -> None:
    close, undo, state = ROWS[name]
    visitor = shared.share(shared.inside, kind)
    close(shared)
    assert not is_open(visitor)
    undo(shared)
    assert shared.state(visitor.share) == state
    assert is_open(visitor) == (state == "active")
    shared.api.clock.advance(1)
    opened = shared.change(visitor.share, by=shared.admin, closed=False)
    assert (opened.status_code, opened.json["state"]) == (200, "active")
    deliver(shared)
    assert is_open(visitor)


@pytest.mark.parametrize("kind", ["read", "drop"])
def test_a_share_of_a_deleted_maker_is_never_open_again(shared: Shared, kind: str) -> None:
    visitor = shared.share(shared.inside, kind)
    assert shared.api.delete("/users/me", by=shared.maker).status_code == 200
    assert shared.state(visitor.share) == "maker-gone"
    shared.change(visitor.share, by=shared.admin, closed=False)
    assert not is_open(visitor)
