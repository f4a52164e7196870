"""Each effect has its rules on every entrance that reaches it: a table of effects, entrances and rules.

A row is an effect, with the request of the REST API that causes it. Callers with a login, an access key,
a key of a service account and an impersonation send the same request. Pages, imports, batches and
visitors have requests of their own; a cell without a request says why it has none.

That each route records what it changes is in :mod:`tests.rest.test_recorded_routes`; what a body of each
route costs in memory and on the disk, in :mod:`tests.e2e.test_large_bodies`.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from typing import Any, Final

import pytest
from sqlalchemy import select
from tests.support.api import PASSWORD, Answer, Api, Json, Person, creation_headers, error_code
from tests.support.audit import reading_sealed
from tests.support.config import FIXED_CAPTCHA, lifted
from tests.support.page_browser import PageBrowser
from tests.support.totp import enrol, use_clock

from strongroom.activity.audit.models import audit_events
from strongroom.content.nodes.events import DownloadRecorder
from strongroom.content.tenants.models import tenants
from strongroom.extensions.user_imports.worker import ImportWorker
from strongroom.foundation.database.upgrade import upgrade
from strongroom.identity.users.models import account_links
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom_login_pages import plugin as login_pages
from strongroom_share_links import plugin as share_links
from strongroom_webhooks import plugin as webhooks

PLUGINS: Final = ("storage_local", "factor_totp", "login_pages", "share_links", "webhooks", "console")
URL: Final = "https://93.184.216.34/hook"
NEW: Final = "new@example.com"
MIB: Final = 1024 * 1024

pytestmark = [
    pytest.mark.config(
        lifted(),
        FIXED_CAPTCHA,
        {
            "plugins": {"enabled": list(PLUGINS), "webhooks": {"enabled": False}},
            "files": {"trash": {"enabled": True}},
            "users": {"link_url": "https://app.example.com/password#"},
        },
    ),
]


class Entrance(StrEnum):
    """A way to the server."""

    REST = "rest"
    CONSOLE = "console"
    ACCOUNT = "account-page"
    IMPORT = "import"
    BATCH = "batch"
    KEY = "access-key"
    SERVICE = "service-account"
    IMPERSONATION = "impersonation"
    VISITOR = "visitor"


CALLERS: Final = (Entrance.REST, Entrance.KEY, Entrance.SERVICE, Entrance.IMPERSONATION)
"""The entrances that send the request of the REST API."""


@dataclass
class Stage:
    """A user with a tenant, who is also seen by an administrator, and what both have."""

    api: Api
    admin: Person
    user: Person
    tenant: str
    file: str
    member: Person
    share: str
    before: int = 0
    sent: int = 0
    _browsers: dict[str, PageBrowser] = field(default_factory=dict)

    @classmethod
    def made(cls, api: Api) -> "Stage":
        tables = {
            "login_pages": login_pages.register_tables(),
            "share_links": share_links.register_tables(),
            "webhooks": webhooks.register_tables(),
        }
        upgrade(api.container.database.engine, tables)
        admin, user, member = api.person(admin=True, name="Ada"), api.person(), api.person()
        tenant = api.tenant(user)
        file = api.upload(tenant, user, "plan.txt", b"first")["id"]
        api.request("PUT", f"{tenant}/files/{file}/content", by=user, data=b"second")
        made = api.post(f"{tenant}/files/{file}/shares", {"kind": "read"}, by=user)
        assert made.status_code == 201, made.text
        secret = made.json["url"].rpartition("/")[2]
        return cls(api, admin, user, tenant, file, member, secret)

    @property
    def root(self) -> str:
        """The path of the tenant's pages."""
        return f"/console{self.tenant.removeprefix('/api/v1')}"

    def browser(self, person: Person) -> PageBrowser:
        """Return a browser in which a person is logged in."""
        if person.id not in self._browsers:
            self._browsers[person.id] = PageBrowser(self.api)
            self._browsers[person.id].log_in(person.email)
        return self._browsers[person.id]

    def key(self, person: Person, *scopes: str) -> Person:
        """Return a caller with an access key of a person."""
        body = {"name": "key", "scopes": list(scopes), "currentPassword": PASSWORD}
        made = self.api.post("/users/me/access-keys", body, by=person)
        assert made.status_code == 201, made.text
        return Person(person.id, f"/users/me/access-keys/{made.json['id']}", made.json["key"])

    def robot(self, *scopes: str, of_server: bool) -> Person:
        """Return a caller with a key of a service account: of the server, or of the tenant."""
        owner, place = (self.admin, "/api/v1") if of_server else (self.user, self.tenant)
        account = self.api.post(f"{place}/service-accounts", {"name": "Robot"}, by=owner).json["id"]
        keys = f"/users/{account}" if of_server else f"{place}/service-accounts/{account}"
        body = {"name": "key", "scopes": list(scopes), "currentPassword": PASSWORD}
        made = self.api.post(f"{keys}/access-keys", body, by=owner)
        assert made.status_code == 201, made.text
        return Person(account, f"{keys}/access-keys/{made.json['id']}", made.json["key"])

    def impersonation(self) -> Person:
        """Return the caller who is the administrator as the user."""
        body = {"reason": "Ticket 7", "minutes": 60}
        made = self.api.post(f"/users/{self.user.id}/impersonation", body, by=self.admin)
        assert made.status_code == 201, made.text
        return Person(self.user.id, "", made.json["accessToken"])

    def begin(self) -> None:
        """Count records and messages from here."""
        self.before, self.sent = len(self.records()), len(self.api.outbox())

    def newest_code(self) -> str:
        """Return the code of the newest message."""
        return str(self.api.outbox()[-1]["code"])

    def records(self) -> list[Any]:
        """Return all audit records."""
        with reading_sealed(self.api.container.database) as connection:
            return list(connection.execute(select(audit_events).order_by(audit_events.c.sequence)))

    def events(self) -> list[Json]:
        """Return the file events of the tenant, the newest first."""
        self.api.container.get(DownloadRecorder).flush()
        answer = self.api.get(f"{self.tenant}/file-events?pageSize=50", by=self.user)
        found: list[Json] = answer.json["data"]
        return found


