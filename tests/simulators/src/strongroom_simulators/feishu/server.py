"""HTTP server of the simulator; one address has both the accounts and the open platform."""

from flask import Flask

from strongroom_simulators.feishu.answers import refuse
from strongroom_simulators.feishu.authorize import authorize_page
from strongroom_simulators.feishu.controls import controls
from strongroom_simulators.feishu.interfaces import interfaces
from strongroom_simulators.feishu.platform import Platform
from strongroom_simulators.feishu.refusals import Refusal
from strongroom_simulators.feishu.token_endpoints import token_endpoints
from strongroom_simulators.platform_app import platform_app
from strongroom_simulators.serving import LocalServer


class Simulator(LocalServer):
    """Serves a platform over HTTP; as a context manager, from a thread.

    Args:
        platform: the platform.
        host: the address to listen on.
        port: the port to listen on; 0 selects a free one.
    """

    def __init__(self, platform: Platform, *, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__(make_app(platform), host=host, port=port)
        self.platform = platform


def make_app(platform: Platform) -> Flask:
    """Return the platform as a Flask application."""
    app = platform_app(
        __name__,
        name="Feishu",
        accent="#2b50d8",
        requests=platform.requests,
        planned=platform.planned,
        content_type="application/json",
    )
    app.register_blueprint(authorize_page(platform))
    app.register_blueprint(token_endpoints(platform))
    app.register_blueprint(interfaces(platform))
    app.register_blueprint(controls(platform))
    app.register_error_handler(Refusal, refuse)
    return app
