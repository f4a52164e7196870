"""The scopes that clients request."""

import re
from typing import Final

from strongroom.plugin_api.authentication import Scope

OPENID: Final = "openid"
OFFLINE_ACCESS: Final = "offline_access"
CLAIM_SCOPES: Final = ("profile", "email", "phone")
"""The scopes of claims about the user (OpenID Connect Core, section 5.4)."""

GROUPS: Final = "groups"
ROLES: Final = "roles"
ROLE_SCOPES: Final = (GROUPS, ROLES)
"""The scopes of the claims that administrators define for a client."""

LOGIN_SCOPES: Final = (OPENID, *CLAIM_SCOPES, OFFLINE_ACCESS)
"""The scopes of a client that only logs its users in."""

API_SCOPES: Final = tuple(scope.value for scope in Scope)
"""The scopes of the REST API."""

# The characters of RFC 6749, section 3.3.
SCOPE: Final = re.compile(r"[!#-\[\]-~]{1,128}")
