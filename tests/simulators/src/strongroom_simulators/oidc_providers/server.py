"""HTTP server of a provider: its page, its token endpoint, and the routes of its dialect."""

from flask import Flask, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.oidc_providers.authorization_page import authorization_page
from strongroom_simulators.oidc_providers.provider import Provider
from strongroom_simulators.oidc_providers.refusals import Refusal
from strongroom_simulators.platform_app import platform_app
from strongroom_simulators.serving import LocalServer


class Simulator(LocalServer):
    """Serves a provider over HTTP; as a context manager, from a thread.

    Args:
        provider: the provider.
        host: the address to listen on.
        port: the port to listen on; 0 selects a free one.
    """

    def __init__(self, provider: Provider, *, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__(make_app(provider), host=host, port=port)
        self.provider = provider
        provider.url = self.url


def make_app(provider: Provider) -> Flask:
    """Return a provider as a Flask application."""
    app = platform_app(
        __name__,
        name=provider.name,
        accent="#1456b8",
        requests=provider.requests,
        planned=provider.failures,
    )
    app.register_blueprint(authorization_page(provider))
    app.register_blueprint(provider.routes())
    app.register_error_handler(Refusal, provider.refuse)

    def token() -> ResponseReturnValue:
        form = request.args if provider.token_verb == "GET" else request.form
        members = provider.exchange(form.to_dict(), request.headers.get("Authorization"))
        return provider.token_response(members)

    app.add_url_rule(provider.token_path, "token", token, methods=[provider.token_verb])
    return app
