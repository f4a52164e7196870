"""The stored form of the terms of grants."""

from collections.abc import Mapping
from typing import Any

from strongroom.identity.sessions.access_tokens import GrantedAccess
from strongroom.identity.sessions.models import Authorization
from strongroom.plugin_api.grants import ClientGrant, GrantClient, GrantTerms


def dump_terms(client: GrantClient, terms: GrantTerms, login_id: str | None) -> dict[str, Any]:
    """Return the JSON of a grant's terms, for the row of the authorization."""
    return {
        "scopes": list(terms.scopes),
        "audience": terms.audience,
        "tenantId": terms.tenant_id,
        "offline": terms.offline,
        "refreshable": terms.refreshable,
        "subject": terms.subject,
        "isPublic": client.is_public,
        "loginId": login_id,
    }


def read_grant(row: Authorization) -> ClientGrant:
    """Return the grant of a row."""
    terms = row.terms or {}
    return ClientGrant(
        id=row.id,
        user_id=row.user_id,
        client=GrantClient(row.client_id or "", row.client_name or "", is_public=terms["isPublic"]),
        terms=GrantTerms(
            scopes=tuple(terms["scopes"]),
            audience=terms["audience"],
            tenant_id=terms["tenantId"],
            file_id=row.folder_id,
            offline=terms["offline"],
            refreshable=terms["refreshable"],
            # Grants of former versions have none.
            subject=terms.get("subject"),
        ),
        login_id=terms["loginId"],
        acr=row.acr,
        amr=tuple(row.amr.split()),
        auth_time=row.auth_time,
        created_at=row.created_at,
        last_seen_at=row.last_seen_at,
        expires_at=row.expires_at,
    )


def granted_access(
    grant: ClientGrant, scopes: tuple[str, ...], claims: Mapping[str, Any]
) -> GrantedAccess:
    """Return what an access token of a grant states, with scopes that may be fewer."""
    terms = grant.terms
    return GrantedAccess(scopes, terms.audience, terms.tenant_id, terms.file_id, terms.subject, claims)