Request = Callable[[Stage, Person], Answer]
Form = Callable[[Stage], Answer]
Sent = tuple[Callable[[Stage], str], Form]
"""Who acts, and the request."""


@dataclass(frozen=True)
class Effect:
    """What a request does, and the rules that hold wherever it comes from.

    Args:
        request: the request of the REST API; ``None``: each entrance has a request of its own.
        actions: the actions of which one is recorded.
        event: the action of the file event that is recorded instead.
        callers: who sends the request, by entrance; the others of :data:`CALLERS` are refused.
        forms: the requests of the other entrances, with who acts.
        none: why an entrance does not reach the effect.
        informs: whether the user gets a message.
        is_sensitive: whether people need a recent proof.
    """

    request: Request | None
    actions: frozenset[str]
    callers: Mapping[Entrance, Callable[[Stage], Person]]
    forms: Mapping[Entrance, Sent]
    none: Mapping[Entrance, str]
    informs: bool = False
    is_sensitive: bool = True
    event: str = ""


def admin_id(stage: Stage) -> str:
    return stage.admin.id


def user_id(stage: Stage) -> str:
    return stage.user.id


def the_admin(stage: Stage) -> Person:
    return stage.admin


def the_user(stage: Stage) -> Person:
    return stage.user


def managing_users(
    key: Callable[[Stage], Person] = the_admin,
) -> dict[Entrance, Callable[[Stage], Person]]:
    return {
        Entrance.REST: the_admin,
        Entrance.KEY: lambda stage: stage.key(stage.admin, "users:write"),
        Entrance.SERVICE: lambda stage: stage.robot("users:write", of_server=True),
    }


def scoped(*scopes: str) -> dict[Entrance, Callable[[Stage], Person]]:
    return {
        Entrance.REST: the_user,
        Entrance.KEY: lambda stage: stage.key(stage.user, *scopes),
        Entrance.SERVICE: lambda stage: manager(stage, *scopes),
    }


