"""Issues and checks captchas: each is valid for one attempt, on any node, for a limited time."""

import logging
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Final

from sqlalchemy import Column, ColumnElement, Index, String, Table, Text, bindparam, delete, insert

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.pruning import prune, prune_some
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import CaptchaInvalid, Unavailable
from strongroom.foundation.ids import new_id
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.captcha import CaptchaProvider, CaptchaUnavailable

captchas: Final = Table(
    "captchas",
    metadata,
    Column("id", Id, primary_key=True),
    Column("provider", String(32), nullable=False),
    Column("sealed_state", Text, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "expires_at"),
)
"""Open challenges. The first attempt deletes the row, whether the solution is right or wrong."""


logger = logging.getLogger(__name__)

_SEAL = "captcha"
_PAGE = "captcha of a page"
_FORGOTTEN_AT_ONCE = 2
_OF_PAGE: Final = "page-"
_ID_LENGTH: Final = 36


@dataclass(frozen=True, slots=True)
class _Captcha:
    # A row of the table.
    id: str
    provider: str
    sealed_state: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class PageCaptcha:
    """A captcha that a page requests of the REST API, whose limit it consumes.

    Args:
        purpose: the form that may answer it.
    """

    provider: CaptchaProvider[object]
    purpose: str


PAGE_CAPTCHA: Final[ContextVar[PageCaptcha | None]] = ContextVar("page_captcha", default=None)

_ADD: Final = Statement(insert(captchas))
_TAKE: Final = Statement(
    delete(captchas).where(captchas.c.id == bindparam("id")).returning(captchas), _Captcha
)


@dataclass(frozen=True, slots=True)
class CaptchaAnswer:
    """The solution that a client submits."""

    id: str
    answer: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class IssuedCaptcha:
    """A challenge for a client. ``expires_at`` is in milliseconds since the Unix epoch."""

    id: str
    kind: str
    payload: Mapping[str, object]
    expires_at: int


@dataclass(slots=True, eq=False, repr=False)
class CaptchaService:
    """Captchas of the REST API and of pages.

    Args:
        page_provider: the provider of pages; may be the same instance.
        lifetime: lifetime of a challenge in milliseconds.
    """

    _database: Database
    _clock: Clock
    _keys: SecretKeys
    provider: CaptchaProvider[object]
    page_provider: CaptchaProvider[object]
    _lifetime: int

    @property
    def page_alternative(self) -> CaptchaProvider[object] | None:
        """The provider for browsers that cannot run the script of pages; ``None``: there is none."""
        is_typed = self.provider.widget.script is None and not self.provider.widget.is_automatic
        return self.provider if self.page_provider.widget.is_automatic and is_typed else None

    def issue(self, page: PageCaptcha | None = None) -> IssuedCaptcha:
        """Issue a challenge.

        Args:
            page: the form that alone can answer; ``None``: for the REST API.
        """
        provider = page.provider if page else self.provider
        challenge = provider.issue()
        issued = IssuedCaptcha(
            new_id(), provider.kind, challenge.payload, self._clock.now() + self._lifetime
        )
        row = {
            "id": self.page_row_id(issued.id, page.purpose) if page else issued.id,
            "provider": provider.name,
            "sealed_state": self._keys.seal(_SEAL, challenge.state),
            "expires_at": issued.expires_at,
        }
        with self._database.write() as connection:
            _ADD.execute(connection, row)
            # Deletes up to two rows per inserted row, so that unused challenges do not accumulate.
            prune_some(connection, captchas.c.id, self._expired(), _FORGOTTEN_AT_ONCE)
        return issued

    def page_row_id(self, issued_id: str, purpose: str) -> str:
        """Return the row's id of a page's challenge, which clients of the REST API cannot compute.

        A page may have a cheaper captcha than the REST API, or a dearer one. So the form of a page
        answers only challenges for its purpose, and the REST API only its own.
        """
        return (_OF_PAGE + self._keys.hash(_PAGE, f"{purpose}/{issued_id}"))[:_ID_LENGTH]

    def prune(self) -> int:
        """Delete expired challenges; return the count."""
        return prune(self._database, captchas.c.id, self._expired())

    def consume(self, answer: CaptchaAnswer, address: str | None) -> None:
        """Consume a challenge, and require that its solution is right.

        Raises:
            CaptchaInvalid: the solution is wrong, or the challenge is unknown, expired or used.
            Unavailable: the provider cannot check solutions now; the challenge stays valid.
        """
        # Deleted before the check, so that only one of several concurrent attempts is checked.
        with self._database.write() as connection:
            row = _TAKE.first(connection, {"id": answer.id})
        if row is None or row.expires_at <= self._clock.now():
            raise CaptchaInvalid
        # The configured providers may have changed since the challenge was issued.
        provider, solution = self._find_provider(row), answer.answer.strip()
        if provider is None or not solution or not self._verify(provider, row, solution, address):
            raise CaptchaInvalid

    def _find_provider(self, row: _Captcha) -> CaptchaProvider[object] | None:
        pages = (self.page_provider, self.page_alternative)
        providers = pages if row.id.startswith(_OF_PAGE) else (self.provider,)
        return next((item for item in providers if item and item.name == row.provider), None)

    def _verify(
        self, provider: CaptchaProvider[object], row: _Captcha, solution: str, address: str | None
    ) -> bool:
        state = self._keys.unseal(_SEAL, row.sealed_state)
        try:
            return provider.verify_from(state, solution, address)
        except CaptchaUnavailable as error:
            logger.warning("Captcha provider %s is unavailable: %s", provider.name, error)
            # Restore the challenge, because the solution was not checked.
            with self._database.write() as connection:
                _ADD.execute(connection, asdict(row))
            raise Unavailable(retry_after=error.retry_after) from error

    def _expired(self) -> ColumnElement[bool]:
        return captchas.c.expires_at <= self._clock.now()
