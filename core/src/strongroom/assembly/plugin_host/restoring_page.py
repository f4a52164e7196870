"""The page of links that take back a former contact."""

from functools import cached_property

from strongroom.assembly.plugin_host.hosts import PluginHosts
from strongroom.foundation.config import Settings


class RestoringPage:
    """Returns the URL of the page of links that take back a former contact, if there is one.

    It is the deployment's, or a plugin's below the configured URL: never from a header of the
    request, so that no client chooses where links lead.
    """

    def __init__(self, hosts: PluginHosts, settings: Settings) -> None:
        self._hosts = hosts
        self._configured = settings.users.restore_url
        self._root = settings.public_root + settings.server.base_path

    def __call__(self) -> str | None:
        if self._configured:
            return self._configured
        return None if self._path is None else self._root + self._path

    @cached_property
    def _path(self) -> str | None:
        pages = (page for _, page in self._hosts.call("register_password_pages"))
        return next((page.restoring_path for page in pages if page.restoring_path), None)
