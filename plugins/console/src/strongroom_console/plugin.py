"""Entry point of the plugin."""

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import ConsoleSection, MenuItem, SpaceSection, StaticFiles
from strongroom.plugin_api.web import MountedApplication, StartPage
from strongroom_console.application import LARGE_BODIES, create_application
from strongroom_console.server.sections import SERVER_SECTIONS
from strongroom_console.tenant.sections import SPACE_SECTIONS
from strongroom_console.visit import PREFIX

API_VERSION = "2.0"


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[MountedApplication]:
    return [MountedApplication(PREFIX, create_application(host).wsgi_app, LARGE_BODIES)]


@hookimpl
def register_menu_items() -> list[MenuItem]:
    return [
        MenuItem(
            f"{PREFIX}/",
            {"en": "All spaces", "zh": "全部空间"},
            "layout-grid",
            order=-20,
            place="area",
            choices=f"{PREFIX}/spaces",
            search=f"{PREFIX}/find",
        ),
        MenuItem(
            f"{PREFIX}/server/",
            {"en": "Server", "zh": "服务器"},
            "server",
            order=-10,
            for_administrators=True,
            place="area",
        ),
    ]


@hookimpl
def register_console_sections() -> tuple[ConsoleSection, ...]:
    return SERVER_SECTIONS


@hookimpl
def register_space_sections() -> tuple[SpaceSection, ...]:
    return SPACE_SECTIONS


@hookimpl
def register_start_pages() -> list[StartPage]:
    return [StartPage(f"{PREFIX}/", {"en": "Files", "zh": "文件"}, is_home=True)]


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles(is_compact=True)]
