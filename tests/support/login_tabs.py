"""Browsers of tests in the middle of logins: what each has proved, and the forms that it keeps."""

from dataclasses import dataclass, field

from tests.support.page_browser import PageBrowser


@dataclass
class Attempt:
    """What a browser has proved, and what it has requested, since it has taken a way.

    Args:
        purpose: what the code is for.
        recipient: the contact of the code.
        code: the code that was sent last, and the path of its link.
        first: the user or the new contact of the first proof.
        has_terms: whether the registration began with the box ticked.
    """

    purpose: str = ""
    recipient: str = ""
    code: tuple[str, str | None] | None = None
    first: str | None = None
    has_terms: bool = False


@dataclass
class Tab:
    """A browser with its attempt, and the secrets of its forms of now and of then."""

    browser: PageBrowser
    secrets: list[str] = field(default_factory=list)
    attempt: Attempt = field(default_factory=Attempt)
    former: Attempt = field(default_factory=Attempt)

    def begin(self, attempt: Attempt) -> None:
        """Take another way, which voids what the former one has proved."""
        self.former, self.attempt = self.attempt, attempt

    def send(self, path: str, fields: dict[str, str], secret: str) -> None:
        """Send a form as an old tab would: whether or not a page shows it now."""
        self.browser.open(f"/account/{path}", {"csrf": secret, **fields})
        self.note_secret()

    def open(self, path: str) -> None:
        self.browser.open(f"/account/{path}")
        self.note_secret()

    def note_secret(self) -> None:
        """Note the secret of the page, if the page has a form."""
        for form in self.browser.forms.values():
            if form.get("csrf", self.secrets[-1:]) not in self.secrets[-1:]:
                self.secrets.append(form["csrf"])
