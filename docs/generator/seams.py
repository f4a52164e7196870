"""The seams of the plugin API: one row per hook, for the tutorials and the contracts.

A test fails for a hook without a row, and for a row that names something that does not exist.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Seam:
    """A hook, and what plugin authors find about it.

    Args:
        hook: the function of :mod:`strongroom.foundation.plugins.hookspecs`.
        purpose: completes "I want to ..." in the table of docs/tutorials/index.md.
        kind: the kind of plugin whose templates implement the hook; empty: none, the page has a part of
            the code of ``user``.
        page: the page in docs/tutorials, without ``.md``.
        contract: the contract test class, as ``module.Class`` below ``strongroom.testing``.
        user: the module of a built-in or distributed plugin, or of an example, that implements the hook.
    """

    hook: str
    purpose: str
    kind: str
    page: str
    contract: str
    user: str

    @property
    def contract_name(self) -> str:
        """The name of the contract test class."""
        return self.contract.rpartition(".")[2]


SEAMS: Final = (
    Seam(
        "register_storage_backends",
        "store the bytes of files in another place",
        kind="storage",
        page="storage",
        contract="storage.StorageBackendContract",
        user="strongroom_storage_local.plugin",
    ),
    Seam(
        "register_storage_wrappers",
        "change what another storage stores, such as encrypt it",
        kind="wrapper",
        page="wrapper",
        contract="storage.StorageWrapperContract",
        user="strongroom_storage_encrypted.plugin",
    ),
    Seam(
        "register_key_providers",
        "keep the master key of encrypted storages in another place",
        kind="keys",
        page="keys",
        contract="keys.KeyProviderContract",
        user="strongroom.builtin.key_file",
    ),
    Seam(
        "register_login_methods",
        "verify logins in another way, such as with a directory or an identity provider",
        kind="login",
        page="login",
        contract="login.LoginMethodContract",
        user="strongroom_login_sms.plugin",
    ),
    Seam(
        "register_second_factors",
        "ask for another proof after the password, such as a code of an app",
        kind="factor",
        page="second_factor",
        contract="factors.SecondFactorContract",
        user="strongroom_factor_totp.plugin",
    ),
    Seam(
        "register_authenticators",
        "let programs present access keys in another way than `Authorization: Bearer`",
        kind="authenticator",
        page="authenticator",
        contract="authentication.AuthenticatorContract",
        user="strongroom.builtin.basic",
    ),
    Seam(
        "register_captcha_providers",
        "distinguish people from programs with another captcha",
        kind="captcha",
        page="captcha",
        contract="captcha.CaptchaProviderContract",
        user="strongroom.builtin.image_captcha",
    ),
    Seam(
        "register_message_senders",
        "deliver SMS or e-mails through another gateway",
        kind="sender",
        page="sender",
        contract="messages.MessageSenderContract",
        user="strongroom.builtin.smtp",
    ),
    Seam(
        "register_blueprints",
        "add routes to the REST API, or hooks of all requests",
        kind="routes",
        page="routes",
        contract="routes.RoutesContract",
        user="strongroom_login_wechat.plugin",
    ),
    Seam(
        "register_errors",
        "respond with error codes of its own",
        kind="routes",
        page="routes",
        contract="routes.RoutesContract",
        user="strongroom_login_wechat.plugin",
    ),
    Seam(
        "register_wsgi_applications",
        "serve another protocol, such as WebDAV, or HTML pages",
        kind="wsgi",
        page="wsgi",
        contract="wsgi.WsgiApplicationContract",
        user="strongroom_directory_listing.plugin",
    ),
    Seam(
        "register_start_pages",
        "link a page for people, such as one to log in, from the start page of the server",
        kind="wsgi",
        page="wsgi",
        contract="wsgi.WsgiApplicationContract",
        user="strongroom_login_pages.plugin",
    ),
    Seam(
        "register_login_links",
        "add a button to the login page, such as of an identity provider",
        kind="redirect",
        page="redirect_login",
        contract="pages.LoginLinksContract",
        user="strongroom_login_wechat.plugin",
    ),
    Seam(
        "register_login_routes",
        "lead names to a login of their own, such as the addresses of a company to its provider",
        kind="",
        page="redirect_login",
        contract="pages.LoginRoutesContract",
        user="strongroom_login_oidc.plugin",
    ),
    Seam(
        "register_menu_items",
        "add a page with the session of the login pages to their menu",
        kind="pages",
        page="pages",
        contract="pages.SessionPagesContract",
        user="strongroom_login_pages.plugin",
    ),
    Seam(
        "register_console_sections",
        "add a page for administrators to the sidebar of the console's pages of the server",
        kind="",
        page="pages",
        contract="pages.ConsoleSectionsContract",
        user="strongroom_console.plugin",
    ),
    Seam(
        "register_space_sections",
        "add a page to the sidebar of the console's pages of a space",
        kind="",
        page="pages",
        contract="pages.SpaceSectionsContract",
        user="strongroom_console.plugin",
    ),
    Seam(
        "register_page_brands",
        "show the brand of an application on the pages of a login that leads to it",
        kind="",
        page="pages",
        contract="pages.PageBrandsContract",
        user="strongroom_oidc_provider.plugin",
    ),
    Seam(
        "register_static_files",
        "serve scripts, styles and pictures of my pages",
        kind="redirect",
        page="redirect_login",
        contract="pages.LoginLinksContract",
        user="strongroom_login_pages.plugin",
    ),
    Seam(
        "register_password_pages",
        "serve the page on which users set a password by a link of an administrator",
        kind="",
        page="pages",
        contract="pages.PasswordPagesContract",
        user="strongroom_login_pages.plugin",
    ),
    Seam(
        "register_code_pages",
        "serve the page of links in e-mails with login codes",
        kind="",
        page="pages",
        contract="pages.CodePagesContract",
        user="strongroom_login_pages.plugin",
    ),
    Seam(
        "register_invitation_pages",
        "serve the page of links in e-mails with invitations",
        kind="",
        page="pages",
        contract="pages.InvitationPagesContract",
        user="strongroom_login_pages.plugin",
    ),
    Seam(
        "register_commands",
        "add commands to the command line",
        kind="commands",
        page="commands",
        contract="commands.CommandsContract",
        user="strongroom_webhooks.plugin",
    ),
    Seam(
        "register_event_sinks",
        "pass events on to a message queue or another system",
        kind="events",
        page="events",
        contract="events.EventSinkContract",
        user="strongroom_webhooks.plugin",
    ),
    Seam(
        "register_event_subscribers",
        "do something after files, users, logins or tenants have changed",
        kind="events",
        page="events",
        contract="events.EventSubscriberContract",
        user="strongroom_tenant_folders.plugin",
    ),
    Seam(
        "register_content_scanners",
        "inspect uploads: refuse them, or hold them back until they are scanned",
        kind="scan",
        page="scanner",
        contract="scanning.ContentScannerContract",
        user="strongroom_scan_clamd.plugin",
    ),
    Seam(
        "register_password_schemes",
        "let users of another system keep their passwords",
        kind="passwords",
        page="passwords",
        contract="password_schemes.PasswordSchemeContract",
        user="strongroom_password_schemes.plugin",
    ),
    Seam(
        "register_jobs",
        "run something every hour, once for all servers together",
        kind="job",
        page="job",
        contract="state.JobsContract",
        user="strongroom_share_links.plugin",
    ),
    Seam(
        "register_metrics",
        "export metrics to Prometheus",
        kind="metrics",
        page="metrics",
        contract="metrics.MetricsContract",
        user="strongroom_webhooks.plugin",
    ),
    Seam(
        "register_options",
        "have options in the configuration",
        kind="job",
        page="job",
        contract="state.OptionsContract",
        user="strongroom_webhooks.plugin",
    ),
    Seam(
        "start",
        "prepare or run something while a server runs",
        kind="job",
        page="job",
        contract="state.LifeCycleContract",
        user="strongroom_webhooks.plugin",
    ),
    Seam(
        "stop",
        "end what runs when the server stops",
        kind="job",
        page="job",
        contract="state.LifeCycleContract",
        user="strongroom_webhooks.plugin",
    ),
    Seam(
        "register_event_types",
        "emit events of my own, for sinks, subscribers and webhooks",
        kind="table",
        page="table",
        contract="events.EventTypesContract",
        user="strongroom_share_links.plugin",
    ),
    Seam(
        "register_deactivations",
        "end secrets of a user in my tables with the login of the user",
        kind="",
        page="table",
        contract="state.DeactivationsContract",
        user="strongroom_login_pages.plugin",
    ),
    Seam(
        "register_login_conditions",
        "refuse logins whose proof is right, by rules of my own",
        kind="",
        page="login",
        contract="state.LoginConditionsContract",
        user="company_network",
    ),
    Seam(
        "register_address_owners",
        "keep the directories of other tenants from the addresses of a company",
        kind="",
        page="login",
        contract="state.AddressOwnersContract",
        user="strongroom_login_sso.plugin",
    ),
    Seam(
        "register_file_erasers",
        "remove rows of my tables with the files that they are about",
        kind="",
        page="table",
        contract="state.FileErasersContract",
        user="strongroom_share_links.plugin",
    ),
    Seam(
        "register_tenant_erasers",
        "remove rows of my tables with the tenant that they are about",
        kind="",
        page="table",
        contract="state.TenantErasersContract",
        user="strongroom_share_links.plugin",
    ),
    Seam(
        "register_prune_steps",
        "remove expired rows of my tables",
        kind="",
        page="table",
        contract="state.PruneStepsContract",
        user="strongroom_webhooks.plugin",
    ),
    Seam(
        "register_user_exports",
        "add rows of my tables to the archives that users have of their data",
        kind="",
        page="table",
        contract="exports.UserExportsContract",
        user="strongroom_share_links.plugin",
    ),
    Seam(
        "register_audit_sentences",
        "say in words what I record in the audit log",
        kind="",
        page="table",
        contract="audit.AuditSentencesContract",
        user="strongroom_share_links.plugin",
    ),
    Seam(
        "register_resource_kinds",
        "let a file declare what my routes create, for `strongroom apply`",
        kind="",
        page="routes",
        contract="resources.ResourceKindsContract",
        user="strongroom_webhooks.plugin",
    ),
    Seam(
        "register_token_types",
        "sign statements about users for other services",
        kind="",
        page="provider",
        contract="signing.TokenTypesContract",
        user="strongroom_oidc_provider.plugin",
    ),
    Seam(
        "register_discovery",
        "describe my service at a well-known path",
        kind="",
        page="provider",
        contract="discovery.DiscoveryContract",
        user="strongroom_oidc_provider.plugin",
    ),
    Seam(
        "register_tables",
        "store rows in tables of my own",
        kind="table",
        page="table",
        contract="state.TablesContract",
        user="strongroom_webhooks.plugin",
    ),
)
