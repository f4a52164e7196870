"""The composition root: creates the Flask application from the services and their routes."""

from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from flask import Flask

from strongroom.assembly.container import Container, build
from strongroom.assembly.features import FEATURES
from strongroom.assembly.page_templates import require_known_templates
from strongroom.assembly.plugin_host.host_errors import HOST_ERRORS
from strongroom.assembly.plugin_host.page_parts import PageParts
from strongroom.clock import Clock
from strongroom.extensions.api_docs.views import serve_description
from strongroom.extensions.first_start.start_views import StartPages
from strongroom.extensions.invitations.messages import InvitationLinks
from strongroom.extensions.observability.request_tracing import TracingMiddleware
from strongroom.extensions.user_management.link_urls import LinkUrls
from strongroom.foundation.addresses import parse_network
from strongroom.foundation.config import Configuration, ConfigurationError, Settings
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.foundation.plugins.selection import add_plugin_error
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.foundation.translations import Translations
from strongroom.identity.access_keys.verification import AccessKeyAuthenticator
from strongroom.identity.accounts.reauthentication import Reauthentication
from strongroom.identity.sessions.factor_verification import SecondFactors
from strongroom.identity.sessions.login_providers import LoginProviders
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.service import UserLocales
from strongroom.identity.verification.captchas import CaptchaService
from strongroom.identity.verification.link_urls import CodeLinks
from strongroom.plugin_api.authentication import Authenticator
from strongroom.plugin_api.pages import ConsoleSection, LoginLink, MenuItem, SpaceSection
from strongroom.plugin_api.tracing import process_tracer
from strongroom.plugin_api.web import CodePage, InvitationPage, PasswordPage, StartPage
from strongroom.version import __version__
from strongroom.web.feature import Feature
from strongroom.web.http.access import FactorGuard, KeyAuthenticator, TokenAuthenticator
from strongroom.web.http.authenticators import Authenticators
from strongroom.web.http.cookies import HostCookie
from strongroom.web.http.discovery import (
    DISCOVERY,
    discovery_blueprint,
    merge_documents,
)
from strongroom.web.http.dispatch.application import Application
from strongroom.web.http.errors import ErrorNegotiation
from strongroom.web.http.languages import LocaleLookup
from strongroom.web.http.middleware import CloseWhileDraining, CorsMiddleware, RequestMetricsMiddleware
from strongroom.web.http.mounts import BodyLimits, Mount, mount_fault, read_mounted
from strongroom.web.http.openapi import Description
from strongroom.web.http.plugin_routes import PluginRoutes
from strongroom.web.http.preconditions import link_changes
from strongroom.web.http.request import PublicUrl, get_service, register_service
from strongroom.web.http.reserved_routes import RESERVED, reserved_blueprint
from strongroom.web.http.routing import Blueprint, Operation
from strongroom.web.http.trusted_proxies import TrustedProxies
from strongroom.web.pages.account_pages import ACCOUNT_PAGES, AccountPages, well_known_blueprint
from strongroom.web.pages.browsers import Browsers
from strongroom.web.pages.design import OWNER, PageDesign
from strongroom.web.pages.error_pages import negotiate_error
from strongroom.web.pages.page_zones import ZoneStore
from strongroom.web.pages.static_files import STATIC_PREFIX, StaticFilesApplication

T = TypeVar("T")

LinkedPage = PasswordPage | CodePage | InvitationPage
"""A page that links in messages open."""


def create_app(
    configuration: Configuration,
    clock: Clock | None = None,
    *,
    read_only: bool = False,
    features: tuple[Feature, ...] = FEATURES,
) -> Flask:
    """Create the application of one process.

    Args:
        clock: the source of timestamps; the system clock by default.
        read_only: write nothing, to check whether the application can be created.

    Raises:
        ConfigurationError: the configuration is invalid.
    """
    design = PageDesign.of_configuration(configuration)
    container = build(configuration, clock, read_only=read_only, features=features)
    try:
        require_known_templates(configuration, container.selection.plugins.plugins)
    except ConfigurationError:
        container.close()
        raise
    app = container.base.app
    _register_services(app, container, design)
    try:
        _register_routes(app, container)
        container.register_event_sinks()
        container.register_metrics()
        container.registry.require_valid()
    except PluginError as error:
        container.close()
        add_plugin_error(configuration, error)
        configuration.raise_if_invalid()
    _wrap(app, container)
    return app


def _wrap(app: Flask, container: Container) -> None:
    """Add the middlewares.

    Metrics are outside of CORS, so that they count every request, and within traces, so that the access
    log has their ids; the connection header is outermost, so that no response lacks it.
    """
    origins = container.settings.server.cors_origins
    if origins:
        operations = [view for view in app.view_functions.values() if isinstance(view, Operation)]
        app.wsgi_app = CorsMiddleware(  # type: ignore[method-assign]
            app.wsgi_app,
            origins,
            allowed=frozenset().union(*(operation.request_headers for operation in operations)),
            exposed=frozenset().union(*(operation.response_headers for operation in operations)),
        )
    if container.base.metrics or container.settings.logging.requests:
        app.wsgi_app = RequestMetricsMiddleware(app.wsgi_app, container.base.metrics)  # type: ignore[method-assign]
    if tracer := process_tracer():
        proxies = _service(app, TrustedProxies)
        app.wsgi_app = TracingMiddleware(app.wsgi_app, tracer, proxies.is_trusted)  # type: ignore[method-assign]
    app.wsgi_app = CloseWhileDraining(app.wsgi_app)  # type: ignore[method-assign]


