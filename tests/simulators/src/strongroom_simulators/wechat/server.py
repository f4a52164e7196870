"""HTTP server of the simulator."""

from flask import Flask

from strongroom_simulators.platform_app import platform_app
from strongroom_simulators.serving import LocalServer
from strongroom_simulators.wechat.answers import CONTENT_TYPE, refuse
from strongroom_simulators.wechat.controls import controls
from strongroom_simulators.wechat.mini_program import mini_program_interfaces
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.qr_page import qr_page
from strongroom_simulators.wechat.refusals import Refusal
from strongroom_simulators.wechat.website import website_interfaces


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
        name="WeChat",
        accent="#1a6b3c",
        requests=platform.requests,
        planned=platform.failures,
        content_type=CONTENT_TYPE,
    )
    app.register_blueprint(qr_page(platform))
    app.register_blueprint(website_interfaces(platform))
    app.register_blueprint(mini_program_interfaces(platform))
    app.register_blueprint(controls(platform))
    app.register_error_handler(Refusal, refuse)
    return app
