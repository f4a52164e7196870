"""HTTP server of the simulator."""

from flask import Flask

from strongroom_simulators.dingtalk.controls import controls
from strongroom_simulators.dingtalk.login_page import login_page
from strongroom_simulators.dingtalk.new_interfaces import new_interfaces, refuse_new
from strongroom_simulators.dingtalk.old_interfaces import old_interfaces, refuse_old
from strongroom_simulators.dingtalk.platform import Platform
from strongroom_simulators.dingtalk.refusals import NewRefusal, OldRefusal
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
        name="DingTalk",
        accent="#0958b3",
        requests=platform.requests,
        planned=platform.failures,
        content_type="application/json",
    )
    for routes in (login_page, new_interfaces, old_interfaces, controls):
        app.register_blueprint(routes(platform))
    app.register_error_handler(NewRefusal, refuse_new)
    app.register_error_handler(OldRefusal, refuse_old)
    return app
