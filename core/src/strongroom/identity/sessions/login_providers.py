"""The ways to log in that plugins add by redirect, for clients with login pages of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api.pages import LoginRequest, PageLink


@dataclass(frozen=True, slots=True)
class LoginProviders:
    """The login links of all plugins.

    Args:
        root: the public scheme, host and port of the server.
        base_path: the base path of the server.
        links: returns the links in the first of some languages.
    """

    root: str
    base_path: str
    links: Callable[[Sequence[str]], Sequence[PageLink]]

    def for_languages(self, languages: Sequence[str]) -> list[dict[str, Any]]:
        """Return the providers as JSON, in the first of some languages that they have."""
        return [self._provider(item) for item in self.links(languages)]

    def _provider(self, item: PageLink) -> dict[str, Any]:
        link = item.link
        assert link is not None  # noqa: S101  as the item is no menu's
        return {
            "name": item.name,
            "kind": link.kind,
            "displayName": item.platform,
            "label": item.label,
            "iconUrl": None if item.icon is None else self.root + item.icon,
            "loginUrl": self.root + item.path,
            "showsQrCode": link.shows_qr_code,
            "worksIn": list(link.works_in),
            "failsIn": list(link.fails_in),
            "request": self._request(link.request),
        }

    def _request(self, request: LoginRequest | None) -> dict[str, Any] | None:
        if request is None:
            return None
        return {"path": self.base_path + request.path, "body": dict(request.body)}
