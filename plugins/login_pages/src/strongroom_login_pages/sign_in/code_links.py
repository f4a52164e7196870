"""The links in e-mails with login codes. A link and its code are one challenge.

Programs open links in messages, so opening one changes nothing, and no script submits the form. Only the
browser that has requested the code gets the form, because in another one it would log the user in to the
account of the sender.
"""

import unicodedata
from dataclasses import dataclass
from typing import Any, Final

from strongroom_login_pages.sign_in.attempt import CODE
from strongroom_login_pages.sign_in.code_login import authorization_by
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.texts import error_text
from strongroom_login_pages.visit import LoginVisit, Routes

_REFUSED: Final = "error.invalid-credentials"


@dataclass(slots=True, eq=False, repr=False)
class CodeLinks:
    """The page of a link."""

    _progress: LoginProgress

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {("GET", "/l/<link>"): self.show, ("POST", "/l/<link>"): self.use}

    def show(self, visit: LoginVisit, link: str) -> Any:
        """Show the form to the browser that has requested the code."""
        return _form(visit, link)

    def use(self, visit: LoginVisit, link: str) -> Any:
        """Log in by the secret of the link, in place of the code."""
        if not _is_of_browser(visit, link):
            return _form(visit, link)
        body = authorization_by(visit, link.partition(".")[2])
        response = visit.rest("POST", "/authorizations", body)
        return self._progress.continue_with(visit, response, lambda: _form(visit, link, response.error))


def masked(recipient: str) -> str:
    """Return an e-mail address, of whose name the first character is shown."""
    name, _, domain = unicodedata.normalize("NFKC", recipient).strip().rpartition("@")
    return f"{name[:1]}•••@{domain}"


def _is_of_browser(visit: LoginVisit, link: str) -> bool:
    """Return whether the link belongs to the code that the browser has requested last."""
    sent = visit.flow.attempt.data_of(CODE)
    return sent is not None and sent["id"] == link.partition(".")[0]


def _form(visit: LoginVisit, link: str, error: str | None = None) -> Any:
    return visit.page(
        "sign_in/code_link.html",
        # A form that is sent from another browser has no effect, which is an error as well.
        status=400 if visit.request.method == "POST" else 200,
        link=link,
        account=masked(visit.flow.attempt.username) if _is_of_browser(visit, link) else None,
        error=("link-used" if error == _REFUSED else error_text(error)) if error else None,
    )
