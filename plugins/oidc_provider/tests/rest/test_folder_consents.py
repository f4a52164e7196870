"""A user lets a client have one folder: by the user's choice, or by the request of the client."""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.support.api import Api, Json, Person, claims_of
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import PLUGINS, RelyingParty, get_returned, logged_in

DECISION = "/oauth2/decision"
SCOPES = "openid files:read tenants:read"
GONE = "0190a1b2-0000-7000-8000-000000000000"

pytestmark = [on_sqlite, pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}}))]


@dataclass
class Desk:
    """A user with two folders, the user's browser, and a client that requests files."""

    api: Api
    user: Person
    tenant: str
    inner: str
    folder: str
    other: str
    browser: PageBrowser
    party: RelyingParty

    @property
    def tenant_id(self) -> str:
        return self.tenant.rpartition("/")[2]

    def detail(self, folder: str) -> Json:
        return {"type": "folder", "tenantId": self.tenant_id, "fileId": folder}

    def ask(self, **changes: str | None) -> str:
        """Open the page of the consent."""
        return self.browser.open(self.party.url(**{"scope": SCOPES, **changes})).text

    def allow(self, folder: str | None) -> None:
        chosen = "" if folder is None else f"{self.tenant_id}/{folder}"
        self.browser.submit(DECISION, decision="allow", folder=chosen)

    def tokens(self) -> Json:
        """Return the tokens of the consent that was given."""
        answer = self.party.exchange(get_returned(self.browser)["code"])
        assert answer.status_code == 200, answer.text
        tokens: Json = answer.json
        return tokens

    def status(self, tokens: Json, path: str) -> int:
        robot = replace(self.user, token=tokens["access_token"])
        return self.api.get(path, by=robot).status_code


@pytest.fixture
def desk(api: Api) -> Desk:
    user = api.person()
    tenant = api.tenant(user)
    folder, other = (api.folder(tenant, user, name)["id"] for name in ("Reports", "Secrets"))
    inner = api.folder(tenant, user, "2026", folder)["id"]
    party = RelyingParty.register(api, trusted=False, scopes=SCOPES.split())
    return Desk(api, user, tenant, inner, folder, other, logged_in(api, user), party)


def test_a_user_chooses_a_folder_that_no_client_has_requested(desk: Desk) -> None:
    page = desk.ask()
    assert "Reports" in page
    assert "Secrets" in page
    desk.allow(desk.folder)
    tokens = desk.tokens()
    assert tokens["scope"] == "openid files:read"
    assert tokens["authorization_details"] == [desk.detail(desk.folder)]
    assert claims_of(tokens["access_token"])["authorization_details"] == [desk.detail(desk.folder)]
    assert desk.status(tokens, f"{desk.tenant}/files/{desk.inner}") == 200
    assert desk.status(tokens, f"{desk.tenant}/files/{desk.other}") == 403
    assert desk.status(tokens, "/api/v1/tenants") == 403
    (consent,) = desk.api.get("/api/v1/users/me/consents", by=desk.user).json["data"]
    assert (consent["tenantId"], consent["fileId"]) == (desk.tenant_id, desk.folder)
    # The next login keeps to the folder, without the page.
    code = desk.party.authorize(desk.browser, scope=SCOPES, prompt="none")["code"]
    assert desk.party.exchange(code).json["authorization_details"] == [desk.detail(desk.folder)]


def test_without_a_choice_the_client_gets_all_folders(desk: Desk) -> None:
    desk.ask()
    desk.allow(None)
    tokens = desk.tokens()
    assert tokens["scope"] == SCOPES
    assert "authorization_details" not in tokens
    assert desk.status(tokens, f"{desk.tenant}/files/{desk.other}") == 200


def test_a_client_requests_a_folder_at_any_depth(desk: Desk) -> None:
    details = json.dumps([desk.detail(desk.inner)])
    page = desk.ask(authorization_details=details)
    assert f'value="{desk.tenant_id}/{desk.inner}" selected' in page
    desk.allow(None)
    assert DECISION in desk.browser.forms, "a client that requests a folder does not get all"
    desk.allow(desk.inner)
    assert desk.tokens()["authorization_details"] == [desk.detail(desk.inner)]
    request: dict[str, str | None] = {"scope": SCOPES, "prompt": "none"}
    again = desk.party.authorize(desk.browser, **request, authorization_details=details)
    assert "code" in again
    other = json.dumps([desk.detail(desk.other)])
    further = desk.party.authorize(desk.browser, **request, authorization_details=other)
    assert further["error"] == "consent_required"


