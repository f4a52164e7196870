"""Links in messages with login codes: each is the same challenge as its code."""

from dataclasses import dataclass

from strongroom.identity.verification.codes import NewCode


@dataclass(slots=True, eq=False, repr=False)
class CodeLinks:
    """The URLs of links.

    Args:
        page: the URL of the page that uses links, to which ``ID.SECRET`` is appended; ``None``: there is
            none.
    """

    _page: str | None

    def url(self, code: NewCode) -> str | None:
        """Return the URL of the link of a code; ``None`` without a page."""
        return None if self._page is None else f"{self._page}{code.id}.{code.link_secret}"
