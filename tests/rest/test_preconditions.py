"""Changes of representations with a revision honour If-Match and If-None-Match; reads answer 304."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.campaign import campaign_size
from tests.support.config import lifted, merged
from tests.support.databases import on_postgresql
from tests.support.interleaving import Interleaving

from strongroom.foundation.database.upgrade import upgrade
from strongroom.web.http.routing import Operation
from strongroom_share_links.plugin import register_tables as share_tables
from strongroom_webhooks.plugin import register_tables as webhook_tables

PLUGINS = {
    "plugins": {
        "enabled": ["storage_local", "share_links", "webhooks"],
        "webhooks": {"allow_hosts": ["192.0.2.1:443"], "endpoints_per_tenant": 1000},
    }
}
pytestmark = [pytest.mark.both_databases, pytest.mark.config(merged(PLUGINS, lifted()))]

PROOF = {"X-Current-Password": PASSWORD}


@dataclass
class Site:
    """An administrator of the server with a tenant, and resources that changes need."""

    api: Api
    root: Person = field(init=False)
    path: str = field(init=False)
    _numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        tables = {"share_links": share_tables(), "webhooks": webhook_tables()}
        upgrade(self.api.container.database.engine, tables)
        self.root = self.api.person(admin=True, name="Root")
        self.path = self.api.tenant(self.root)

    def name(self) -> str:
        return f"name {next(self._numbers)}"

    def made(self, path: str, body: Json) -> Json:
        answer = self.api.post(path, body, by=self.root)
        assert answer.status_code == 201, answer.text
        created: Json = answer.json
        return created

    def user(self) -> str:
        return f"/users/{self.api.person(name=self.name()).id}"

    def suspended_user(self) -> str:
        path = self.user()
        assert self.api.post(f"{path}/suspension", {}, by=self.root).status_code == 200
        return path

    def tenant(self) -> str:
        return self.api.tenant(self.root, self.name())

    def group(self) -> str:
        return f"{self.path}/groups/{self.made(f'{self.path}/groups', {'name': self.name()})['id']}"

    def file(self) -> str:
        return f"{self.path}/files/{self.api.upload(self.path, self.root, self.name(), b'x')['id']}"

    def changed_file(self) -> str:
        path = self.file()
        answer = self.api.request("PUT", f"{path}/content", by=self.root, data=b"new")
        assert answer.status_code == 200, answer.text
        return path

    def share(self) -> str:
        return f"{self.path}/shares/{self.made(f'{self.file()}/shares', {'kind': 'read'})['id']}"

    def endpoint(self) -> str:
        root = "/api/v1/webhook-endpoints"
        body = {"url": "https://192.0.2.1/", "eventTypes": ["user.*"], "description": self.name()}
        made = self.made(root, body)
        return f"{root}/{made['id']}"


Change = Callable[[Site, str, Json], Answer]


def sent(
    method: str, below: str = "", *, body: Callable[[Site], Json] | None = None, **options: Any
) -> Change:
    """Return a change of the resource at a path, with these headers of preconditions."""

    def send(site: Site, path: str, headers: Json) -> Answer:
        options_ = {"json": body(site)} if body else options
        return site.api.request(
            method, path + below, by=site.root, headers={**PROOF, **headers}, **options_
        )

    return send


def revised(site: Site, path: str, headers: Json) -> Answer:
    """Change an endpoint, whose body must name the revision."""
    body = {"revision": site.api.get(path, by=site.root).json["revision"], "description": site.name()}
    return site.api.request("PATCH", path, by=site.root, headers=headers, json=body)


NAME = partial(sent, body=lambda site: {"name": site.name()})
_FILES = "/api/v1/tenants/<tenant_id>/files/<file_id>"
_SHARES = "/api/v1/tenants/<tenant_id>/shares/<share_id>"
_GROUPS = "/api/v1/tenants/<tenant_id>/groups/<group_id>"
_ENDPOINTS = "/api/v1/webhook-endpoints/<endpoint_id>"

CHANGES: dict[str, tuple[Callable[[Site], str], Change]] = {
    "PATCH /users/<user_id>": (Site.user, NAME("PATCH")),
    "DELETE /users/<user_id>": (Site.user, sent("DELETE")),
    "POST /users/<user_id>/suspension": (Site.user, sent("POST", "/suspension", json={})),
    "DELETE /users/<user_id>/suspension": (
        Site.suspended_user,
        sent("DELETE", "/suspension"),
    ),
    "PATCH /api/v1/tenants/<tenant_id>": (Site.tenant, NAME("PATCH")),
    "DELETE /api/v1/tenants/<tenant_id>": (Site.tenant, sent("DELETE")),
    f"PATCH {_GROUPS}": (Site.group, NAME("PATCH")),
    f"DELETE {_GROUPS}": (Site.group, sent("DELETE")),
    f"PATCH {_FILES}": (Site.file, NAME("PATCH")),
    f"DELETE {_FILES}": (Site.file, sent("DELETE")),
    f"PUT {_FILES}/directory": (
        Site.file,
        sent("PUT", "/directory", body=lambda site: {"parentId": None, "name": site.name()}),
    ),
    f"PUT {_FILES}/content": (Site.file, sent("PUT", "/content", data=b"y")),
    f"POST {_FILES}/versions/<number>/restore": (
        Site.changed_file,
        sent("POST", "/versions/1/restore"),
    ),
    f"PATCH {_SHARES}": (Site.share, sent("PATCH", body=lambda site: {"label": site.name()})),
    f"DELETE {_SHARES}": (Site.share, sent("DELETE")),
    f"PATCH {_ENDPOINTS}": (Site.endpoint, revised),
    f"DELETE {_ENDPOINTS}": (Site.endpoint, sent("DELETE")),
    f"POST {_ENDPOINTS}/take-over": (Site.endpoint, sent("POST", "/take-over")),
}


@pytest.fixture
def site(api: Api) -> Site:
    return Site(api)


def operations(api: Api) -> dict[str, Operation]:
    """Return the changing operations by method and path."""
    return {
        f"{method} {rule.rule}": view
        for rule in api.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}
        if isinstance(view := api.app.view_functions[rule.endpoint], Operation)
    }


def test_every_change_of_a_representation_with_a_revision_honours_its_preconditions(site: Site) -> None:
    linked = {name for name, view in operations(site.api).items() if view.reader is not None}
    assert linked == CHANGES.keys()
    for name, (make, change) in CHANGES.items():
        path = make(site)
        get = partial(site.api.get, path, by=site.root)
        tag = get().headers["ETag"]
        revision = tag.strip('"').partition("-")[0]
        assert get(headers={"If-None-Match": tag}).status_code == 304, name
        refused = (
            {"If-Match": '"999"'},
            {"If-Match": f"W/{tag}"},
            {"If-Match": '"998", "999"'},
            {"If-None-Match": "*"},
            {"If-None-Match": f'"999", {tag}'},
            {"If-Match": tag, "If-None-Match": f"W/{tag}"},
        )
        for headers in refused:
            answer = change(site, path, headers)
            assert (answer.status_code, error_code(answer)) == (412, "error.precondition-failed"), name
            assert get().headers["ETag"] == tag, (name, headers)
        accepted = (
            {"If-Match": tag},
            {"If-Match": f'"{revision}"'},
            {"If-Match": f'"999", {tag}'},
            {"If-Match": "*"},
            {"If-None-Match": '"999"'},
        )
        for number, headers in enumerate(accepted):
            path = make(site) if number else path
            current = site.api.get(path, by=site.root).headers["ETag"]
            fresh = {key: text.replace(tag, current) for key, text in headers.items()}
            fresh = {key: text.replace(f'"{revision}"', current) for key, text in fresh.items()}
            answer = change(site, path, fresh)
            assert answer.status_code in (200, 204), (name, headers, answer.text)


def followed_by(concurrent: Callable[[], Answer], others: list[Answer]) -> Any:
    """Return the check of preconditions, after which a concurrent request is committed once."""
    check = Operation.require_preconditions

    def checked(self: Operation, path: Any) -> int | None:
        revision = check(self, path)
        if not others:
            others.append(concurrent())
        return revision

    return checked


def test_a_change_between_the_check_and_the_change_makes_the_precondition_false(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, (make, change) in CHANGES.items():
        path = make(site)
        tag = site.api.get(path, by=site.root).headers["ETag"]
        others: list[Answer] = []
        concurrent = partial(change, site, path, {})

        with monkeypatch.context() as patch:
            patch.setattr(Operation, "require_preconditions", followed_by(concurrent, others))
            answer = change(site, path, {"If-Match": tag})
        assert others[0].status_code == 200, (name, others[0].text)
        # What was deleted meanwhile is unknown, as without the header.
        gone = (403, 404) if name.startswith("DELETE") else ()
        assert answer.status_code in (412, *gone), (name, answer.text)


@pytest.mark.extended
@on_postgresql
def test_of_two_changes_at_once_one_is_refused(site: Site) -> None:
    interleaving = Interleaving(site.api.container.database)
    number = min(campaign_size("CONCURRENT_CHANGES", 3), len(CHANGES))
    for name, (make, change) in [*CHANGES.items()][:: len(CHANGES) // number]:

        def prepare(make: Any = make, change: Change = change) -> Any:
            path = make(site)
            tag = site.api.get(path, by=site.root).headers["ETag"]
            once = partial(change, site, path, {"If-Match": tag})
            return once, once

        for outcomes in interleaving.every(prepare):
            statuses = sorted(outcome.status_code for outcome in outcomes)
            assert statuses[0] == 200, (name, statuses)
            assert statuses[1] in (403, 404, 412), (name, statuses)


def test_changes_of_resources_without_an_entity_tag_match_no_tag(site: Site) -> None:
    api, root = site.api, site.root
    file = site.changed_file()
    key = site.made("/users/me/access-keys", {"name": "k", "scopes": ["files:read"]})
    changes: dict[str, tuple[str, str, Json]] = {
        "key": (
            "PATCH",
            f"/users/me/access-keys/{key['id']}",
            {"name": "l"},
        ),
        "version": ("PATCH", f"{file}/versions/1", {"label": "a"}),
        "retention": ("PUT", f"{site.path}/retention", {"trashDays": 5}),
        "username": ("PUT", "/users/me/username", {"username": "root1"}),
        "metadata": ("PATCH", "/users/me/metadata", {"a": 1}),
        "policy": ("PUT", f"{site.path}/share-policy", {}),
        "tenant": ("POST", "/api/v1/tenants", {"name": "b"}),
    }
    for name, (method, path, body) in changes.items():
        for headers in ({"If-Match": '"999"'}, {"If-Match": 'W/"999"'}, {"If-None-Match": "*"}):
            answer = api.request(method, path, by=root, json=body, headers=headers)
            assert answer.status_code == 412, (name, headers, answer.text)
    assert api.get(f"{file}/versions", by=root).json["data"][0].get("label") in (None, "")


def test_reads_answer_304_until_the_content_changes(site: Site) -> None:
    api, root = site.api, site.root
    tag = api.get("/users/me", by=root).headers["ETag"]
    known = partial(api.get, "/users/me", by=root, headers={"If-None-Match": tag})
    answer = known()
    assert (answer.status_code, answer.data, answer.headers["ETag"]) == (304, b"", tag)
    # The last login is no change of the revision, but of the representation.
    api.clock.advance(60_000)
    api.log_in(root.email)
    again = known()
    assert again.status_code == 200
    assert again.headers["ETag"] != tag
    changed = api.patch("/users/me", {"name": "B"}, by=root, headers={"If-Match": tag})
    assert changed.status_code == 200, "the revision is the same"
    assert changed.headers["ETag"] == api.get("/users/me", by=root).headers["ETag"]
