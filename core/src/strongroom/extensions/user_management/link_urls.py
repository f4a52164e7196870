"""The page on which users consume links."""

from dataclasses import dataclass

from strongroom.foundation.errors import NotImplementedHere
from strongroom.web.http.request import PublicUrl, get_service


@dataclass(slots=True, eq=False, repr=False)
class LinkUrls:
    """The URLs of links.

    Args:
        configured: the URL of the deployment's own page, to which the token is appended.
        page_path: the path of a plugin's page, likewise; ``None``: there is none.
    """

    _configured: str
    _page_path: str | None

    def require(self) -> None:
        """Require that there is a page.

        Raises:
            NotImplementedHere: there is none.
        """
        if not self._configured and self._page_path is None:
            raise NotImplementedHere("No page for links: set [users] link_url, or enable login pages.")

    def url(self, token: str) -> str:
        """Return the URL of the page that consumes a token.

        Raises:
            NotImplementedHere: there is none.
        """
        self.require()
        if self._configured:
            return self._configured + token
        return f"{get_service(PublicUrl).root}{self._page_path}{token}"