def get_container(app: Flask) -> Container:
    """Return the services of an application. The caller of :func:`create_app` must close them."""
    return _service(app, Container)


def _service(app: Flask, kind: type[T]) -> T:
    with app.app_context():
        return get_service(kind)


def _register_services(app: Flask, container: Container, design: PageDesign) -> None:
    settings = container.settings
    networks = tuple(parse_network(text) for text in settings.server.trusted_proxies)
    services: dict[type[Any], object] = {
        Application: app,
        Container: container,
        Browsers: Browsers(container.base.keys, _session_cookie(settings)),
        PageDesign: design,
        ErrorNegotiation: negotiate_error,
        PublicUrl: PublicUrl(settings.public_root),
        SecretKeys: container.base.keys,
        TrustedProxies: TrustedProxies(networks),
        TokenAuthenticator: container.get(AuthorizationService),
        KeyAuthenticator: container.get(AccessKeyAuthenticator),
        FactorGuard: container.get(Reauthentication),
        Translations: container.base.translations,
        LocaleLookup: container.get(UserLocales),
        ZoneStore: container.get(UserLocales),
        **container.known,
    }
    for kind, service in services.items():
        register_service(app, kind, service)


def _session_cookie(settings: Settings) -> HostCookie:
    return HostCookie("strongroom-session", settings.public_root.startswith("https:"))


def _authenticators(container: Container) -> Authenticators:
    authenticators: dict[str, Authenticator] = {}
    for plugin, item in container.hosts.call("register_authenticators"):
        if not isinstance(item, Authenticator):
            raise PluginError(f"{plugin}: {item!r} is not an Authenticator")
        if item.name in authenticators:
            raise PluginError(f"{plugin}: another authenticator has the name {item.name!r}")
        authenticators[item.name] = item
    return Authenticators(authenticators)


def _start_pages(container: Container) -> StartPages:
    pages: list[StartPage] = []
    for plugin, item in container.hosts.call("register_start_pages"):
        if not isinstance(item, StartPage) or "en" not in item.labels:
            raise PluginError(f"{plugin}: {item!r} is no StartPage with an English label")
        if item.is_home and any(page.is_home for page in pages):
            raise PluginError(f"{plugin}: another plugin has the home page, too; enable one of them")
        pages.append(item)
    return StartPages(container.settings.server.base_path, tuple(pages))


def _link_urls(container: Container) -> LinkUrls:
    settings = container.settings
    paths = _page_paths(container, "register_password_pages", PasswordPage)
    if len(paths) > 1 and not settings.users.link_url:
        raise PluginError(f"{' and '.join(paths)} have a page for links; set [users] link_url")
    path = next(iter(paths.values()), None)
    return LinkUrls(settings.users.link_url, path and settings.server.base_path + path)


def _page_url(container: Container, hook: str, kind: type[LinkedPage], use: str) -> str | None:
    """Return the URL of the page for links in messages; ``None``: no plugin has one."""
    settings = container.settings
    paths = _page_paths(container, hook, kind)
    if len(paths) > 1:
        raise PluginError(f"{' and '.join(paths)} have a page for links of {use}; enable one")
    path = next(iter(paths.values()), None)
    # The configured URL and never a header of the request, so that no client chooses where links lead.
    return path and settings.public_root + settings.server.base_path + path


def _page_paths(container: Container, hook: str, kind: type[LinkedPage]) -> dict[str, str]:
    """Return the paths of the pages for links, by plugin."""
    paths = {}
    for plugin, item in container.hosts.call(hook):
        if not isinstance(item, kind) or not item.path.startswith("/"):
            raise PluginError(f"{plugin}: {item!r} is no {kind.__name__} with a path")
        paths[str(plugin)] = item.path
    return paths


def _require_known(authenticators: Authenticators, app: Flask) -> None:
    """Refuse routes that accept an authenticator that no plugin has registered."""
    for endpoint, view in app.view_functions.items():
        unknown = set(getattr(view, "authenticators", ())) - authenticators.names
        if unknown:
            raise PluginError(f"{endpoint} accepts the unknown authenticator {min(unknown)!r}")


