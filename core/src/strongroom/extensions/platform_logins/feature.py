"""Logins that platforms end, by their plugins."""

from strongroom.web.feature import Feature


class PlatformLoginsFeature(Feature):
    """Logins by the credentials of platforms. It has no route: plugins use it as ``host.logins``."""

    services = "services:PlatformLoginServices"