def manager(stage: Stage, *scopes: str) -> Person:
    """Return a service account of the tenant that manages the file."""
    robot = stage.robot(*scopes, of_server=False)
    body = {"ownerId": robot.id, "permission": "manage"}
    stage.api.post(f"{stage.tenant}/files/{stage.file}/owners", body, by=stage.user)
    return robot


def submit(
    path: str, action: str, by: Callable[[Stage], Person], **fields: str
) -> Callable[[Stage], Answer]:
    """Return a request that opens a page, fills in one of its forms, and sends it."""

    def send(stage: Stage) -> Answer:
        places = {
            "user": stage.user.id,
            "root": stage.root,
            "file": stage.file,
            "member": stage.member.id,
        }
        browser = stage.browser(by(stage))
        browser.open(path.format(**places))
        if browser.path.startswith("/account/login"):
            return browser.page
        form = browser.action(action.format(**places))
        values = {name: value.format(**places) for name, value in fields.items()}
        return browser.open(form, {**browser.forms[form], **values})

    return send


def about_user(action: str, page: str = "", **fields: str) -> Sent:
    root = "/console/server/users/{user}/"
    return admin_id, submit(root + page, root + action, the_admin, **fields)


def by_user(page: str, action: str | None = None, **fields: str) -> Sent:
    """Return a form that the user sends; by default, to the path of its page."""
    return user_id, submit(page, action or page, the_user, **fields)


def imported(line: Json) -> Sent:
    def send(stage: Stage) -> Answer:
        stage.api.patch(f"/users/{stage.user.id}", {"externalId": "hr-1"}, by=stage.admin)
        answer = stage.api.request(
            "POST",
            "/user-imports?onConflict=update",
            by=stage.admin,
            data=json.dumps({"externalId": "hr-1", **line}) + "\n",
            content_type="application/x-ndjson",
        )
        stage.api.container.get(ImportWorker).run_due()
        return answer

    return admin_id, send


def account_contact(stage: Stage) -> Answer:
    browser = stage.browser(stage.user)
    browser.open("/account/contacts/email")
    browser.send("contacts/email/new-code", address=NEW, captchaAnswer="42")
    return browser.send("contacts/email", code=stage.newest_code())


def restoration(stage: Stage) -> str:
    """Change the user's address, and return the path in the message to the former one."""
    body = {"value": "taken@example.com", "verified": True}
    stage.api.put(f"/users/{stage.user.id}/contacts/email", body, by=stage.admin)
    texts = [each["text"] for each in stage.api.outbox() if each["recipient"] == stage.user.email]
    found = re.search(r"/account/restore/[\w-]+", texts[-1])
    assert found, texts[-1]
    stage.api.post(f"/users/{stage.user.id}/links", {"kind": "reset"}, by=stage.admin)
    stage.begin()
    return found[0]


def restored(stage: Stage) -> Answer:
    body = {"token": restoration(stage).rpartition("/")[2], "newPassword": "Another2Battery"}
    return stage.api.post("/users/contact-restorations", body)


def restored_by_page(stage: Stage) -> Answer:
    path, browser = restoration(stage), PageBrowser(stage.api)
    browser.open(path)
    return browser.submit(path, newPassword="Another2Battery")


def removed_by_list(stage: Stage) -> Answer:
    browser = stage.browser(stage.user)
    browser.open(f"{stage.root}/files/")
    form = browser.forms[f"{stage.root}/selection/download"]
    return browser.open(f"{stage.root}/selection/delete", {**form, "node": stage.file})


def removed_by_batch(stage: Stage) -> Answer:
    item = {"operation": "trash", "fileId": stage.file}
    return stage.api.post(f"{stage.tenant}/files-batches", {"items": [item]}, by=stage.user)


def visitor_download(stage: Stage) -> Answer:
    return stage.api.get(f"/api/v1/shares/{stage.share}/files/{stage.file}/download")


