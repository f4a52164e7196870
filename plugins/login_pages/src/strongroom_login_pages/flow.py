"""What the pages remember of a login in progress, in the cookie of the browser."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from strongroom_login_pages.sign_in.attempt import CHALLENGE, ENROLMENT, Attempt


@dataclass(frozen=True, slots=True)
class ReturnRequest:
    """A front end that gets the login.

    Args:
        url: the URL to return to, one of the configured ones.
        state: returned as it is, so that the front end recognises its own request.
        code_challenge: the ``S256`` code challenge (RFC 7636).
        is_app: whether it is a program on the user's computer (RFC 8252).
    """

    url: str
    state: str
    code_challenge: str
    is_app: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """The values of the pages in the browser.

    Args:
        return_to: the front end that gets the login.
        resume: the path of the server that the login or step-up leads to; ``None``: a page of the
            account.
        attempt: the login in progress.
        due: the time until which the user must set up a second factor, if any.
        account: what the account pages keep between two requests.
    """

    return_to: ReturnRequest | None = None
    resume: str | None = None
    attempt: Attempt = field(default_factory=Attempt)
    due: str | None = None
    account: Mapping[str, Any] | None = field(default=None, repr=False)

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> "Flow":
        """Return the flow of the browser's values."""
        try:
            return_to = values.get("return_to")
            request = ReturnRequest(**return_to) if return_to else None
            attempt = Attempt(**values.get("attempt", {}))
            members = {name: value for name, value in values.items() if name in _MEMBERS}
            return cls(**{**members, "return_to": request, "attempt": attempt})
        # The values of another version of the plugin.
        except TypeError:
            return cls()

    @property
    def challenge(self) -> Mapping[str, Any] | None:
        """The challenge that the login has to meet, if any."""
        return self.attempt.data_of(CHALLENGE)

    @property
    def enrolment(self) -> Mapping[str, Any] | None:
        """The enrolment without which there is no login, if any."""
        return self.attempt.data_of(ENROLMENT)

    @property
    def page_after_step_up(self) -> str:
        """The path of the page whose change requires the step-up."""
        again = (self.account or {}).get("again")
        return again["page"] if again else "/"

    def values(self, others: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members that are set, as JSON values.

        Args:
            others: the values of the browser, of which those remain that are no members.
        """
        kept = {name: value for name, value in others.items() if name not in _MEMBERS}
        return kept | {name: value for name, value in asdict(self).items() if value is not None}


_MEMBERS: Final = frozenset(member.name for member in fields(Flow))
