"""The pages of single sign-on of a space, for its administrators, in the frame of the console."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.page_lists import read_number
from strongroom.plugin_api.tenants import TenantInfo
from strongroom.plugin_api.visits import (
    Flash,
    PageApplication,
    Visit,
    current_visit,
    is_form_error,
    join_path,
)
from strongroom.plugin_api.web import MountedApplication
from strongroom_login_sso.paths import begin_path

PREFIX: Final = "/single-sign-on"
"""The path of the pages, below the base path of the server."""

PLACES: Final[Mapping[str, str]] = {
    "Microsoft Entra ID": "https://login.microsoftonline.com/TENANT-ID/v2.0",
    "Google Workspace": "https://accounts.google.com",
    "Okta": "https://COMPANY.okta.com",
    "OneLogin": "https://COMPANY.onelogin.com/oidc/2",
    "Keycloak": "https://KEYCLOAK/realms/REALM",
    "authentik": "https://AUTHENTIK/application/o/SLUG/",
}
"""The issuers of well-known providers, with capitals in place of what differs."""

ROLES: Final[Mapping[str, str]] = {"member": "role-member", "records": "role-records"}
"""The keys of the names of the roles that a login gives."""

pages = Blueprint("sso_pages", __name__, url_prefix="/<tenant_id>")


class SsoVisit(Visit):
    """A request of an administrator of a space."""

    @property
    def tenant(self) -> TenantInfo:
        """The space of the path."""
        assert request.view_args is not None  # noqa: S101  each page has the space in its path
        return self.host.tenants.get(str(request.view_args["tenant_id"]))

    def show(self, template: str, **values: Any) -> Any:
        """Return the response with a page in the frame of the space."""
        tenant = self.tenant
        here = f"{self.root}/{tenant.id}/"
        return self.page(
            template,
            tenant=tenant,
            sections=self.host.pages.sections(tenant),
            section=here,
            here_root=here,
            roles=ROLES,
            **values,
        )


def make_sso_pages(host: HostAPI) -> MountedApplication:
    """Return the application of the pages."""
    application = PageApplication(host, PREFIX, visit=SsoVisit)
    application.register_blueprint(pages)
    return MountedApplication(PREFIX, application.wsgi_app)


@pages.get("/")
def show_single_sign_on(tenant_id: str) -> Any:
    """Show the domains and the providers."""
    visit = _visit()
    domains = visit.read_all(_rest(tenant_id, "domains")).data
    providers = visit.read_all(_rest(tenant_id, "identity-providers")).data
    return visit.show("single_sign_on.html", domains=domains, providers=providers)


@pages.post("/domains")
def add_domain(tenant_id: str) -> Any:
    """Add a domain, whose record the page shows."""
    body = {"domain": request.form.get("domain", "").strip()}
    return _follow("POST", _rest(tenant_id, "domains"), body, _page(tenant_id), "domain-added")


@pages.post("/domains/<domain_id>/verification")
def verify_domain(tenant_id: str, domain_id: str) -> Any:
    """Look up the record of a domain now."""
    path = _rest(tenant_id, "domains", domain_id, "verification")
    return _follow("POST", path, None, _page(tenant_id), "domain-proven")


@pages.get("/domains/<domain_id>/removal")
def ask_about_domain(tenant_id: str, domain_id: str) -> Any:
    """Ask whether a domain is to be removed."""
    visit = _visit()
    domain = visit.read(_rest(tenant_id, "domains", domain_id))
    return visit.show("domain_removal.html", domain=domain)


@pages.post("/domains/<domain_id>/removal")
def remove_domain(tenant_id: str, domain_id: str) -> Any:
    """Remove a domain."""
    path = _rest(tenant_id, "domains", domain_id)
    return _follow("DELETE", path, None, _page(tenant_id), "domain-removed")


@pages.get("/providers/new")
def show_new_provider(tenant_id: str) -> Any:
    """Show the form of a new provider."""
    return _show_new(tenant_id)


@pages.post("/providers/new")
def add_provider(tenant_id: str) -> Any:
    """Add a provider, and open its page, which has the redirect URI to register."""
    visit = _visit()
    response = visit.rest("POST", _rest(tenant_id, "identity-providers"), _new_provider())
    if is_form_error(response):
        return _show_new(tenant_id, refusal=response)
    page = _page(tenant_id, "providers", "new")
    if response.error is None:
        page = _page(tenant_id, "providers", response.json["id"])
    return visit.follow(response, page, "provider-added")


@pages.get("/providers/<provider_id>/")
def show_provider(tenant_id: str, provider_id: str) -> Any:
    """Show a provider with its settings."""
    return _show_provider(tenant_id, provider_id)


@pages.post("/providers/<provider_id>/")
def change_provider(tenant_id: str, provider_id: str) -> Any:
    """Change the settings of a provider."""
    form = request.form
    changes = {
        "label": form.get("label", "").strip(),
        "clientId": form.get("clientId", "").strip(),
        "defaultRole": form.get("defaultRole", ""),
        "joins": "joins" in form,
        "addressesVerified": "addressesVerified" in form,
    }
    secret = form.get("clientSecret", "").strip()
    return _change(tenant_id, provider_id, {**changes, **({"clientSecret": secret} if secret else {})})


@pages.post("/providers/<provider_id>/check")
def check_provider(tenant_id: str, provider_id: str) -> Any:
    """Ask the provider for its documents now."""
    visit = _visit()
    response = visit.rest("POST", _rest(tenant_id, "identity-providers", provider_id, "check"))
    page = _page(tenant_id, "providers", provider_id)
    if response.error is None and response.json["problem"] is not None:
        visit.flash(Flash("error.provider-away", {"problem": response.json["problem"]}))
        return visit.redirect(page)
    return visit.follow(response, page, "provider-answers")


@pages.post("/providers/<provider_id>/enforcement")
def enforce_provider(tenant_id: str, provider_id: str) -> Any:
    """Require the provider of members, or leave it to them again."""
    form = request.form
    changes = {"enforced": "enforced" in form, "breakGlassIds": form.getlist("breakGlassIds")}
    return _change(tenant_id, provider_id, changes)


@pages.post("/providers/<provider_id>/rules")
def add_rule(tenant_id: str, provider_id: str) -> Any:
    """Add a rule that gives a group or a role by a claim."""
    form, visit = request.form, _visit()
    rules = visit.read(_rest(tenant_id, "identity-providers", provider_id))["rules"]
    rule = {
        "claim": form.get("claim", "").strip(),
        "value": form.get("value", "").strip(),
        "group": form.get("group") or None,
        "role": form.get("role") or None,
    }
    return _change(tenant_id, provider_id, {"rules": [*rules, rule]}, "rule-added")


@pages.post("/providers/<provider_id>/rules/removal")
def remove_rule(tenant_id: str, provider_id: str) -> Any:
    """Remove a rule, the one that the form has in full."""
    form, visit = request.form, _visit()
    rules = visit.read(_rest(tenant_id, "identity-providers", provider_id))["rules"]
    sent = {name: form.get(name) or None for name in ("claim", "value", "group", "role")}
    rest = [rule for rule in rules if {name: rule[name] for name in sent} != sent]
    return _change(tenant_id, provider_id, {"rules": rest}, "rule-removed")


@pages.get("/providers/<provider_id>/removal")
def ask_about_provider(tenant_id: str, provider_id: str) -> Any:
    """Ask whether a provider is to be removed."""
    visit = _visit()
    provider = visit.read(_rest(tenant_id, "identity-providers", provider_id))
    return visit.show("provider_removal.html", provider=provider)


@pages.post("/providers/<provider_id>/removal")
def remove_provider(tenant_id: str, provider_id: str) -> Any:
    """Remove a provider, and end the logins by it."""
    path = _rest(tenant_id, "identity-providers", provider_id)
    return _follow("DELETE", path, None, _page(tenant_id), "provider-removed")


def _visit() -> SsoVisit:
    visit = current_visit()
    assert isinstance(visit, SsoVisit)  # noqa: S101  the application creates no others
    return visit


def _rest(tenant_id: str, *names: str) -> str:
    return join_path("/api/v1/tenants", tenant_id, *names)


def _page(tenant_id: str, *names: str) -> str:
    return join_path("", tenant_id, *names, "")


def _follow(method: str, path: str, body: Any, page: str, notice: str) -> Any:
    visit = _visit()
    return visit.follow(visit.rest(method, path, body), page, notice)


def _change(
    tenant_id: str, provider_id: str, changes: Mapping[str, Any], notice: str = "provider-saved"
) -> Any:
    visit = _visit()
    path = _rest(tenant_id, "identity-providers", provider_id)
    revision = read_number(request.form.get("revision", ""))
    condition = {} if revision is None else {"revision": revision}
    response = visit.rest("PATCH", path, {**changes, **condition})
    if is_form_error(response):
        return _show_provider(tenant_id, provider_id, refusal=response)
    return visit.follow(response, _page(tenant_id, "providers", provider_id), notice)


def _new_provider() -> Mapping[str, Any]:
    form = request.form
    texts = {
        name: form.get(name, "").strip() for name in ("label", "issuer", "clientId", "clientSecret")
    }
    return {**texts, "addressesVerified": "addressesVerified" in form}


def _show_new(tenant_id: str, **values: Any) -> Any:
    action = f"{_page(tenant_id, 'providers')}new"
    return _visit().show("provider_new.html", action=action, places=PLACES, sent=request.form, **values)


def _show_provider(tenant_id: str, provider_id: str, **values: Any) -> Any:
    visit = _visit()
    provider = visit.read(_rest(tenant_id, "identity-providers", provider_id))
    groups = visit.read_choices(_rest(tenant_id, "groups"), lambda group, _: str(group["name"]))
    return visit.show(
        "provider.html",
        provider=provider,
        administrators=_administrators(visit, tenant_id, provider["breakGlassIds"]),
        groups=groups.data,
        group_names={group["id"]: group["name"] for group in groups.data},
        login_path=visit.base_path + begin_path(provider_id),
        **values,
    )


def _administrators(visit: SsoVisit, tenant_id: str, chosen: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return the ids and names of the administrators of a space, and of those who are chosen."""
    members = visit.read_all(_rest(tenant_id, "members"))
    roles = {item["user"]["$ref"]: item["role"] for item in members.data}
    ids = [user_id for user_id, role in roles.items() if role == "admin" or user_id in chosen]
    labels = visit.host.users.find_labels(ids)
    return [(user_id, labels.get(user_id, user_id)) for user_id in ids]
