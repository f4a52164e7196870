"""Names of devices, by the User-Agent of their logins.

A small table: browsers freeze most of the header (RFC 9110, section 10.1.5, asks for no more than that),
so a large one of versions and models would not say more.
"""

import re
from typing import Final

_BROWSERS: Final = {
    "MicroMessenger": "WeChat",
    "AlipayClient": "Alipay",
    "DingTalk": "DingTalk",
    "Edg(e|A|iOS)?/": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "HuaweiBrowser/": "Huawei Browser",
    "MiuiBrowser/": "Mi Browser",
    "(M?QQBrowser|QBCore)/": "QQ Browser",
    "(Firefox|FxiOS)/": "Firefox",
    "(Chrome|CriOS|Chromium)/": "Chrome",
    "Version/.*Safari/": "Safari",
    "strongroom": "strongroom",
    "curl/": "curl",
}
_SYSTEMS: Final = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "(HarmonyOS|OpenHarmony)": "HarmonyOS",
    "Windows": "Windows",
    "Mac OS X|Macintosh": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}
"""The first pattern that matches names the browser or the system: many name others after their own."""


def device_name(user_agent: str) -> tuple[str | None, str | None]:
    """Return the browser and the system of a User-Agent; ``None`` where it is unknown."""
    return _first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent)


def _first(names: dict[str, str], user_agent: str) -> str | None:
    return next((name for pattern, name in names.items() if re.search(pattern, user_agent)), None)
