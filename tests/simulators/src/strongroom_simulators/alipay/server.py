"""HTTP server of the simulator; one address has both the page and the gateway."""

from strongroom_simulators.alipay.authorize import AuthorizePage
from strongroom_simulators.alipay.controls import controls
from strongroom_simulators.alipay.gateway import gateway
from strongroom_simulators.alipay.platform import Platform
from strongroom_simulators.platform_app import PlatformServer


class Simulator(PlatformServer[Platform]):
    """Serves an Alipay."""

    name = "Alipay"
    accent = "#0958d9"
    routes = (AuthorizePage.make_routes, gateway, controls)
