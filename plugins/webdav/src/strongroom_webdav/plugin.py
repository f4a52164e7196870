"""Entry point of the plugin."""

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import MenuItem
from strongroom.plugin_api.web import LargeBody, MountedApplication
from strongroom_webdav.application import PREFIX, DavApplication
from strongroom_webdav.options import WebdavOptions
from strongroom_webdav.pages import PREFIX as PAGE_PREFIX
from strongroom_webdav.pages import make_drive_pages

API_VERSION = "2.0"


@hookimpl
def register_options() -> type[WebdavOptions]:
    return WebdavOptions


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[MountedApplication]:
    bodies = [LargeBody("PUT", "/<path:file>")]
    drive = MountedApplication(PREFIX, DavApplication(host), large_bodies=bodies)
    return [drive, make_drive_pages(host)]


@hookimpl
def register_menu_items() -> list[MenuItem]:
    labels = {"en": "Connect your computer", "zh": "连接电脑"}
    return [MenuItem(f"{PAGE_PREFIX}/", labels, order=35, icon="hard-drive", place="account")]
