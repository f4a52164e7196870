"""HTTP server of the simulator; one address has both the accounts and the open platform."""

from strongroom_simulators.feishu.answers import refuse
from strongroom_simulators.feishu.authorize import AuthorizePage
from strongroom_simulators.feishu.controls import controls
from strongroom_simulators.feishu.interfaces import interfaces
from strongroom_simulators.feishu.platform import Platform
from strongroom_simulators.feishu.refusals import Refusal
from strongroom_simulators.feishu.token_endpoints import token_endpoints
from strongroom_simulators.platform_app import PlatformServer


class Simulator(PlatformServer[Platform]):
    """Serves a Feishu or Lark."""

    name = "Feishu"
    accent = "#2b50d8"
    content_type = "application/json"
    routes = (AuthorizePage.make_routes, token_endpoints, interfaces, controls)
    refusals = {Refusal: refuse}  # noqa: RUF012  declared by its base
