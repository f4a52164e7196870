"""The routes that a stolen token alone must not open: users with a second factor prove it again.

This table is the only place that decides it: :class:`~strongroom.http.routing.Operation` looks its route
up here, and the documentation is generated from here. A route of a plugin may be listed, too.
"""

from collections.abc import Mapping
from typing import Final

CREDENTIALS: Final = "credentials"
FACTORS: Final = "second factors"
KEYS: Final = "access keys"
ACCOUNTS: Final = "accounts"
TENANTS: Final = "tenants"
FILES: Final = "files"

_ACCOUNT_KEYS: Final = "/api/v1/tenants/<tenant_id>/service-accounts/<account_id>/access-keys"

SENSITIVE: Final[Mapping[tuple[str, str], str]] = {
    ("POST", "/users/<user_id>/emails"): CREDENTIALS,
    ("DELETE", "/users/<user_id>/emails"): CREDENTIALS,
    ("POST", "/users/<user_id>/mobiles"): CREDENTIALS,
    ("DELETE", "/users/<user_id>/mobiles"): CREDENTIALS,
    ("PUT", "/users/<user_id>/username"): CREDENTIALS,
    ("PUT", "/users/<user_id>/password"): CREDENTIALS,
    ("POST", "/api/v1/users/<user_id>/wechatIds"): CREDENTIALS,
    ("DELETE", "/api/v1/users/<user_id>/wechatIds"): CREDENTIALS,
    ("POST", "/users/<user_id>/factors"): FACTORS,
    ("POST", "/users/<user_id>/factors/<enrolment_id>/confirmation"): FACTORS,
    ("PATCH", "/users/<user_id>/factors/<factor_id>"): FACTORS,
    ("DELETE", "/users/<user_id>/factors/<factor_id>"): FACTORS,
    ("DELETE", "/users/<user_id>/factors"): FACTORS,
    ("POST", "/users/<user_id>/access-keys"): KEYS,
    ("POST", "/users/<user_id>/access-keys/<key_id>/rotate"): KEYS,
    ("POST", _ACCOUNT_KEYS): KEYS,
    ("POST", f"{_ACCOUNT_KEYS}/<key_id>/rotate"): KEYS,
    ("DELETE", "/users/<user_id>"): ACCOUNTS,
    ("POST", "/users/<user_id>/suspension"): ACCOUNTS,
    ("DELETE", "/users/<user_id>/suspension"): ACCOUNTS,
    ("PATCH", "/api/v1/tenants/<tenant_id>"): TENANTS,
    ("DELETE", "/api/v1/tenants/<tenant_id>"): TENANTS,
    ("PUT", "/api/v1/tenants/<tenant_id>/members/<user_id>"): TENANTS,
    ("DELETE", "/api/v1/tenants/<tenant_id>/members/<user_id>"): TENANTS,
    ("POST", "/api/v1/tenants/<tenant_id>/members/<user_id>/transfer"): TENANTS,
    ("POST", "/api/v1/tenants/<tenant_id>/transfer"): TENANTS,
    ("POST", "/api/v1/tenants/<tenant_id>/service-accounts"): TENANTS,
    ("DELETE", "/api/v1/tenants/<tenant_id>/service-accounts/<account_id>"): TENANTS,
    ("DELETE", "/api/v1/tenants/<tenant_id>/trash"): FILES,
    ("DELETE", "/api/v1/tenants/<tenant_id>/trash/<file_id>"): FILES,
    ("DELETE", "/api/v1/tenants/<tenant_id>/files/<file_id>/versions/<number>"): FILES,
    ("POST", "/api/v1/quarantine/<scan_id>/release"): FILES,
    ("DELETE", "/api/v1/quarantine/<scan_id>"): FILES,
}
"""What each sensitive route changes, by its method and path. Revoking a key or a login is none of them,
because it must be quick."""