NO_BATCH: Final = {Entrance.BATCH: "a batch moves, copies, deletes and shares files"}
NO_VISITOR: Final = {Entrance.VISITOR: "a visitor has no account"}
NO_IMPORT: Final = {Entrance.IMPORT: "an import has users"}
NO_ACCOUNT: Final = {Entrance.ACCOUNT: "the account pages show no tenant"}
OF_LOGINS: Final = {**NO_BATCH, **NO_VISITOR}
OF_FILES: Final = {**NO_BATCH, **NO_VISITOR, **NO_IMPORT, **NO_ACCOUNT}

EFFECTS: Final[Mapping[str, Effect]] = {
    "contact": Effect(
        lambda stage, by: stage.api.put(
            f"/users/{stage.user.id}/contacts/email", {"value": NEW, "verified": True}, by=by
        ),
        frozenset({"credential.bind"}),
        managing_users(),
        {
            Entrance.CONSOLE: about_user("contacts/email", value=NEW),
            Entrance.ACCOUNT: (user_id, account_contact),
            Entrance.IMPORT: imported({"email": NEW}),
        },
        OF_LOGINS,
        informs=True,
    ),
    "contact restored": Effect(
        None,
        frozenset({"credential.bind"}),
        {},
        {
            # Without a login: the link in the message to the former address is the proof.
            Entrance.REST: (user_id, restored),
            Entrance.ACCOUNT: (user_id, restored_by_page),
        },
        {
            **OF_LOGINS,
            **dict.fromkeys(CALLERS[1:], "the link is the proof, whatever else is sent"),
            Entrance.CONSOLE: "the console sets contacts",
            Entrance.IMPORT: "an import has no links",
        },
        informs=True,
        is_sensitive=False,
    ),
    "password": Effect(
        lambda stage, by: stage.api.post(f"/users/{stage.user.id}/temporary-password", {}, by=by),
        frozenset({"password.give", "password.change"}),
        managing_users(),
        {
            Entrance.CONSOLE: about_user("temporary-password", "sessions"),
            Entrance.ACCOUNT: by_user(
                "/account/password", password=PASSWORD, newPassword="Correct2Battery"
            ),
        },
        {**OF_LOGINS, Entrance.IMPORT: "an update by an import keeps the password"},
        informs=True,
    ),
    "factor": Effect(
        lambda stage, by: stage.api.delete(f"/users/{stage.user.id}/factors", by=by),
        frozenset({"factor.reset", "factor.remove", "factor.add"}),
        {Entrance.REST: the_admin},
        {
            Entrance.CONSOLE: about_user("factors/reset", "sessions"),
            Entrance.IMPORT: imported({"totp": "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP"}),
        },
        {**OF_LOGINS, Entrance.ACCOUNT: "tests of login_pages: it needs the code of the factor"},
        informs=True,
    ),
    "platform login": Effect(
        None,
        frozenset({"credential.bind"}),
        {},
        {
            Entrance.IMPORT: imported(
                {"identities": [{"provider": "wechat_openid", "subject": "wx1:someone"}]}
            )
        },
        {
            **OF_LOGINS,
            **dict.fromkeys(CALLERS, "the contract of login_oauth: it needs the proof of a platform"),
            Entrance.CONSOLE: "the console shows platform logins",
            Entrance.ACCOUNT: "the contract of login_oauth: it needs the proof of a platform",
        },
        informs=True,
    ),
    "key": Effect(
        lambda stage, by: stage.api.post(
            "/users/me/access-keys",
            {"name": "CI", "scopes": ["files:read"], "currentPassword": PASSWORD},
            by=by,
        ),
        frozenset({"access-key.create"}),
        {Entrance.REST: the_user},
        {},
        {
            **OF_LOGINS,
            Entrance.IMPORT: "an import has no keys",
            Entrance.CONSOLE: "keys of service accounts only: test_tenant_connections.py",
            Entrance.ACCOUNT: "tests of login_pages: a form that asks for the password",
        },
    ),
    "webhook": Effect(
        lambda stage, by: stage.api.post(
            "/api/v1/webhook-endpoints",
            {"url": URL, "eventTypes": ["*"], "tenantId": stage.tenant.rpartition("/")[2]},
            by=by,
        ),
        frozenset({"webhooks.endpoint-create"}),
        {Entrance.REST: the_user},
        {Entrance.CONSOLE: by_user("{root}/webhooks/new", url=URL, types="*")},
        OF_FILES,
        is_sensitive=False,
    ),
    "share": Effect(
        lambda stage, by: stage.api.post(
            f"{stage.tenant}/files/{stage.file}/shares", {"kind": "read"}, by=by
        ),
        frozenset({"share_links.create"}),
        scoped("files:share"),
        {
            Entrance.CONSOLE: by_user(
                "{root}/nodes/{file}/share", "{root}/nodes/{file}/share/links", kind="read"
            )
        },
        OF_FILES,
        is_sensitive=False,
    ),
    "membership": Effect(
        lambda stage, by: stage.api.put(
            f"{stage.tenant}/members/{stage.member.id}", {"role": "admin"}, by=by
        ),
        frozenset({"member.put"}),
        {
            Entrance.REST: the_user,
            Entrance.KEY: lambda stage: stage.key(stage.user, "tenants:write"),
        },
        {Entrance.CONSOLE: by_user("{root}/members/", user="{member}", role="member")},
        {**OF_FILES, Entrance.ACCOUNT: "an invitation is accepted: test_invitation_pages.py"},
        is_sensitive=False,
    ),
    "version": Effect(
        lambda stage, by: stage.api.patch(
            f"{stage.tenant}/files/{stage.file}/versions/1", {"label": "Draft"}, by=by
        ),
        frozenset({"version.update"}),
        scoped("files:write"),
        {Entrance.CONSOLE: by_user("{root}/nodes/{file}/versions/1", label="Draft")},
        OF_FILES,
        is_sensitive=False,
    ),
    "removal": Effect(
        lambda stage, by: stage.api.delete(f"{stage.tenant}/files/{stage.file}", by=by),
        frozenset(),
        scoped("files:share"),
        {
            Entrance.CONSOLE: (user_id, removed_by_list),
            Entrance.BATCH: (user_id, removed_by_batch),
        },
        {**NO_VISITOR, **NO_IMPORT, **NO_ACCOUNT},
        is_sensitive=False,
        event="file.deleted",
    ),
    "content read": Effect(
        lambda stage, by: stage.api.get(f"{stage.tenant}/files/{stage.file}/download", by=by),
        frozenset(),
        {
            **scoped("files:read"),
            Entrance.IMPERSONATION: lambda stage: stage.impersonation(),
        },
        {
            Entrance.CONSOLE: (
                user_id,
                lambda stage: stage.browser(stage.user).open(
                    f"{stage.root}/nodes/{stage.file}/download"
                ),
            ),
            # By the right of the share's maker.
            Entrance.VISITOR: (user_id, visitor_download),
        },
        {**NO_BATCH, **NO_IMPORT, **NO_ACCOUNT},
        is_sensitive=False,
        event="file.downloaded",
    ),
}
CELLS: Final = list(product(EFFECTS, Entrance))