def test_a_trusted_client_gets_the_folder_that_it_requests(desk: Desk) -> None:
    party = RelyingParty.register(desk.api, trusted=True, scopes=SCOPES.split())
    details = json.dumps([desk.detail(desk.folder)])
    tokens = party.tokens(desk.browser, scope=SCOPES, authorization_details=details)
    assert tokens["authorization_details"] == [desk.detail(desk.folder)]
    renewed = party.refresh(tokens["refresh_token"]).json
    assert renewed["authorization_details"] == [desk.detail(desk.folder)]


def test_scopes_for_one_folder_are_none_for_another(desk: Desk) -> None:
    scopes = [*SCOPES.split(), "files:share"]
    desk.party = RelyingParty.register(desk.api, trusted=False, scopes=scopes)
    desk.ask(scope="files:share")
    desk.allow(desk.folder)
    desk.ask(scope="files:read", prompt="consent")
    desk.allow(None)
    request: dict[str, str | None] = {"prompt": "none"}
    assert "code" in desk.party.authorize(desk.browser, scope="files:read", **request)
    refused = desk.party.authorize(desk.browser, scope="files:share", **request)
    assert refused["error"] == "consent_required"


@pytest.mark.parametrize("folder", ["{stranger}", GONE, "../../users", "x/y", "{file}"])
def test_only_an_offered_folder_is_accepted(desk: Desk, folder: str) -> None:
    api, stranger = desk.api, desk.api.person()
    foreign = api.folder(api.tenant(stranger), stranger, "Foreign")["id"]
    file = api.upload(desk.tenant, desk.user, "a.txt", b"x")["id"]
    desk.ask()
    desk.allow(folder.replace("{stranger}", foreign).replace("{file}", file))
    assert DECISION in desk.browser.forms
    assert api.get("/api/v1/users/me/consents", by=desk.user).json["data"] == []


def test_a_deleted_folder_needs_a_new_choice(desk: Desk) -> None:
    desk.ask()
    desk.allow(desk.folder)
    desk.tokens()
    removed = desk.api.delete(f"{desk.tenant}/files/{desk.folder}", by=desk.user)
    assert removed.status_code == 200
    refused = desk.party.authorize(desk.browser, scope=SCOPES, prompt="none")
    assert refused["error"] == "consent_required"


@pytest.mark.parametrize(
    "details",
    [
        "x",
        "{}",
        "[1]",
        '[{"type": "payment"}]',
        '[{"type": "folder", "tenantId": "a", "fileId": "../users"}]',
        '[{"type": "folder", "tenantId": "a", "fileId": 1}]',
        '[{"type": "folder", "tenantId": "a", "fileId": "b", "actions": ["read"]}]',
        '[{"type": "folder", "tenantId": "a", "fileId": "b"}, {"type": "folder"}]',
        "[" * 3000,
    ],
)
def test_other_details_are_refused(desk: Desk, details: str) -> None:
    returned = desk.party.authorize(desk.browser, scope=SCOPES, authorization_details=details)
    assert returned["error"] == "invalid_authorization_details"


def test_a_folder_limits_files_of_this_server_only(desk: Desk) -> None:
    details: Any = json.dumps([desk.detail(desk.folder)])
    for request in ({"scope": "openid"}, {"scope": "tenants:read"}):
        returned = desk.party.authorize(desk.browser, **request, authorization_details=details)
        assert returned["error"] == "invalid_authorization_details"
    foreign = "https://wiki.example"
    party = RelyingParty.register(desk.api, scopes=SCOPES.split(), resources=[foreign])
    returned = party.authorize(
        desk.browser, scope="files:read", resource=foreign, authorization_details=details
    )
    assert returned["error"] == "invalid_authorization_details"
