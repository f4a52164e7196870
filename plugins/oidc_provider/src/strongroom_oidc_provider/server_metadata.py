"""What the server says about itself (OpenID Connect Discovery; RFC 8414)."""

from typing import Any

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.claims import CLAIMS
from strongroom_oidc_provider.consents.folders import DETAIL_TYPE
from strongroom_oidc_provider.documents.client import PRIVATE_KEY_JWT
from strongroom_oidc_provider.logins.assurance import ACR_VALUES
from strongroom_oidc_provider.oauth.assertions import ALGORITHMS
from strongroom_oidc_provider.oauth.client import CODE_METHODS, GRANT_TYPES, SECRET_METHODS
from strongroom_oidc_provider.oauth.rules import PROMPTS
from strongroom_oidc_provider.options import OFF
from strongroom_oidc_provider.scopes import API_SCOPES, LOGIN_SCOPES, ROLE_SCOPES


def get_server_metadata(host: HostAPI) -> dict[str, Any]:
    """Return the members of ``oauth-authorization-server``."""
    root, methods = f"{host.public_url}/oauth2", _get_methods(host)
    return {
        "issuer": host.signing.issuer,
        "authorization_endpoint": f"{root}/authorize",
        "token_endpoint": f"{root}/token",
        "pushed_authorization_request_endpoint": f"{root}/par",
        "require_pushed_authorization_requests": False,
        "device_authorization_endpoint": f"{root}/device-authorization",
        "revocation_endpoint": f"{root}/revoke",
        "introspection_endpoint": f"{root}/introspect",
        "jwks_uri": f"{host.public_url}/.well-known/jwks.json",
        "scopes_supported": [*LOGIN_SCOPES, *ROLE_SCOPES, *API_SCOPES],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "introspection_endpoint_auth_methods_supported": list(SECRET_METHODS),
        "authorization_response_iss_parameter_supported": True,
        "authorization_details_types_supported": [DETAIL_TYPE],
        **_describe_device_client(host),
        **_describe_registration(host),
        **_describe_documents(host),
    }


def get_provider_metadata(host: HostAPI) -> dict[str, Any]:
    """Return the members of ``openid-configuration``."""
    return {
        **get_server_metadata(host),
        "userinfo_endpoint": f"{host.public_url}/oauth2/userinfo",
        "end_session_endpoint": f"{host.public_url}/oauth2/end-session",
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [host.signing.algorithm],
        "claims_supported": [
            *CLAIMS,
            "iss",
            "aud",
            "exp",
            "iat",
            "auth_time",
            "acr",
            "amr",
            "nonce",
            "at_hash",
            "sid",
            *ROLE_SCOPES,
        ],
        "acr_values_supported": list(ACR_VALUES),
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "claim_types_supported": ["normal", "distributed"],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "prompt_values_supported": sorted(PROMPTS),
    }


def _get_methods(host: HostAPI) -> list[str]:
    return [method for method in CODE_METHODS if _has_documents(host) or method != PRIVATE_KEY_JWT]


def _describe_device_client(host: HostAPI) -> dict[str, Any]:
    client_id = host.options.device_client
    return {"strongroom_device_client": client_id} if client_id else {}


def _describe_registration(host: HostAPI) -> dict[str, Any]:
    is_off = host.options.registration == OFF
    return {} if is_off else {"registration_endpoint": f"{host.public_url}/oauth2/register"}


def _describe_documents(host: HostAPI) -> dict[str, Any]:
    if not _has_documents(host):
        return {}
    return {
        "client_id_metadata_document_supported": True,
        "token_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
        "revocation_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
    }


def _has_documents(host: HostAPI) -> bool:
    return bool(host.options.client_documents != OFF)