@pytest.fixture(autouse=True)
def codes(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the codes of authenticator apps depend on the clock of the test."""
    use_clock(clock, monkeypatch)


@pytest.fixture
def stage(codes: None, api: Api) -> Stage:
    return Stage.made(api)


def is_informed(stage: Stage, recipient: str) -> bool:
    return recipient in {message["recipient"] for message in stage.api.outbox()[stage.sent :]}


def recorded(stage: Stage, effect: Effect) -> list[Any]:
    """Return the records of an effect since the beginning."""
    return [row for row in stage.records()[stage.before :] if row.action in effect.actions]


def requested(stage: Stage, effect: Effect, by: Person) -> Answer:
    """Send the request of the REST API."""
    assert effect.request is not None
    return effect.request(stage, by)


def send(stage: Stage, effect: Effect, entrance: Entrance) -> tuple[str, Answer]:
    """Cause an effect by an entrance; return who acted, and the answer."""
    if entrance in effect.forms:
        who, form = effect.forms[entrance]
        return who(stage), form(stage)
    caller = effect.callers[entrance](stage)
    actor = stage.admin.id if entrance is Entrance.IMPERSONATION else caller.id
    return actor, requested(stage, effect, caller)


def test_each_cell_has_a_request_or_a_reason() -> None:
    for name, entrance in CELLS:
        effect = EFFECTS[name]
        is_sent = entrance in CALLERS and effect.request is not None
        known = (entrance in effect.forms) + (entrance in effect.none) + is_sent
        assert known == 1, (name, entrance)


REACHED: Final = [
    (name, entrance)
    for name, entrance in CELLS
    if entrance in EFFECTS[name].forms or entrance in EFFECTS[name].callers
]


OF_EVENTS: Final = [cell for cell in REACHED if EFFECTS[cell[0]].event]


@pytest.mark.parametrize(("name", "entrance"), [cell for cell in REACHED if cell not in OF_EVENTS])
def test_an_effect_is_recorded_and_its_user_informed(
    stage: Stage, name: str, entrance: Entrance
) -> None:
    effect = EFFECTS[name]
    if name == "factor" and entrance is not Entrance.IMPORT:
        enrol(stage.api, stage.user)
    stage.api.post(f"/users/{stage.user.id}/links", {"kind": "reset"}, by=stage.admin)
    stage.begin()
    actor, answer = send(stage, effect, entrance)
    assert answer.status_code < 400, answer.text
    assert {row.actor_id for row in recorded(stage, effect)} == {actor}
    if effect.informs:
        assert is_informed(stage, stage.user.email)
        assert name != "contact" or is_informed(stage, NEW)
        with stage.api.container.database.read() as connection:
            assert not connection.execute(select(account_links)).all()


@pytest.mark.parametrize(("name", "entrance"), OF_EVENTS)
def test_a_file_event_names_who_acted(stage: Stage, name: str, entrance: Entrance) -> None:
    effect = EFFECTS[name]
    actor, answer = send(stage, effect, entrance)
    assert answer.status_code < 400, answer.text
    (event,) = [item for item in stage.events() if item["action"] == effect.event]
    assert event["actor"] == {"$ref": actor}
    assert bool(event["onBehalfOf"]) == (entrance is Entrance.IMPERSONATION)
    assert event["plugin"] == ("share_links" if entrance is Entrance.VISITOR else None)


REFUSALS: Final = {
    Entrance.KEY: {"error.key-not-accepted"},
    Entrance.SERVICE: {"error.key-not-accepted", "error.insufficient-scope"},
    Entrance.IMPERSONATION: {"error.impersonation-refused"},
}


@pytest.mark.parametrize(
    ("name", "entrance"),
    [
        cell
        for cell in CELLS
        if cell[1] in CALLERS and cell not in REACHED and EFFECTS[cell[0]].request is not None
    ],
)
def test_other_callers_are_refused(stage: Stage, name: str, entrance: Entrance) -> None:
    callers: dict[Entrance, Callable[[], Person]] = {
        Entrance.KEY: lambda: stage.key(stage.user, "files:read", "files:write", "tenants:write"),
        Entrance.SERVICE: lambda: manager(stage, "files:write", "files:share"),
        Entrance.IMPERSONATION: stage.impersonation,
    }
    caller = callers[entrance]()
    stage.begin()
    answer = requested(stage, EFFECTS[name], caller)
    refusals = REFUSALS[entrance]
    assert (answer.status_code, error_code(answer) in refusals) == (403, True), answer.text
    assert recorded(stage, EFFECTS[name]) == []


@pytest.mark.parametrize(
    ("name", "entrance"), [cell for cell in REACHED if cell[1] in (Entrance.KEY, Entrance.SERVICE)]
)
def test_a_right_ends_with_its_key(stage: Stage, name: str, entrance: Entrance) -> None:
    effect = EFFECTS[name]
    caller = effect.callers[entrance](stage)
    owner = stage.admin if effect.callers[Entrance.REST] is the_admin else stage.user
    assert stage.api.delete(caller.email, by=owner).status_code == 200
    stage.begin()
    assert requested(stage, effect, caller).status_code == 401
    assert recorded(stage, effect) == []


@pytest.mark.parametrize(
    ("name", "entrance"),
    [
        cell
        for cell in REACHED
        if EFFECTS[cell[0]].is_sensitive and cell[1] in (Entrance.REST, Entrance.CONSOLE)
    ],
)
def test_a_sensitive_effect_needs_a_recent_proof(stage: Stage, name: str, entrance: Entrance) -> None:
    effect = EFFECTS[name]
    caller = stage.admin if effect.callers[Entrance.REST] is the_admin else stage.user
    stage.browser(caller)
    for person in (stage.admin, stage.user):
        enrol(stage.api, person)
    stage.api.clock.advance(20 * MINUTE)
    stage.begin()
    if entrance is Entrance.REST:
        assert error_code(requested(stage, effect, caller)) == "error.step-up-required"
    else:
        effect.forms[entrance][1](stage)
        assert stage.browser(caller).path == "/account/step-up"
    assert recorded(stage, effect) == []


def announced(stage: Stage, entrance: Entrance) -> Callable[[int], Answer]:
    """Return a request that reserves room for an upload of a size, by an entrance."""
    if entrance is Entrance.CONSOLE:
        browser = stage.browser(stage.user)
        browser.open(f"{stage.root}/files/")
        headers = {"X-CSRF": browser.forms["/console/logout"]["csrf"], "Accept": "application/json"}
        path = f"{stage.root}/uploads"
        return lambda size: browser.send_bytes(
            "POST", path, b"", **headers, **creation_headers(size, filename="a.bin")
        )
    if entrance is Entrance.VISITOR:
        folder = stage.api.folder(stage.tenant, stage.user, "Box")["id"]
        made = stage.api.post(f"{stage.tenant}/files/{folder}/shares", {"kind": "drop"}, by=stage.user)
        path, caller = f"/api/v1/shares/{made.json['url'].rpartition('/')[2]}/uploads", None
    else:
        path, caller = f"{stage.tenant}/uploads", RESERVING[entrance](stage)
    addresses = iter(range(1, 250))
    return lambda size: stage.api.request(
        "POST",
        path,
        by=caller,
        headers=creation_headers(size, filename="a.bin"),
        environ_overrides={"REMOTE_ADDR": f"198.51.100.{next(addresses)}"},
    )


RESERVING: Final = scoped("files:write")
QUOTA: Final = 20 * MIB


def reserved(stage: Stage) -> int:
    is_tenant = tenants.c.id == stage.tenant.rpartition("/")[2]
    with stage.api.container.database.read() as connection:
        return int(connection.execute(select(tenants.c.reserved_bytes).where(is_tenant)).scalar_one())


@pytest.mark.parametrize("entrance", [*RESERVING, Entrance.CONSOLE, Entrance.VISITOR])
def test_a_reservation_stays_within_its_bound(stage: Stage, entrance: Entrance) -> None:
    stage.api.patch(stage.tenant, {"quotaBytes": QUOTA}, by=stage.admin)
    announce = announced(stage, entrance)
    answers = [announce(3 * MIB) for _ in range(20)]
    accepted = [answer for answer in answers if answer.status_code == 201]
    # A visitor leaves nine tenths of the free room to the members.
    is_visitor = entrance is Entrance.VISITOR
    assert 0 < reserved(stage) <= (QUOTA // 10 if is_visitor else QUOTA)
    assert is_visitor or 0 < len(accepted) < QUOTA / (3 * MIB)
    refusals = {error_code(answer) for answer in answers if answer.status_code != 201}
    assert refusals <= {"error.storage-full"}
    if is_visitor:
        member = announced(stage, Entrance.REST)
        assert [member(3 * MIB).status_code for _ in range(5)] == [201] * 5