def _register_routes(app: Application, container: Container) -> None:
    base_path = container.settings.server.base_path
    hosts = container.hosts
    routes = PluginRoutes(
        app,
        hosts.plugins.slow_hooks,
        base_path,
        hosts.get,
        HOST_ERRORS,
        container.base.rates.names,
        later=(RESERVED, ACCOUNT_PAGES, DISCOVERY),
    )
    blueprints = routes.register(container.registry.blueprints())
    authenticators = _authenticators(container)
    register_service(app, Authenticators, authenticators)
    register_service(app, StartPages, _start_pages(container))
    register_service(app, LinkUrls, _link_urls(container))
    code_page = _page_url(container, "register_code_pages", CodePage, "codes")
    register_service(app, CodeLinks, CodeLinks(code_page))
    invitation_page = _page_url(container, "register_invitation_pages", InvitationPage, "invitations")
    register_service(app, InvitationLinks, InvitationLinks(invitation_page))
    _require_known(authenticators, app)
    reserved = reserved_blueprint(app, base_path)
    reserved.register(app, base_path)
    discovery = _register_discovery(app, container)
    well_known = _well_known(app, container)
    settings = container.settings
    description = Description(
        (*blueprints, reserved, discovery, well_known),
        version=__version__,
        server_url=settings.public_root,
        base_path=base_path,
        errors=(kind for _, kind in container.hosts.call("register_errors")),
    )
    serve_description(app, description, base_path, with_page=settings.serves_api_docs)
    routes.require_distinct()
    routes.require_locations()
    link_changes(app)
    _mount_applications(app, container)


def _register_discovery(app: Application, container: Container) -> Blueprint:
    """Register the documents by which clients discover services, and return their routes."""
    base_path = container.settings.server.base_path
    items = container.hosts.call("register_discovery")
    paths = {rule.rule.removeprefix(base_path) for rule in app.url_map.iter_rules()}
    try:
        documents = merge_documents(((str(plugin), item) for plugin, item in items), paths)
    except ValueError as error:
        raise PluginError(str(error)) from error
    blueprint = discovery_blueprint(documents)
    blueprint.register(app, base_path)
    if base_path:
        # No path of the server but these is outside of the base path.
        discovery_blueprint(documents, base_path).register(app)
    return blueprint


def _well_known(app: Application, container: Container) -> Blueprint:
    """Register the routes that browsers know, as far as no plugin has them, and return them."""
    base_path = container.settings.server.base_path
    pages = AccountPages.from_pages(container.hosts.offered_login_pages)
    register_service(app, AccountPages, pages)
    root, links = container.settings.public_root, container.hosts.page_parts.links
    register_service(app, LoginProviders, LoginProviders(root, base_path, links))
    known = {rule.rule for rule in app.url_map.iter_rules()}
    blueprint = well_known_blueprint(pages, known, base_path)
    blueprint.register(app, base_path)
    return blueprint


def _mount_applications(app: Application, container: Container) -> None:
    """Mount the WSGI applications of plugins."""
    settings, base_path = container.settings, container.settings.server.base_path
    routes = [rule.rule.removeprefix(base_path) for rule in app.url_map.iter_rules()]
    mounts = [_static_mount(app, container)]
    for plugin, item in container.hosts.applications:
        if fault := mount_fault(item, routes, mounts):
            raise PluginError(f"{plugin}: {fault}")
        mounted = read_mounted(item)
        assert mounted is not None  # noqa: S101  checked by mount_fault
        limits = BodyLimits(mounted.large_bodies, settings.files.max_file_bytes)
        mounts.append(Mount(mounted.prefix, mounted.application, str(plugin), limits))
    app.mounts = [replace(mount, prefix=base_path + mount.prefix) for mount in mounts]
    _require_pages(app, container.hosts.page_parts)
    _require_forms(container)


def _require_forms(container: Container) -> None:
    """Refuse second factors and captchas that pages could not show."""
    captchas = container.get(CaptchaService)
    factors = container.get(SecondFactors).methods.values()
    has_pages = container.hosts.offered_login_pages is not None
    container.hosts.forms.require_usable(
        [captchas.provider, captchas.page_provider, *factors], has_pages=has_pages
    )


def _static_mount(app: Application, container: Container) -> Mount:
    folders = {**container.hosts.page_parts.static_folders, OWNER: _service(app, PageDesign).folder}
    return Mount(STATIC_PREFIX, StaticFilesApplication(folders), "the server", BodyLimits())


def _require_pages(app: Application, parts: PageParts) -> None:
    """Refuse login links, items of menus and sections that lead to no page."""
    adapter = app.url_map.bind("")
    items: list[tuple[str, LoginLink | MenuItem | ConsoleSection | SpaceSection]] = [
        *parts.login_links,
        *parts.menu_items,
        *parts.console_sections,
        *parts.space_sections,
    ]
    for plugin, item in items:
        path = parts.base_path + urlsplit(item.path).path
        if not any(mount.covers(path) for mount in app.mounts) and not adapter.test(path, "GET"):
            fault = f"{item.path!r} leads to no page of the server; add a route for it"
            raise PluginError(f'plugin "{plugin}": a {type(item).__name__}: {fault}')
    for plugin, link in parts.login_links:
        request = link.request
        if request is not None and not adapter.test(parts.base_path + request.path, "POST"):
            fault = f"{request.path!r} is no operation of the server by POST"
            raise PluginError(f'plugin "{plugin}": a LoginRequest: {fault}')
