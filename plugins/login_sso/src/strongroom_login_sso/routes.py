"""The routes of administrators of tenants, and the one by which a login page finds a provider."""

from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlsplit

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.request import current_host, get_service
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Access, Blueprint, Location
from strongroom_login_oauth.errors import ProviderError
from strongroom_login_sso.errors import (
    DOMAIN_LIMIT,
    DOMAIN_LISTED,
    DOMAIN_NOT_PROVEN,
    DOMAIN_REFUSED,
    DOMAIN_TAKEN,
    DOMAIN_UNCHECKED,
    DOMAIN_UNKNOWN,
    FORBIDDEN,
    NO_BREAK_GLASS,
    NOT_TRIED,
    PROVIDER_LIMIT,
    PROVIDER_OUTDATED,
    PROVIDER_REFUSED,
    PROVIDER_UNKNOWN,
)
from strongroom_login_sso.identity_providers import ProviderView
from strongroom_login_sso.method import SsoLogin
from strongroom_login_sso.models import Domain, TenantProvider
from strongroom_login_sso.paths import SELECTOR, begin_path, redirect_path
from strongroom_login_sso.schemas import (
    CheckedSchema,
    DomainSchema,
    IdentityProviderChangesSchema,
    IdentityProviderSchema,
    LoginRouteRequestSchema,
    LoginRouteSchema,
    NewDomainSchema,
    NewIdentityProviderSchema,
)
from strongroom_login_sso.service import SingleSignOn
from strongroom_login_sso.tenant_domains import record_name, record_value

Json = dict[str, Any]

_TENANT: Final = "/api/v1/tenants/<tenant_id>"
_DOMAINS: Final = f"{_TENANT}/domains"
_DOMAIN: Final = f"{_DOMAINS}/<domain_id>"
_PROVIDERS: Final = f"{_TENANT}/identity-providers"
_PROVIDER: Final = f"{_PROVIDERS}/<provider_id>"

LOOKUPS: Final = ("60/minute", "600/hour")
"""Per address: login pages look up each address that is entered."""
CHECKS: Final = ("60/hour",)
"""Per tenant: each check sends requests to a server that the tenant names."""

routes = Blueprint(
    "single-sign-on",
    description="Single sign-on of tenants: their domains, and their identity providers.",
    parameters={
        "domain_id": "Id of the domain, as in the list of domains",
        "provider_id": "Id of the provider, as in the list of identity providers",
    },
)


@routes.operation(
    "POST",
    _DOMAINS,
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    body=NewDomainSchema,
    returns=DomainSchema,
    status=201,
    errors=(FORBIDDEN, DOMAIN_REFUSED, DOMAIN_LISTED, DOMAIN_LIMIT),
    location=Location("single-sign-on.get_tenant_domain", {"domain_id": "id"}),
)
def create_tenant_domain(tenant_id: str, body: Json) -> Json:
    """Claim a domain for a tenant, as an administrator of the tenant.

    It logs in no one before `verifyTenantDomain` has found the TXT record of the answer in DNS.
    """
    return _domain(get_service(SingleSignOn).domains.create(tenant_id, body["domain"]))


@routes.operation(
    "GET",
    _DOMAINS,
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(DomainSchema),
    errors=(FORBIDDEN,),
)
def list_tenant_domains(tenant_id: str, query: Json) -> Any:
    """List the domains of a tenant, sorted by name.

    Only administrators of the tenant see them, because each has the text that proves it.
    """
    page = get_service(SingleSignOn).domains.list(tenant_id, query)
    return current_host().lists.collection(page.map(_domain), query)


@routes.operation(
    "GET", _DOMAIN, access=Access.USER, returns=DomainSchema, errors=(FORBIDDEN, DOMAIN_UNKNOWN)
)
def get_tenant_domain(tenant_id: str, domain_id: str) -> Json:
    """Get a domain of a tenant.

    It has the name and the text of the TXT record that proves it, for administrators of the tenant.
    """
    return _domain(get_service(SingleSignOn).domains.get(tenant_id, domain_id))


@routes.operation(
    "DELETE",
    _DOMAIN,
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    returns=DoneSchema,
    errors=(FORBIDDEN, DOMAIN_UNKNOWN),
)
def delete_tenant_domain(tenant_id: str, domain_id: str) -> Json:
    """Give up a domain.

    People with such addresses no longer log in by single sign-on, at once.
    """
    get_service(SingleSignOn).domains.delete(tenant_id, domain_id)
    return {"success": True}


@routes.operation(
    "POST",
    f"{_DOMAIN}/verification",
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    returns=DomainSchema,
    errors=(FORBIDDEN, DOMAIN_UNKNOWN, DOMAIN_NOT_PROVEN, DOMAIN_TAKEN, DOMAIN_UNCHECKED),
)
def verify_tenant_domain(tenant_id: str, domain_id: str) -> Json:
    """Look up the TXT record of a domain now.

    The server repeats it once a day. A domain is of one tenant at a time: another one's proof counts
    once the record of the former has disappeared.
    """
    return _domain(get_service(SingleSignOn).domains.verify(tenant_id, domain_id))


