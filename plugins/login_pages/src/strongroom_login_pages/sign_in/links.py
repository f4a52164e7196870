"""The buttons that other plugins add to the login page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from strongroom.plugin_api.pages import PageLink

_MOST: Final = 4
"""The buttons that are shown at once; the others are behind "more ways"."""

_MOST_TABS: Final = 3
"""The tabs next to the one of the form, as many as fit into one line of a narrow window."""

_PHONE: Final = re.compile("Mobile|Android|iPhone|iPad")


@dataclass(frozen=True, slots=True)
class ShownLinks:
    """The places of the links on the page.

    Args:
        first: the links of the app that the browser is in, before all other ways.
        tabs: the links to a QR code, next to the password, one for each platform. Phones cannot scan
            their own screen.
        links: buttons below the form.
        more: further buttons, which the page unfolds.
    """

    first: Sequence[PageLink]
    tabs: Sequence[PageLink]
    links: Sequence[PageLink]
    more: Sequence[PageLink]

    @classmethod
    def of(
        cls, links: Sequence[PageLink], user_agent: str, last: str | None, *, has_form: bool
    ) -> "ShownLinks":
        """Return the places of links.

        Args:
            last: the name of the link that the browser used last, which is always shown.
            has_form: whether the page has a form, so that there can be tabs.
        """
        first = [link for link in links if link.is_of_app]
        has_tabs = has_form and not first and not _PHONE.search(user_agent)
        scans = [link for link in links if has_tabs and link.link and link.link.shows_qr_code]
        tabs = _one_for_each_platform(scans)[:_MOST_TABS]
        rest = [link for link in links if link not in first and link not in tabs]
        rest.sort(key=lambda link: link in scans)
        if last in [link.name for link in rest[_MOST:]]:
            rest.sort(key=lambda link: link.name != last)
        return cls(first, tabs, rest[:_MOST], rest[_MOST:])


def _one_for_each_platform(links: Sequence[PageLink]) -> list[PageLink]:
    """Return the first link of each platform, whose apps connect the same accounts."""
    firsts: dict[str, PageLink] = {}
    for link in links:
        connection = link.link and link.link.connection
        firsts.setdefault(connection.name if connection else link.platform, link)
    return list(firsts.values())


@dataclass(slots=True, eq=False, repr=False)
class LinkOrder:
    """Which login links the page shows, and in which order.

    Args:
        names: their names; ``None``: all links, in the order of ``plugins.enabled``.
    """

    _names: Sequence[str] | None

    def require_known(self, links: Sequence[PageLink]) -> None:
        """Require that plugins have the links that the configuration names.

        Raises:
            ValueError: no plugin has one of them.
        """
        known = {link.name for link in links}
        for name in self._names or ():
            if name not in known:
                names = ", ".join(sorted(known)) or "none"
                raise ValueError(f'login_links: no plugin has the link "{name}"; there are: {names}')

    def ordered(self, links: Sequence[PageLink]) -> list[PageLink]:
        """Return the links of the page in their order."""
        by_name = {link.name: link for link in links}
        return [by_name[name] for name in (by_name if self._names is None else self._names)]
