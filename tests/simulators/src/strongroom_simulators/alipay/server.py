"""HTTP server of the simulator; one address has both the page and the gateway."""

from flask import Flask

from strongroom_simulators.alipay.authorize import authorize_page
from strongroom_simulators.alipay.controls import controls
from strongroom_simulators.alipay.gateway import gateway
from strongroom_simulators.alipay.platform import Platform
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
        name="Alipay",
        accent="#0958d9",
        requests=platform.requests,
        planned=platform.planned,
    )
    app.register_blueprint(authorize_page(platform))
    app.register_blueprint(gateway(platform))
    app.register_blueprint(controls(platform))
    return app
