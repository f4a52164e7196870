"""The pages of the provider: consent, departure to the client, and refusals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.visits import Visit
from strongroom_oidc_provider.claim_rules import get_rule_scopes
from strongroom_oidc_provider.clients.brands import Brands
from strongroom_oidc_provider.consents.folders import Choice, Folder, find_choices, find_name, has_files
from strongroom_oidc_provider.documents.client import DocumentClient
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.scopes import (
    API_SCOPES,
    CLAIM_SCOPES,
    OFFLINE_ACCESS,
    OPENID,
    ROLE_SCOPES,
)

PREFIX: Final = "/oauth2"
NAMED_SCOPES: Final = (OPENID, *CLAIM_SCOPES, *ROLE_SCOPES, OFFLINE_ACCESS, *API_SCOPES)
"""The scopes that pages describe in words."""


class ConsentSubject(Protocol):
    """What the page of a consent shows of a request."""

    @property
    def redirect_uri(self) -> str:
        """Where the browser returns to."""

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that the client gets."""

    @property
    def resource(self) -> str:
        """The URI of the service that the tokens are for; empty: the client itself."""

    @property
    def folder(self) -> Folder | None:
        """The folder that the client requests; ``None``: the user chooses."""


class ProviderVisit(Visit):
    """A request for a page of the provider."""

    def __init__(self, host: HostAPI) -> None:
        super().__init__(host, PREFIX)

    @property
    def here(self) -> str:
        return self.base_path + self.request.full_path.rstrip("?")

    def account_page(self, template: str, **values: Any) -> Any:
        """Return a page of the connected applications, in the frame of the account."""
        sections, section = self.account_sections(), f"{self.root}/consents"
        return self.page(template, sections=sections, section=section, **values)


class CardVisit(ProviderVisit):
    """A request for a page of one step, which leads nowhere else."""

    def menu(self) -> Mapping[str, Any]:
        """Return no menu."""
        return {}


@dataclass(slots=True, eq=False, repr=False)
class ProviderPages:
    """Renders the pages."""

    _host: HostAPI

    def refusal(self, reason: str, status: int = 400, heading: str = "refused", detail: str = "") -> Any:
        """Return the page of a request that leads to no client."""
        visit = CardVisit(self._host)
        return visit.page("refusal.html", status=status, reason=reason, title=heading, detail=detail)

    def consent(
        self,
        client: Client,
        subject: ConsentSubject,
        sealed: str,
        session: BrowserSession,
        folder: Folder | None,
    ) -> Any:
        """Return the page on which the user decides.

        Args:
            folder: the one that is chosen at first.
        """
        visit = CardVisit(self._host)
        return visit.page(
            "consent.html",
            **self._describe(client, subject.scopes, subject.redirect_uri),
            folders=self._find_folders(visit, subject, folder),
            folder=folder.choice if folder else "",
            is_bound=subject.folder is not None,
            user=session.name or session.contact,
            resource="" if subject.resource == self._host.public_url else subject.resource,
            request=sealed,
        )

    def preview(self, client: Client, user: str, language: str | None) -> Any:
        """Return the page of a consent as the users of a client see it, for a frame of another page."""
        uris = client.redirect_uris
        scopes = tuple(dict.fromkeys((*client.scopes, *get_rule_scopes(client))))
        return CardVisit(self._host).render(
            "consent.html",
            is_preview=True,
            status=200,
            policy={"frame-ancestors": "'self'", "form-action": "'none'"},
            language=language,
            **self._describe(client, scopes, uris[0] if uris else self._host.public_url),
            folders=(),
            folder="",
            is_bound=False,
            user=user,
            resource="",
            request="",
        )

    def _describe(self, client: Client, scopes: Sequence[str], redirect_uri: str) -> Mapping[str, Any]:
        """Return the variables of the page of a consent that depend on the client."""
        scope_groups = split_scopes(scopes)
        return {
            "client": client,
            "described": client if isinstance(client, DocumentClient) else None,
            "page_brand": self._host.get_service(Brands).get_brand(client),
            "host": get_host(redirect_uri),
            "scopes": scope_groups[0],
            "others": scope_groups[1],
        }

    def logout(self, client: Client | None, session: BrowserSession, sealed: str) -> Any:
        """Return the page on which the user confirms the logout that a client has begun."""
        return CardVisit(self._host).page(
            "logout.html", client=client, user=session.name or session.contact, request=sealed
        )

    def logged_out(self) -> Any:
        """Return the page after a logout that leads to no client."""
        return CardVisit(self._host).page("logged_out.html")

    def read_folder(self, subject: ConsentSubject) -> Folder | None:
        """Return the folder that the user has chosen; ``None``: all.

        Raises:
            ValueError: it is no folder that the page offers.
        """
        visit = CardVisit(self._host)
        folder = Folder.from_choice(visit.request.form.get("folder", ""))
        if folder is None and subject.folder is None:
            return None
        choices = self._find_folders(visit, subject, subject.folder)
        if folder is None or folder.choice not in dict(choices):
            raise ValueError("the page does not offer this folder")
        return folder

    def can_see(self, folder: Folder) -> bool:
        """Return whether the user can still see a folder."""
        return find_name(CardVisit(self._host), folder) is not None

    def _find_folders(
        self, visit: CardVisit, subject: ConsentSubject, folder: Folder | None
    ) -> Sequence[Choice]:
        if not has_files(subject.scopes, subject.resource, self._host.public_url):
            return []
        return find_choices(visit, folder)

    def departure(self, client: Client, url: str) -> Any:
        """Return the page that leads to the client at once, without a script."""
        brand = self._host.get_service(Brands).get_brand(client)
        return CardVisit(self._host).page(
            "departure.html", client=client, url=url, host=get_host(url), page_brand=brand
        )


def split_scopes(scopes: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the scopes that have texts, without ``openid``, and the others."""
    named = [scope for scope in scopes if scope in NAMED_SCOPES and scope != OPENID]
    return named, [scope for scope in scopes if scope not in NAMED_SCOPES]


def get_host(uri: str) -> str:
    """Return what users see of a redirect URI: the host, or the scheme of an app."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in ("http", "https") else f"{parts.scheme}:"
