"""HTTP server of the simulator."""

from strongroom_simulators.dingtalk.controls import controls
from strongroom_simulators.dingtalk.login_page import LoginPage
from strongroom_simulators.dingtalk.new_interfaces import new_interfaces, refuse_new
from strongroom_simulators.dingtalk.old_interfaces import old_interfaces, refuse_old
from strongroom_simulators.dingtalk.platform import Platform
from strongroom_simulators.dingtalk.refusals import NewRefusal, OldRefusal
from strongroom_simulators.platform_app import PlatformServer


class Simulator(PlatformServer[Platform]):
    """Serves a DingTalk."""

    name = "DingTalk"
    accent = "#0958b3"
    content_type = "application/json"
    routes = (LoginPage.make_routes, new_interfaces, old_interfaces, controls)
    refusals = {NewRefusal: refuse_new, OldRefusal: refuse_old}  # noqa: RUF012  declared by its base
