"""HTTP server of the simulator."""

from strongroom_simulators.platform_app import PlatformServer
from strongroom_simulators.wecom.controls import controls
from strongroom_simulators.wecom.interfaces import interfaces, refuse
from strongroom_simulators.wecom.pages import LoginPages
from strongroom_simulators.wecom.platform import Platform
from strongroom_simulators.wecom.refusals import Refusal


class Simulator(PlatformServer[Platform]):
    """Serves a WeCom."""

    name = "WeCom"
    accent = "#1d5fa8"
    content_type = "application/json"
    routes = (LoginPages.make_routes, interfaces, controls)
    refusals = {Refusal: refuse}  # noqa: RUF012  declared by its base
