"""Entry point of the plugin."""

from typing import Final
from wsgiref.types import WSGIApplication

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.deactivation import Deactivate
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import MenuItem, StaticFiles
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import (
    Blueprint,
    CodePage,
    ErrorKind,
    InvitationPage,
    PasswordPage,
    StartPage,
)
from strongroom_login_pages.application import LoginPagesApplication
from strongroom_login_pages.front_ends.codes import LoginCodes
from strongroom_login_pages.front_ends.models import metadata
from strongroom_login_pages.front_ends.routes import CODE_INVALID, routes
from strongroom_login_pages.options import LoginPagesOptions
from strongroom_login_pages.sign_in.links import LinkOrder
from strongroom_login_pages.visit import PREFIX

API_VERSION = "2.0"

# Other plugins add subjects between them, so the orders have gaps.
_SUBJECTS: Final = (
    ("", {"en": "Security", "zh": "安全"}, "lock", 0),
    ("profile", {"en": "Profile", "zh": "个人资料"}, "user", 10),
    ("devices", {"en": "Devices", "zh": "设备"}, "laptop", 20),
    ("access-keys", {"en": "Access keys", "zh": "访问密钥"}, "key-round", 30),
    ("invitations", {"en": "Invitations", "zh": "邀请"}, "mail", 40),
    ("privacy", {"en": "Privacy", "zh": "隐私"}, "shield", 60),
)
"""The subjects of the account: the path of the page, the label, the icon and the order of each."""


@hookimpl
def register_options() -> type[LoginPagesOptions]:
    return LoginPagesOptions


@hookimpl
def register_tables() -> PluginTables:
    return PluginTables(metadata, migrations="strongroom_login_pages:migrations", revision="0002")


@hookimpl
def register_errors() -> list[ErrorKind]:
    return [CODE_INVALID]


@hookimpl
def register_prune_steps(host: HostAPI) -> list[PruneStep]:
    return [PruneStep("login_codes", host.get_service(LoginCodes).prune)]


@hookimpl
def register_blueprints() -> list[Blueprint]:
    return [routes]


@hookimpl
def register_deactivations(host: HostAPI) -> list[Deactivate]:
    return [host.get_service(LoginCodes).deactivate]


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles()]


@hookimpl
def register_menu_items() -> list[MenuItem]:
    return [
        MenuItem("/account/", {"en": "Account", "zh": "账号"}, "user", order=0, place="person"),
        *(
            MenuItem(f"{PREFIX}/{path}", labels, icon, order=order, place="account")
            for path, labels, icon, order in _SUBJECTS
        ),
    ]


@hookimpl
def start(host: HostAPI) -> None:
    """Check the configuration, which names links of other plugins."""
    LinkOrder(host.options.login_links).require_known(host.pages.login_links())


@hookimpl
def register_start_pages() -> list[StartPage]:
    # The page of the account shows the login to those who are not logged in.
    return [StartPage("/account/", {"en": "Log in", "zh": "登录"})]


@hookimpl
def register_password_pages() -> list[PasswordPage]:
    return [PasswordPage("/account/password-links/", "/account/restore/")]


@hookimpl
def register_code_pages() -> list[CodePage]:
    return [CodePage("/account/l/")]


@hookimpl
def register_invitation_pages() -> list[InvitationPage]:
    return [InvitationPage("/account/invitations/")]


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[tuple[str, WSGIApplication]]:
    return [("/account", LoginPagesApplication(host, host.get_service(LoginCodes)))]
