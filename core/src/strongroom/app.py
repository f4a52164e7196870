"""The composition root: creates the Flask application from the services and their routes."""

from dataclasses import fields
from typing import Any

from flask import Flask

from strongroom.accounts.credential_views import blueprint as credentials_blueprint
from strongroom.accounts.setup_views import blueprint as setup_blueprint
from strongroom.accounts.views import blueprint as users_blueprint
from strongroom.addresses import parse_network
from strongroom.assembly.container import Container, build
from strongroom.assembly.fast_path import fast_routes
from strongroom.audit.views import blueprint as audit_blueprint
from strongroom.business_files.views import blueprint as business_files_blueprint
from strongroom.clock import Clock
from strongroom.config import Configuration, Settings
from strongroom.direct_uploads.views import blueprint as direct_uploads_blueprint
from strongroom.files.bundles.views import blueprint as bundles_blueprint
from strongroom.files.change_views import blueprint as file_changes_blueprint
from strongroom.files.events.views import blueprint as file_events_blueprint
from strongroom.files.grant_views import blueprint as permissions_blueprint
from strongroom.files.views import blueprint as files_blueprint
from strongroom.health.views import blueprint as health_blueprint
from strongroom.limits.requests import RequestLimits
from strongroom.plugin_manager import PluginError
from strongroom.plugin_server import PluginServer
from strongroom.sessions.views import blueprint as authorizations_blueprint
from strongroom.tenants.views import blueprint as tenants_blueprint
from strongroom.uploads.views import blueprint as uploads_blueprint
from strongroom.verification.views import blueprint as verification_blueprint
from strongroom.version import __version__
from strongroom.web.components import provide, use
from strongroom.web.cors import CorsMiddleware
from strongroom.web.draining import CloseWhileDraining
from strongroom.web.errors import register_error_handlers
from strongroom.web.fast_path import FastPath
from strongroom.web.guard import TokenVerifier
from strongroom.web.metrics import RequestMetricsMiddleware, register_route_notes
from strongroom.web.openapi import Description, serve_description
from strongroom.web.requests import PublicUrl, TrustedProxies, register_request_hooks
from strongroom.web.reserved import reserved_blueprint
from strongroom.web.wsgi import WsgiApp

MAX_JSON_BYTES = 1024 * 1024

BLUEPRINTS = (
    setup_blueprint,
    users_blueprint,
    credentials_blueprint,
    authorizations_blueprint,
    verification_blueprint,
    tenants_blueprint,
    files_blueprint,
    bundles_blueprint,
    file_events_blueprint,
    file_changes_blueprint,
    permissions_blueprint,
    business_files_blueprint,
    uploads_blueprint,
    direct_uploads_blueprint,
    audit_blueprint,
    health_blueprint,
)


def create_app(
    configuration: Configuration, clock: Clock | None = None, *, fast_path: bool = True
) -> Flask:
    """Create the application of one process.

    Args:
        configuration: the loaded configuration.
        clock: replaces the system clock.
        fast_path: whether frequent requests may bypass Flask.

    Raises:
        ConfigurationError: the configuration is invalid.
    """
    container = build(configuration, clock)
    app = Flask("strongroom", static_folder=None)
    # A path with an empty segment is a 404; by default, Werkzeug redirects to the path without it.
    app.url_map.merge_slashes = False
    app.config["MAX_CONTENT_LENGTH"] = MAX_JSON_BYTES
    app.json.ensure_ascii = False  # type: ignore[attr-defined]  # Flask's own provider has it
    app.json.sort_keys = False  # type: ignore[attr-defined]
    _provide_components(app, container)
    register_request_hooks(app)
    register_error_handlers(app)
    limits = _request_limits(app, container)
    # Counted before and after the routes of plugins are registered, to detect hooks of plugins.
    hooks = _hooks_of_all_requests(app)
    try:
        _register_routes(app, container)
    except PluginError as error:
        container.close()
        configuration.add_error(("plugins", "enabled"), str(error))
        configuration.raise_if_invalid()
    limits.guard_routes(app)
    # The fast path runs no Flask hooks, so a plugin that has registered one disables it.
    if fast_path and _hooks_of_all_requests(app) == hooks:
        app.wsgi_app = _fast_path(app.wsgi_app, container)  # type: ignore[method-assign]
    # The order of the middlewares matters. The metrics are outside of the fast path and CORS, so that
    # they count every request; the connection header is outermost, so that no response lacks it.
    if container.settings.server.cors_origins:
        app.wsgi_app = CorsMiddleware(  # type: ignore[method-assign]
            app.wsgi_app, container.settings.server.cors_origins
        )
    if container.base.metrics or container.settings.logging.requests:
        register_route_notes(app)
        app.wsgi_app = RequestMetricsMiddleware(app.wsgi_app, container.base.metrics)  # type: ignore[method-assign]
    app.wsgi_app = CloseWhileDraining(app.wsgi_app)  # type: ignore[method-assign]
    return app


def _hooks_of_all_requests(app: Flask) -> int:
    """Return the number of hooks that run for every request, those of plugins included."""
    kinds = (app.before_request_funcs, app.after_request_funcs, app.teardown_request_funcs)
    return sum(len(kind.get(None, ())) for kind in (*kinds, app.url_value_preprocessors))


def _fast_path(app: WsgiApp, container: Container) -> FastPath:
    base_path = container.settings.server.base_path
    return FastPath(app, base_path, fast_routes(container), container.identity.authorizations.claims)


def container_of(app: Flask) -> Container:
    """Return the services of an application. The caller of :func:`create_app` must close them."""
    with app.app_context():
        return use(Container)


def _provide_components(app: Flask, container: Container) -> None:
    settings = container.settings
    networks = tuple(parse_network(text) for text in settings.server.trusted_proxies)
    components: dict[type[Any], object] = {
        Container: container,
        PublicUrl: PublicUrl(settings.public_root),
        TrustedProxies: TrustedProxies(networks),
        TokenVerifier: container.identity.authorizations,
        Settings: settings,
        **{type(service): service for service in container.services()},
    }
    for kind, component in components.items():
        provide(app, kind, component)


def _request_limits(app: Flask, container: Container) -> RequestLimits:
    base, settings = container.base, container.settings.limits
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    by_name = {name: rates for name, rates in values.items() if isinstance(rates, tuple)}
    limits = RequestLimits(app, base.limit_backend, by_name, base.keys, base.clock)
    provide(app, RequestLimits, limits)
    return limits


def _register_plugin_routes(app: Flask, container: Container) -> list[Any]:
    base_path = container.settings.server.base_path
    host = PluginServer(container.settings, container.identity.login_methods)
    registered = []
    for plugin, blueprint in container.selection.plugins.call(
        "register_blueprints", host=host, server=host
    ):
        try:
            app.register_blueprint(blueprint, url_prefix=base_path + (blueprint.url_prefix or ""))
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise PluginError(f"{plugin}: a blueprint cannot be registered: {reason}") from error
        registered.append(blueprint)
    return registered


def _register_routes(app: Flask, container: Container) -> None:
    base_path = container.settings.server.base_path
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint, url_prefix=base_path + (blueprint.url_prefix or ""))
    blueprints = (*BLUEPRINTS, *_register_plugin_routes(app, container))
    reserved = reserved_blueprint(app, base_path)
    app.register_blueprint(reserved, url_prefix=base_path or None)
    settings = container.settings
    description = Description(
        (*blueprints, reserved),
        version=__version__,
        server_url=settings.public_root,
        base_path=base_path,
    )
    serve_description(app, description, base_path, with_page=settings.serves_api_docs)