@routes.operation(
    "POST",
    _PROVIDERS,
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    body=NewIdentityProviderSchema,
    returns=IdentityProviderSchema,
    status=201,
    errors=(FORBIDDEN, PROVIDER_REFUSED, PROVIDER_LIMIT),
    location=Location("single-sign-on.get_identity_provider", {"provider_id": "id"}),
)
def create_identity_provider(tenant_id: str, body: Json) -> Json:
    """Add an OpenID provider to a tenant, as an administrator of the tenant.

    Register the `redirectUri` of the answer at the provider.
    """
    return _provider(get_service(SingleSignOn).providers.create(tenant_id, body))


@routes.operation(
    "GET",
    _PROVIDERS,
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(IdentityProviderSchema),
    errors=(FORBIDDEN,),
)
def list_identity_providers(tenant_id: str, query: Json) -> Any:
    """List the identity providers of a tenant, the oldest first.

    Only administrators of the tenant see their settings; people see the one of their address.
    """
    page = get_service(SingleSignOn).providers.list(tenant_id, query)
    return current_host().lists.collection(page.map(_provider), query)


@routes.operation(
    "GET",
    _PROVIDER,
    access=Access.USER,
    returns=IdentityProviderSchema,
    errors=(FORBIDDEN, PROVIDER_UNKNOWN),
)
def get_identity_provider(tenant_id: str, provider_id: str) -> Json:
    """Get an identity provider of a tenant.

    The secret of its client is in no answer.
    """
    return _provider(get_service(SingleSignOn).providers.get(tenant_id, provider_id))


@routes.operation(
    "PATCH",
    _PROVIDER,
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    body=IdentityProviderChangesSchema,
    returns=IdentityProviderSchema,
    errors=(
        FORBIDDEN,
        PROVIDER_UNKNOWN,
        PROVIDER_REFUSED,
        PROVIDER_OUTDATED,
        NOT_TRIED,
        NO_BREAK_GLASS,
    ),
)
def update_identity_provider(tenant_id: str, provider_id: str, body: Json, revision: int | None) -> Json:
    """Change an identity provider, or enforce it.

    It can be enforced within an hour after an administrator of the tenant has logged in by it, and with
    a break-glass administrator. It ends the other logins of the members with such addresses; access keys
    stay. The issuer never changes.
    """
    changes = {name: value for name, value in body.items() if name != "revision"}
    return _provider(
        get_service(SingleSignOn).providers.update(tenant_id, provider_id, changes, revision)
    )


@routes.operation(
    "DELETE",
    _PROVIDER,
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    returns=DoneSchema,
    errors=(FORBIDDEN, PROVIDER_UNKNOWN, PROVIDER_OUTDATED),
)
def delete_identity_provider(tenant_id: str, provider_id: str, revision: int | None) -> Json:
    """Delete an identity provider.

    The logins that were made by it end. A new one with the same issuer has a new id, so its people
    are connected again by their addresses.
    """
    get_service(SingleSignOn).providers.delete(tenant_id, provider_id, revision)
    return {"success": True}


@routes.operation(
    "POST",
    f"{_PROVIDER}/check",
    access=Access.USER,
    returns=CheckedSchema,
    errors=(FORBIDDEN, PROVIDER_UNKNOWN),
)
def check_identity_provider(tenant_id: str, provider_id: str) -> Json:
    """Check an identity provider now.

    The server fetches the discovery document and the keys; `problem` says what is wrong with them.
    """
    host = current_host()
    provider = get_service(SingleSignOn).providers.get(tenant_id, provider_id).provider
    host.limits.check_rate("provider_checks", CHECKS, tenant_id)
    login = host.extension(SsoLogin)
    assert login is not None  # noqa: S101  the route exists only with it
    try:
        login.check(provider)
    except (ProviderError, ValueError) as error:
        return {"problem": str(error)}
    return {"problem": None}


def _count_lookup() -> None:
    current_host().limits.check_rate("login_routes", LOOKUPS)


@routes.operation(
    "POST",
    "/api/v1/login-routes",
    access=Access.PUBLIC,
    body=LoginRouteRequestSchema,
    returns=LoginRouteSchema,
    limit=_count_lookup,
)
def find_login_route(body: Json) -> Json:
    """Find the identity provider that people with an e-mail address log in by.

    It depends on the domain of the address only, so it does not reveal whether there is an account.
    """
    return _route(get_service(SingleSignOn).find_route(body["email"]))


def _domain(domain: Domain) -> Json:
    proofs = get_service(SingleSignOn).proofs
    return {
        **asdict(domain),
        "is_proven": proofs.is_proven(domain),
        "ends_at": proofs.ends_at(domain),
        "record_name": record_name(domain),
        "record_value": record_value(domain),
    }


def _provider(view: ProviderView) -> Json:
    return {
        **asdict(view.provider),
        "break_glass_ids": list(view.break_glass_ids),
        "redirect_uri": f"{current_host().public_url}{redirect_path(view.provider.id)}",
    }


def _route(route: tuple[TenantProvider, bool] | None) -> Json:
    if route is None:
        return {"provider": None, "enforced": False}
    host, (provider, enforced) = current_host(), route
    base = urlsplit(host.public_url).path
    member = {
        "name": provider.id,
        "displayName": provider.label,
        "loginUrl": f"{host.public_url}{begin_path(provider.id)}",
        "request": {
            "path": f"{base}{SsoLogin.request_path()}",
            "body": {SELECTOR: provider.id},
        },
    }
    return {"provider": member, "enforced": enforced}
