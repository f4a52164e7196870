"""The hooks that a plugin may implement.

Hooks named ``register_...`` only register extensions. The core calls each of them once, while it creates
the application. Such a hook returns classes (or routes,
kinds of errors, click commands) in any order, or an empty list. It may omit arguments that it does not
use.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.authentication import Authenticator
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.deactivation import Deactivate
from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.plugin_api.erasers import FileEraser, TenantEraser
from strongroom.plugin_api.events import AuditedEvent, EventSink, EventSubscriber
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.factors import SecondFactor
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.keys import KeyProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.login_conditions import CheckLogin
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.metrics import Metric
from strongroom.plugin_api.pages import (
    ConsoleSection,
    FindBrand,
    FindLoginRoute,
    LoginLink,
    MenuItem,
    SpaceSection,
    StaticFiles,
)
from strongroom.plugin_api.password_schemes import PasswordScheme
from strongroom.plugin_api.provisioning import FindAddressOwner
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.resources import ResourceKind
from strongroom.plugin_api.scanning import ContentScanner
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.storage import StorageBackend, StorageWrapper
from strongroom.plugin_api.web import (
    Blueprint,
    CodePage,
    ErrorKind,
    InvitationPage,
    MountedApplication,
    PasswordPage,
    StartPage,
)

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from click import Command

hookspec = pluggy.HookspecMarker("strongroom")


@hookspec
def register_storage_backends() -> Iterable[type[StorageBackend[Any]]]:  # type: ignore[empty-body]
    """Return storage backends. A section ``[storages.NAME]`` selects one with ``backend``."""


@hookspec
def register_storage_wrappers() -> Iterable[type[StorageWrapper[Any]]]:  # type: ignore[empty-body]
    """Return storage wrappers. ``backend`` selects one, and ``over`` names the storage below it."""


@hookspec
def register_key_providers() -> Iterable[type[KeyProvider[Any]]]:  # type: ignore[empty-body]
    """Return key providers. ``[keys] provider`` selects one; storage wrappers can use it."""


@hookspec
def register_login_methods() -> Iterable[type[LoginMethod[Any]]]:  # type: ignore[empty-body]
    """Return login methods. ``[login] methods`` lists the enabled ones in the order of use."""


@hookspec
def register_second_factors() -> Iterable[type[SecondFactor[Any]]]:  # type: ignore[empty-body]
    """Return second factors. ``[second_factors] methods`` lists the enabled ones."""


@hookspec
def register_captcha_providers() -> Iterable[type[CaptchaProvider[Any]]]:  # type: ignore[empty-body]
    """Return captcha providers. ``[captcha] provider`` selects one."""


@hookspec
def register_message_senders() -> Iterable[type[MessageSender[Any]]]:  # type: ignore[empty-body]
    """Return message senders. ``[messages]`` lists the senders of each channel in the order of use."""


@hookspec
def register_content_scanners() -> Iterable[type[ContentScanner[Any]]]:  # type: ignore[empty-body]
    """Return content scanners. ``[scanning] scanners`` lists the enabled ones in the order of use."""


@hookspec
def register_password_schemes() -> Iterable[type[PasswordScheme]]:  # type: ignore[empty-body]
    """Return schemes of imported password hashes. The ``algorithm`` of a hash names its scheme."""


@hookspec
def register_blueprints(  # type: ignore[empty-body]
    host: HostAPI,
) -> Iterable[Blueprint]:
    """Return blueprints, created by ``host``, with routes and their OpenAPI descriptions.

    Views run in several worker processes. A global variable of the module is another one in each, so
    data that views share belongs in ``host.values``, ``host.store`` or tables.
    """


@hookspec
def register_event_sinks(host: HostAPI) -> Iterable[EventSink]:  # type: ignore[empty-body]
    """Return event sinks, which receive events after their commit, such as to pass them on to a queue.

    Called in each process that serves requests.
    """


@hookspec
def register_event_subscribers(  # type: ignore[empty-body]
    host: HostAPI,
) -> Iterable[EventSubscriber]:
    """Return functions that are called with events after their commit.

    Called in each process that serves requests.
    """


@hookspec
def register_deactivations(host: HostAPI) -> Iterable[Deactivate]:  # type: ignore[empty-body]
    """Return functions that end secrets of users, such as codes, in the plugin's own tables.

    They are called in the transaction that suspends or deletes a user, changes the type, lets the user
    take the account back from another person, or ends a membership of a tenant.
    """


@hookspec
def register_login_conditions(host: HostAPI) -> Iterable[CheckLogin]:  # type: ignore[empty-body]
    """Return functions that may refuse logins whose proof is right (API 2.0).

    They are called in the transaction of each login, whatever its method is.
    """


@hookspec
def register_address_owners(host: HostAPI) -> Iterable[FindAddressOwner]:  # type: ignore[empty-body]
    """Return functions that know the tenants to which e-mail addresses belong (API 2.0).

    The directory of another tenant creates no user with such an address.
    """


@hookspec
def register_tenant_erasers(host: HostAPI) -> Iterable[TenantEraser]:  # type: ignore[empty-body]
    """Return functions that remove the plugin's data of a tenant, after its grace period (API 2.0).

    The rows about users are removed by :func:`register_deactivations`.
    """


@hookspec
def register_file_erasers(host: HostAPI) -> Iterable[FileEraser]:  # type: ignore[empty-body]
    """Return functions that remove the plugin's rows about files, when these are removed (API 2.0).

    They are called in the transaction that removes a file permanently, also in a folder or a tenant.
    """


@hookspec
def register_prune_steps(host: HostAPI) -> Iterable[PruneStep]:  # type: ignore[empty-body]
    """Return steps that remove the plugin's expired rows (API 2.0).

    The job ``core.prune`` runs them once a day, and ``strongroom prune`` when it is called.
    """


@hookspec
def register_resource_kinds() -> Iterable[ResourceKind]:  # type: ignore[empty-body]
    """Return the kinds of resources that a file may declare for ``strongroom apply`` (API 2.0)."""


@hookspec
def register_user_exports(host: HostAPI) -> Iterable[UserExport]:  # type: ignore[empty-body]
    """Return files with the plugin's data about a user, in the archive that users can have of theirs."""


