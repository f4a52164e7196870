"""The states that contacts of each platform never have, with the reasons: all installed platforms.

``tests/contracts/test_platforms.py`` compares the names with the plugins that are installed.
"""

from collections.abc import Mapping
from typing import Final

from strongroom_login_oauth.testing import PROVEN, TRUSTED, UNPROVEN

_BY_ADMINISTRATORS: Final = "administrators of companies enter contacts, so none is read"
_NOT_VERIFIED: Final = "the platform does not say which addresses it has verified"
_NONE: Final = "the platform states no contacts"

NEVER: Final[Mapping[str, Mapping[str, str]]] = {
    "alipay": dict.fromkeys((UNPROVEN, PROVEN, TRUSTED), _NONE),
    "dingtalk": {},
    "feishu": dict.fromkeys((PROVEN, TRUSTED), _BY_ADMINISTRATORS),
    "wechat": {UNPROVEN: "a mini program gets only numbers that WeChat has verified"},
    "wecom": {},
    "openid": {},
    "apple": {},
    "authentik": {},
    "casdoor": {},
    "gitee": {},
    "github": {},
    "gitlab": {},
    "google": {},
    "keycloak": {},
    "logto": {},
    "microsoft": dict.fromkeys((PROVEN, TRUSTED), _NOT_VERIFIED),
    "qq": dict.fromkeys((UNPROVEN, PROVEN, TRUSTED), _NONE),
    "zitadel": {},
}
"""The reasons by state, by the name of a login method; by that of a preset for ``login_oidc``."""
