"""HTTP server of the simulator."""

from strongroom_simulators.platform_app import PlatformServer
from strongroom_simulators.wechat.answers import CONTENT_TYPE, refuse
from strongroom_simulators.wechat.controls import controls
from strongroom_simulators.wechat.mini_program import mini_program_interfaces
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.qr_page import QRPage
from strongroom_simulators.wechat.refusals import Refusal
from strongroom_simulators.wechat.website import website_interfaces


class Simulator(PlatformServer[Platform]):
    """Serves a WeChat."""

    name = "WeChat"
    accent = "#1a6b3c"
    content_type = CONTENT_TYPE
    routes = (QRPage.make_routes, website_interfaces, mini_program_interfaces, controls)
    refusals = {Refusal: refuse}  # noqa: RUF012  declared by its base