@hookspec
def register_event_types() -> Iterable[AuditedEvent]:  # type: ignore[empty-body]
    """Return the types of events for what the plugin records by ``host.audit``, and for alarms.

    They are delivered, listed and documented as the core's events.
    """


@hookspec
def register_audit_sentences() -> Iterable[AuditSentence]:  # type: ignore[empty-body]
    """Return what people read about the records that the plugin makes by ``host.audit`` (API 2.0)."""


@hookspec
def register_wsgi_applications(  # type: ignore[empty-body]
    host: HostAPI,
) -> Iterable["tuple[str, WSGIApplication] | MountedApplication"]:
    """Return WSGI applications (PEP 3333), each with the path prefix below which it serves all requests.

    A prefix is one that no route of the server begins with, such as ``/browse``. A request body has at
    most 64 KiB, unless a :class:`~strongroom.plugin_api.web.MountedApplication` declares larger ones for
    a route.
    """


@hookspec
def register_start_pages() -> Iterable[StartPage]:  # type: ignore[empty-body]
    """Return pages for people, such as one to log in. The start page of the server links to them."""


@hookspec
def register_login_links(host: HostAPI) -> Iterable[LoginLink]:  # type: ignore[empty-body]
    """Return buttons of the login page, each of which begins a login in another way."""


@hookspec
def register_login_routes(host: HostAPI) -> Iterable[FindLoginRoute]:  # type: ignore[empty-body]
    """Return functions that find the login which a name leads to, such as one of a company.

    With one, the login page asks for the name first, and for the password afterwards.
    """


@hookspec
def register_menu_items(host: HostAPI) -> Iterable[MenuItem]:  # type: ignore[empty-body]
    """Return items of the menu that pages show to users who are logged in."""


@hookspec
def register_console_sections() -> Iterable[ConsoleSection]:  # type: ignore[empty-body]
    """Return pages for administrators of the server, for the sidebar of the console's server pages."""


