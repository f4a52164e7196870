"""The kinds of plugins: ``strongroom plugins new`` creates them, and ``check`` runs their contracts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import Plugin
from strongroom.plugin_api import Extension
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.factors import SecondFactor
from strongroom.plugin_api.keys import KeyProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.password_schemes import PasswordScheme
from strongroom.plugin_api.scanning import ContentScanner
from strongroom.plugin_api.storage import StorageBackend, StorageWrapper


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of plugin, with templates of the same name.

    Args:
        name: the name in commands and distributions.
        description: a description of a new plugin, as one clause.
        hook: the function of :mod:`strongroom.foundation.plugins.hookspecs` that registers it.
        contract: the contract test class, as ``module.Class`` below ``strongroom.testing``.
        base: the class that its extensions derive from; ``None`` if its hook returns instances.
        behaviour: the module of a new plugin that defines its extension.
        suffix: the suffix of the class name of a new extension.
        requires: the distributions that it needs in addition to the server.
    """

    name: str
    description: str
    hook: str
    contract: str
    base: type[Extension[Any]] | None = None
    behaviour: str = "plugin"
    suffix: str = ""
    requires: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The name of the module that declares its base class; empty without one."""
        return self.base.__module__ if self.base else ""

    @property
    def contract_name(self) -> str:
        """The name of the contract test class."""
        return self.contract.rpartition(".")[2]


KINDS: Final = (
    Kind(
        "storage",
        "Stores Strongroom's files in a folder",
        "register_storage_backends",
        "storage.StorageBackendContract",
        StorageBackend,
        "backend",
        "Backend",
    ),
    Kind(
        "wrapper",
        "Logs the slow calls of another storage",
        "register_storage_wrappers",
        "storage.StorageWrapperContract",
        StorageWrapper,
        "wrapper",
        "Wrapper",
    ),
    Kind(
        "keys",
        "Wraps the keys of encrypted storages",
        "register_key_providers",
        "keys.KeyProviderContract",
        KeyProvider,
        "provider",
        "Keys",
    ),
    Kind(
        "login",
        "Authenticates users with a file of accounts",
        "register_login_methods",
        "login.LoginMethodContract",
        LoginMethod,
        "method",
        "Login",
    ),
    Kind(
        "factor",
        "Asks for a word as a second factor",
        "register_second_factors",
        "factors.SecondFactorContract",
        SecondFactor,
        "factor",
        "Factor",
    ),
    Kind(
        "authenticator",
        "Presents access keys in a header",
        "register_authenticators",
        "authentication.AuthenticatorContract",
        behaviour="header",
    ),
    Kind(
        "captcha",
        "A captcha for Strongroom",
        "register_captcha_providers",
        "captcha.CaptchaProviderContract",
        CaptchaProvider,
        "provider",
        "Captcha",
    ),
    Kind(
        "sender",
        "Sends Strongroom's SMS over HTTP",
        "register_message_senders",
        "messages.MessageSenderContract",
        MessageSender,
        "sender",
        "Sender",
    ),
    Kind(
        "routes",
        "Adds a route about the storage that tenants use",
        "register_blueprints",
        "routes.RoutesContract",
    ),
    Kind(
        "wsgi",
        "Shows a page with the tenants of the caller",
        "register_wsgi_applications",
        "wsgi.WsgiApplicationContract",
    ),
    Kind(
        "redirect",
        "Logs browsers in by a redirect to an identity provider",
        "register_login_links",
        "pages.LoginLinksContract",
        behaviour="method",
        requires=("strongroom-login-oauth",),
    ),
    Kind(
        "pages",
        "Shows a page with the files of the user who is logged in",
        "register_menu_items",
        "pages.SessionPagesContract",
    ),
    Kind(
        "commands",
        "Adds a command that shows the tenants of a user",
        "register_commands",
        "commands.CommandsContract",
    ),
    Kind(
        "events",
        "Appends Strongroom's events to a file",
        "register_event_sinks",
        "events.EventSinkContract",
    ),
    Kind(
        "scan",
        "Refuses uploads of programs",
        "register_content_scanners",
        "scanning.ContentScannerContract",
        ContentScanner,
        "scanner",
        "Scanner",
    ),
    Kind(
        "passwords",
        "Verifies password hashes of another system",
        "register_password_schemes",
        "password_schemes.PasswordSchemeContract",
        PasswordScheme,
        "scheme",
        "Scheme",
    ),
    Kind(
        "job",
        "Warns when a disk of Strongroom is nearly full",
        "register_jobs",
        "state.JobsContract",
    ),
    Kind(
        "metrics",
        "Counts changes of files for Prometheus",
        "register_metrics",
        "metrics.MetricsContract",
    ),
    Kind(
        "table",
        "Keeps notes about a Strongroom server",
        "register_event_types",
        "events.EventTypesContract",
    ),
)

HOOK_CONTRACTS: Final[Mapping[str, str]] = {
    **{kind.hook: kind.contract_name for kind in KINDS if kind.base is None},
    "register_audit_sentences": "AuditSentencesContract",
    "register_code_pages": "CodePagesContract",
    "register_discovery": "DiscoveryContract",
    "register_deactivations": "DeactivationsContract",
    "register_event_subscribers": "EventSubscriberContract",
    "register_file_erasers": "FileErasersContract",
    "register_address_owners": "AddressOwnersContract",
    "register_login_conditions": "LoginConditionsContract",
    "register_invitation_pages": "InvitationPagesContract",
    "register_password_pages": "PasswordPagesContract",
    "register_prune_steps": "PruneStepsContract",
    "register_tables": "TablesContract",
    "register_tenant_erasers": "TenantErasersContract",
    "register_token_types": "TokenTypesContract",
    "register_user_exports": "UserExportsContract",
}
"""The contract of what a hook registers, by the hook. Extensions have the contract of their kind."""


def extension_kind(extension: type[Extension[Any]]) -> Kind:
    """Return the kind of an extension."""
    # The most derived base decides, because a storage wrapper is also a storage.
    return next(kind for base in extension.__mro__ for kind in KINDS if kind.base is base)


def provided_by(manager: PluginManager, plugin: Plugin) -> list[str]:
    """Return the extensions of a plugin, or, if it has none, what its hooks register."""
    extensions = manager.get_extensions(plugin)
    if not extensions:
        return [hook.removeprefix("register_") for hook in manager.get_hooks(plugin)]
    return [f"{extension_kind(extension).name} {extension.name}" for extension in extensions]
