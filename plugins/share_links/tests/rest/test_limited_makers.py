"""What a limited caller lets others do ends with the limit.

A limit is the end of a grant, or an access key with its end and its folder; both may also be revoked
before. The table has each thing that lasts, and each limit; the other things are out of reach of keys.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from sqlalchemy import delete, select, update
from tests.support.api import PASSWORD, Answer, Api, Json, Person, creation_headers, error_code
from tests.support.shares import ALL_KINDS, PLUGINS, Shared, Visitor

from strongroom.clock import iso_format
from strongroom.content.nodes.events import file_events
from strongroom.testing.clock import HOUR, MINUTE
from strongroom_share_links import states
from strongroom_share_links.models import links
from strongroom_share_links.service import RESTORED, Shares

SCOPES = ["files:read", "files:write", "files:share"]
END = 30 * MINUTE
LOCK = "open sesame"


pytestmark = pytest.mark.config({"plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}}})


@dataclass
class Limited:
    """A caller whose rights end at a time, and how they are taken away before."""

    caller: Person
    ends_at: int
    revoke: Callable[[], Answer]


@dataclass
class Site(Shared):
    """A tenant in which the maker manages a folder permanently, and another member reads nothing."""

    friend: Person = field(kw_only=True)

    @classmethod
    def of(cls, api: Api) -> "Site":
        shared, friend = Shared.made(api), api.person()
        api.join(shared.tenant, shared.admin, friend)
        values = {name: getattr(shared, name) for name in Shared.__dataclass_fields__}
        return cls(**values, friend=friend)

    def granted(self) -> Limited:
        """A member who manages the folder for half an hour."""
        member, ends_at = self.api.person(), self.api.clock.now() + END
        self.api.join(self.tenant, self.admin, member)
        path = f"{self.tenant}/files/{self.folder}/owners"
        body = {"ownerId": member.id, "permission": "manage", "expiresAt": iso_format(ends_at)}
        assert self.api.post(path, body, by=self.admin).status_code == 201
        return Limited(member, ends_at, lambda: self.api.delete(f"{path}/{member.id}", by=self.admin))

    def key(self, by: Person | None = None, **limits: Any) -> Limited:
        """A program with a key of the maker that ends in half an hour."""
        ends_at, user = self.api.clock.now() + END, by or self.maker
        body: Json = {"name": "robot", "scopes": SCOPES, "currentPassword": PASSWORD, **limits}
        reply = self.api.post(
            "/users/me/access-keys", {**body, "expiresAt": iso_format(ends_at)}, by=user
        )
        assert reply.status_code == 201, reply.text
        path = reply.headers["Location"]
        return Limited(
            replace(user, token=reply.json["key"]),
            ends_at,
            lambda: self.api.delete(path, by=user),
        )

    def folder_key(self) -> Limited:
        """A program with a key of one folder."""
        return self.key(tenantId=self.tenant.rpartition("/")[2], fileId=self.folder)

    def url(self, share: Json, by: Person) -> Any:
        reply = self.api.get(f"{self.tenant}/shares/{share['id']}", by=by)
        assert reply.status_code == 200, reply.text
        return reply.json["url"]


@pytest.fixture
def site(api: Api) -> Site:
    return Site.of(api)


LIMITS = [Site.granted, Site.key, Site.folder_key]
KEYS = [Site.key, Site.folder_key]


def new_share(site: Site, by: Person) -> Visitor:
    reply = site.try_to_share(by=by)
    assert reply.status_code == 201, reply.text
    return Visitor(site.api, reply.json)


def loosened_share(site: Site, by: Person) -> Visitor:
    visitor = site.share(password=LOCK)
    # The maker's own share, so it is a change of the maker by a key.
    reply = site.change(visitor.share, by=by, password=None)
    assert reply.status_code == 200, reply.text
    return Visitor(site.api, {**reply.json, "url": visitor.share["url"]})


@pytest.mark.parametrize(
    ("limit", "make"),
    [
        (Site.granted, new_share),
        (Site.key, new_share),
        (Site.folder_key, new_share),
        (Site.key, loosened_share),
        (Site.folder_key, loosened_share),
    ],
)
@pytest.mark.parametrize("is_revoked", [False, True], ids=["end", "revoked"])
def test_a_share_of_a_limited_caller_ends_with_the_limit(
    site: Site,
    limit: Callable[[Site], Limited],
    make: Callable[[Site, Person], Visitor],
    is_revoked: bool,
) -> None:
    limited = limit(site)
    visitor = make(site, limited.caller)
    assert visitor.share["expiresAt"] == iso_format(limited.ends_at)
    assert visitor.get("/files").status_code == 200
    if is_revoked:
        assert limited.revoke().status_code == 200
        assert site.state(visitor.share) == "not-managed"
    else:
        site.api.clock.advance(END + 1)
    assert visitor.get("/files").status_code == 404
    assert visitor.get(f"/files/{site.file}/download").status_code == 404


@pytest.mark.parametrize("limit", LIMITS)
def test_no_share_is_made_for_longer_than_the_limit(
    site: Site, limit: Callable[[Site], Limited]
) -> None:
    limited = limit(site)
    later = iso_format(limited.ends_at + 1)
    refused = site.try_to_share(by=limited.caller, expiresAt=later)
    assert (refused.status_code, error_code(refused)) == (400, "error.share-policy")
    share = new_share(site, limited.caller).share
    assert site.change(share, by=limited.caller, expiresAt=later).status_code == 400


def test_a_share_that_its_maker_loosens_again_is_free_of_the_key(site: Site) -> None:
    limited = site.folder_key()
    visitor = new_share(site, limited.caller)
    later = iso_format(site.api.clock.now() + HOUR)
    assert site.change(visitor.share, expiresAt=later).json["expiresAt"] == later
    assert limited.revoke().status_code == 200
    assert visitor.get("/files").status_code == 200


def test_the_key_must_still_reach_the_shared_folder(site: Site) -> None:
    limited = site.key(tenantId=site.tenant.rpartition("/")[2], fileId=site.folder)
    reply = site.try_to_share(site.inside, by=limited.caller)
    visitor = Visitor(site.api, reply.json)
    assert visitor.get("/files").status_code == 200
    site.grant("manage", site.inside)
    with site.host.acting_as(site.admin.id):
        site.host.files.move(site.tenant.rpartition("/")[2], site.inside, None)
    assert visitor.get("/files").status_code == 404


LOOSER: list[Json] = [
    {"password": None},
    {"password": "another one"},
    {"maxDownloads": None},
    {"maxDownloads": 6},
    {"expiresAt": None},
    {"audience": "anyone"},
    {"audience": "logged-in"},
    {"audience": "members"},
    {"closed": False},
    {"notify": False},
    {"label": "Call 555-0100"},
]
TIGHTER: list[Json] = [
    {"maxDownloads": 4},
    {"expiresAt": "SOON"},
    {"closed": True},
]


def test_others_with_manage_tighten_and_close_a_share_but_do_not_loosen_it(site: Site) -> None:
    other = site.granted().caller
    soon = iso_format(site.api.clock.now() + HOUR)
    people = {"userIds": [site.friend.id, other.id]}
    visitor = site.share(password=LOCK, maxDownloads=5, audience=people, expiresAt=soon)
    more = {"userIds": [*people["userIds"], site.admin.id]}
    for body in (*LOOSER, {"audience": more}, {"maxDownloads": 4, "password": None}):
        reply = site.change(visitor.share, by=other, **body)
        assert (reply.status_code, error_code(reply)) == (403, "error.share-maker-only"), body
    before = site.api.get(f"{site.tenant}/shares/{visitor.share['id']}", by=site.maker).json
    assert before == {**visitor.share}
    sooner = iso_format(site.api.clock.now() + MINUTE)
    for body in ({"audience": {"userIds": [site.friend.id]}}, *TIGHTER):
        sent = {name: sooner if value == "SOON" else value for name, value in body.items()}
        assert site.change(visitor.share, by=other, **sent).status_code == 200, body
    assert site.state(visitor.share) == "closed"
    assert site.change(visitor.share, by=other, closed=False).status_code == 403
    assert site.change(visitor.share, closed=False).json["state"] == "active"
    assert site.api.delete(f"{site.tenant}/shares/{visitor.share['id']}", by=other).status_code == 200


def test_any_audience_narrows(site: Site) -> None:
    other = site.granted().caller
    named = {"userIds": [site.friend.id]}
    for first, second in (
        ("anyone", "logged-in"),
        ("anyone", "members"),
        ("anyone", named),
        ("logged-in", "members"),
        ("logged-in", named),
        ("members", "members"),
    ):
        visitor = site.share(audience=first)
        reply = site.change(visitor.share, by=other, audience=second)
        assert (reply.status_code, reply.json["audience"]) == (200, second)
    share = site.share(audience="members").share
    # Named users need not be members.
    assert site.change(share, by=other, audience=named).status_code == 403
    # Where there is no password, one may be set.
    assert site.change(share, by=other, password=LOCK).status_code == 200


def test_only_the_maker_and_administrators_read_the_url(site: Site) -> None:
    other, share = site.granted().caller, site.share().share
    of_file = f"{site.tenant}/files/{site.folder}/shares"
    for person, url in ((site.maker, share["url"]), (site.admin, share["url"]), (other, None)):
        assert site.url(share, person) == url
        assert [item["url"] for item in site.api.get(of_file, by=person).json["data"]] == [url]
    assert site.change(share, by=other, maxDownloads=1).json["url"] is None


@pytest.mark.parametrize("limit", KEYS)
def test_a_key_reads_the_urls_of_its_own_shares_only(
    site: Site, limit: Callable[[Site], Limited]
) -> None:
    limited, share = limit(site), site.share().share
    assert site.url(share, limited.caller) is None
    own = new_share(site, limited.caller).share
    assert site.url(own, limited.caller) == own["url"]
    assert site.url(own, site.maker) == own["url"]


def grant(site: Site, by: Person, **body: Any) -> Answer:
    path = f"{site.tenant}/files/{site.folder}/owners"
    return site.api.post(path, {"ownerId": site.friend.id, "permission": "read", **body}, by=by)


def group_grant(site: Site, by: Person, **body: Any) -> Answer:
    listed = site.api.get(f"{site.tenant}/groups", by=site.admin).json["data"]
    if not listed:
        made = site.api.post(f"{site.tenant}/groups", {"name": "Team"}, by=site.admin)
        listed = [made.json]
    path = f"{site.tenant}/files/{site.folder}/group-grants"
    return site.api.post(path, {"groupId": listed[0]["id"], "permission": "read", **body}, by=by)


@pytest.mark.parametrize("make", [grant, group_grant])
@pytest.mark.parametrize("limit", LIMITS)
def test_a_grant_of_a_limited_caller_ends_with_the_limit(
    site: Site, limit: Callable[[Site], Limited], make: Callable[..., Answer]
) -> None:
    limited = limit(site)
    later = iso_format(limited.ends_at + 1)
    assert make(site, limited.caller, expiresAt=later).status_code == 403
    at_end = make(site, limited.caller, expiresAt=iso_format(limited.ends_at))
    assert at_end.status_code == 201, at_end.text


@pytest.mark.parametrize("make", [grant, group_grant])
@pytest.mark.parametrize("limit", KEYS)
def test_a_grant_by_a_key_without_an_end_has_the_key_s(
    site: Site, limit: Callable[[Site], Limited], make: Callable[..., Answer]
) -> None:
    limited = limit(site)
    made = make(site, limited.caller)
    assert (made.status_code, made.json["expiresAt"]) == (201, iso_format(limited.ends_at))
    # A key shortens no grant that it only repeats, and lengthens none.
    assert make(site, site.maker).json["expiresAt"] is None
    assert make(site, limited.caller).json["expiresAt"] is None
    raised = make(site, limited.caller, permission="write")
    assert raised.json["expiresAt"] == iso_format(limited.ends_at)


def test_an_upload_by_a_key_does_not_outlast_it(site: Site) -> None:
    limited = site.folder_key()
    tenant = site.tenant
    headers = creation_headers(3, filename="a.txt", parentId=site.folder)
    begun = site.api.request("POST", f"{tenant}/uploads", by=limited.caller, headers=headers)
    assert begun.status_code == 201, begun.text
    assert limited.revoke().status_code == 200
    sent = site.api.request(
        "PATCH",
        begun.headers["Location"],
        by=limited.caller,
        headers={
            "Tus-Resumable": "1.0.0",
            "Upload-Offset": "0",
            "Content-Type": "application/offset+octet-stream",
        },
        data=b"abc",
    )
    assert sent.status_code == 401


BEYOND_KEYS: list[tuple[str, str, Json]] = [
    ("POST", "/users/me/access-keys", {"name": "x", "scopes": ["files:read"]}),
    ("POST", "{tenant}/invitations", {"email": "x@example.com", "role": "member"}),
    ("PUT", "{tenant}/members/{friend}", {"role": "admin"}),
    ("POST", "{tenant}/groups", {"name": "x"}),
    ("POST", "{tenant}/service-accounts", {"name": "x"}),
    ("POST", "{tenant}/members/{maker}/transfer", {"toUserId": "{friend}"}),
    ("PUT", "{tenant}/share-policy", {"enabled": True}),
]
"""Lasting things that no key makes, so that none outlasts a key."""


def test_other_lasting_things_are_out_of_reach_of_a_key(site: Site) -> None:
    robot = site.key(by=site.admin).caller
    names = {"tenant": site.tenant, "friend": site.friend.id, "maker": site.maker.id}
    for method, path, body in BEYOND_KEYS:
        sent = {name: str(value).format(**names) for name, value in body.items()}
        reply = site.api.request(method, path.format(**names), by=robot, json=sent)
        assert reply.status_code == 403, path
        assert error_code(reply) in ("error.key-not-accepted", "error.insufficient-scope"), path


def test_a_share_of_a_restored_file_stays_closed_until_its_maker_opens_it(site: Site) -> None:
    """The file may have been deleted with a folder around it."""
    visitor, other = site.share(site.inside), site.share(site.file)
    for deleted in (site.inside, site.folder):
        path = f"{site.tenant}/files/{deleted}"
        assert site.api.delete(path, by=site.admin).status_code == 200
        assert site.state(visitor.share) == "file-gone"
        restored = site.api.post(f"{site.tenant}/trash/{deleted}/restore", {}, by=site.admin)
        assert restored.status_code == 200, restored.text
        assert site.state(visitor.share) == "closed"
        assert visitor.get("/files").status_code == 404
        assert other.get("/files").status_code == (200 if deleted == site.inside else 404)
        opened = site.change(visitor.share, closed=False)
        assert (opened.json["state"], opened.json["closed"]) == ("active", False)
        assert visitor.get("/files").status_code == 200


def test_a_restored_share_stays_closed_when_its_events_are_deleted(site: Site) -> None:
    visitor, path = site.share(site.inside), f"{site.tenant}/files/{site.inside}"
    assert site.api.delete(path, by=site.admin).status_code == 200
    restored = site.api.post(f"{site.tenant}/trash/{site.inside}/restore", {}, by=site.admin)
    assert restored.status_code == 200
    tenant = site.tenant.rpartition("/")[2]
    event = site.host.events.read(tenant, 0, 1000)[-1]
    assert event.type == RESTORED
    site.host.get_service(Shares).close_restored(event)
    with site.api.container.database.write() as connection:
        connection.execute(delete(file_events).where(file_events.c.action == RESTORED))
    assert visitor.get("/files").status_code == 404


def test_shares_of_an_earlier_version_are_checked_from_the_next_pruning_on(site: Site) -> None:
    visitor, path = site.share(site.inside), f"{site.tenant}/files/{site.inside}"
    with site.host.database.write() as transaction:
        transaction.execute(update(links).values(checked_sequence=None))
    site.host.get_service(Shares).states.begin_checks()
    assert visitor.get("/files").status_code == 200
    assert site.api.delete(path, by=site.admin).status_code == 200
    assert (
        site.api.post(f"{site.tenant}/trash/{site.inside}/restore", {}, by=site.admin).status_code == 200
    )
    assert visitor.get("/files").status_code == 404


def test_a_share_remembers_how_far_the_changes_of_its_tenant_were_read(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "_CHANGES_AT_ONCE", 2)
    visitor, tenant = site.share(), site.tenant.rpartition("/")[2]
    for name in "ab":
        site.api.folder(site.tenant, site.maker, name, site.folder)
    assert visitor.get("/files").status_code == 200
    with site.host.database.read() as transaction:
        checked = transaction.scalar(select(links.c.checked_sequence))
    assert checked == site.host.events.newest(tenant)


def test_an_administrator_who_impersonates_the_maker_gets_no_url(api: Api) -> None:
    site, admin = Site.of(api), api.person(admin=True)
    body = {"reason": "Ticket", "minutes": 5}
    begun = api.post(f"/users/{site.maker.id}/impersonation", body, by=admin).json
    acting = replace(site.maker, token=begun["accessToken"])
    made = api.post(f"{site.tenant}/files/{site.folder}/shares", {"kind": "read"}, by=site.maker).json
    path = f"{site.tenant}/shares/{made['id']}"
    assert api.get(path, by=site.maker).json["url"] == made["url"]
    assert api.get(path, by=acting).json["url"] is None
    assert [item["url"] for item in api.get(f"{site.tenant}/shares", by=acting).json["data"]] == [None]