@hookspec
def register_space_sections() -> Iterable[SpaceSection]:  # type: ignore[empty-body]
    """Return pages of a space, which is a tenant, for the sidebar of the console's pages of spaces."""


@hookspec
def register_page_brands(host: HostAPI) -> Iterable[FindBrand]:  # type: ignore[empty-body]
    """Return functions that find the brand of the application which a login leads to, by its path."""


@hookspec
def register_static_files() -> Iterable[StaticFiles]:  # type: ignore[empty-body]
    """Return the folder with scripts, styles and pictures of the plugin's pages.

    ``{{ static("NAME") }}`` in templates gives the path of a file, which
    browsers may cache for a year. The suffix decides the type; there is no list of the files.
    """


@hookspec
def register_password_pages() -> Iterable[PasswordPage]:  # type: ignore[empty-body]
    """Return the page on which users set a password by a link. ``[users] link_url`` replaces it."""


@hookspec
def register_code_pages() -> Iterable[CodePage]:  # type: ignore[empty-body]
    """Return the page of links in e-mails with login codes. Without it, they have no links."""


@hookspec
def register_invitation_pages() -> Iterable[InvitationPage]:  # type: ignore[empty-body]
    """Return the page of links in e-mails with invitations. Without it, they have a code."""


@hookspec
def register_authenticators(host: HostAPI) -> Iterable[Authenticator]:  # type: ignore[empty-body]
    """Return authenticators. A route accepts one by its name, ``authenticators=("NAME",)``."""


@hookspec
def register_errors() -> Iterable[ErrorKind]:  # type: ignore[empty-body]
    """Return the kinds of error responses of the plugin's routes and login methods."""


@hookspec
def register_discovery(host: HostAPI) -> Iterable[DiscoveryDocument]:  # type: ignore[empty-body]
    """Return documents at ``/.well-known/NAME``, by which clients discover a service (API 2.0).

    The members of all plugins form one document. Scripts of any origin may read it, and clients may
    store it for minutes.
    """


@hookspec
def register_token_types() -> Iterable[str]:  # type: ignore[empty-body]
    """Return the types of tokens that the plugin signs by ``host.signing``, such as ``JWT`` (API 2.0).

    A server with such a plugin has an asymmetric key, and refuses to start without one. Also for access
    tokens of other services, see :class:`~strongroom.plugin_api.grants.GrantsAPI`.
    """


@hookspec
def register_commands(host: HostAPI) -> Iterable["Command"]:  # type: ignore[empty-body]
    """Return subcommands for ``strongroom``. Groups of one name become one group.

    Called for each command and for ``strongroom --help``. The server's services are opened when a
    command first uses the data of ``host``.
    """


@hookspec
def start(host: HostAPI) -> None:
    """Start the plugin in a serving process, before its first request.

    Called once in each server process, and not by commands. The server is ready once it has returned in
    all of them. If it raises, the server does not start.
    Threads must be started here, because the modules of plugins are imported before the processes fork.
    """


@hookspec
def stop() -> None:
    """Stop what :func:`start` has started, while ``host`` can still be used.

    Called once in each server process, after its last request. Exceptions are logged.
    """


@hookspec
def register_jobs(host: HostAPI) -> Iterable[Job]:  # type: ignore[empty-body]
    """Return recurring jobs. All servers of a database together run each once per interval."""


@hookspec
def register_metrics(host: HostAPI) -> Iterable[Metric]:  # type: ignore[empty-body]
    """Return the plugin's metrics, for ``/metrics`` of the management interface.

    Called in each process that serves requests, and in the management interface's, which reads
    the gauges.
    """


@hookspec
def register_tables() -> PluginTables:  # type: ignore[empty-body]
    """Return the plugin's own tables and their migrations."""


@hookspec
def register_options() -> type[Any]:  # type: ignore[empty-body]
    """Return the type of the plugin's options, a frozen dataclass whose fields are made by ``option()``.

    The section ``[plugins.NAME]`` contains their values, and ``host.options`` is the result.
    """
