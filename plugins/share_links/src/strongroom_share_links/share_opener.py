"""Requests of visitors: whether a secret opens a share now, and what the share then allows."""

from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import select

from strongroom.plugin_api.files import FileInfo, Level
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_share_links.errors import KIND, LOGIN_REQUIRED, PASSWORD_REQUIRED, UNAVAILABLE
from strongroom_share_links.links import hash_of
from strongroom_share_links.models import SHOWN, Audience, Kind, Link, links, recipients
from strongroom_share_links.options import ShareOptions
from strongroom_share_links.policies import Policies
from strongroom_share_links.proofs import Proofs
from strongroom_share_links.sessions import Sessions
from strongroom_share_links.states import State, States, delegation_of


@dataclass(frozen=True, slots=True)
class OpenedShare:
    """A request with the secret of a share that can be opened.

    Args:
        secret: the secret, for URLs.
        file: its file or folder.
        is_proven: whether the share has no password, or the request proves that it is known.
    """

    secret: str
    link: Link
    file: FileInfo
    is_proven: bool

    @property
    def kind(self) -> Kind:
        """The kind of the share."""
        return Kind(self.link.kind)

    @property
    def is_shown(self) -> bool:
        """Whether the visitor may see names."""
        return self.is_proven and self.kind in SHOWN

    @property
    def is_open(self) -> bool:
        """Whether everybody who knows the secret may open the share."""
        return self.link.audience == Audience.ANYONE and self.link.password_hash is None


class ShareOpener:
    """Decides whether a share can be opened: the same rule for each route and the page."""

    def __init__(self, host: HostAPI, policies: Policies, states: States, proofs: Proofs) -> None:
        self._host = host
        self.sessions = Sessions(host)
        self._policies = policies
        self._states = states
        self._proofs = proofs

    @property
    def _options(self) -> ShareOptions:
        options: ShareOptions = self._host.options
        return options

    def count(self) -> None:
        """Count the request against the limit of visitors, before anything of it is read.

        Raises:
            ApiError: ``error.too-many-requests``.
        """
        self._host.limits.check_rate("visits", self._options.anonymous_per_address)

    def open(
        self,
        secret: str,
        kinds: Collection[Kind] = tuple(Kind),
        *,
        needs_proof: bool = True,
        continues: bool = False,
    ) -> OpenedShare:
        """Return the visit of the current request.

        Args:
            kinds: the kinds of shares that allow the request.
            needs_proof: whether a share with a password requires the proof.
            continues: whether the request continues a download or upload that was counted before, so
                that an exhausted share remains open for it.

        Raises:
            ApiError: 404 for all shares that cannot be opened, whatever the reason; 401 without a login
                or a proof; 403 for shares of other kinds.
        """
        link, state, file = self._find(secret)
        is_open = state is State.ACTIVE or (state is State.EXHAUSTED and continues)
        if file is None or not is_open:
            raise ApiError(UNAVAILABLE)
        self._require_audience(link)
        opened = OpenedShare(secret, link, file, self._proofs.is_proven(link))
        if needs_proof and not opened.is_proven:
            raise ApiError(PASSWORD_REQUIRED)
        if opened.kind not in kinds:
            raise ApiError(KIND)
        return opened

    def acting(self, opened: OpenedShare, permission: Level = "read") -> AbstractContextManager[None]:
        """Act as the creator of the share, within its file or folder, at most with a permission."""
        return self._host.acting_for(delegation_of(opened.link, permission))

    def _find(self, secret: str) -> tuple[Link, State, FileInfo | None]:
        with self._host.database.read() as transaction:
            row = transaction.first(select(links).where(links.c.secret_hash == hash_of(secret)))
            if row is None:
                raise ApiError(UNAVAILABLE)
            link = Link.from_row(row)
            policy = self._policies.find(transaction, link.tenant_id)
        state, file = self._states.find(link, policy)
        return link, state, file

    def _require_audience(self, link: Link) -> None:
        """Check that the share is for the caller."""
        if link.audience == Audience.ANYONE:
            return
        caller = self.sessions.user_id()
        if caller is None:
            raise ApiError(LOGIN_REQUIRED)
        if not self._is_for(link, caller):
            raise ApiError(UNAVAILABLE)

    def _is_for(self, link: Link, caller: str) -> bool:
        if link.audience == Audience.LOGGED_IN:
            return True
        if link.audience == Audience.MEMBERS:
            return self._is_member(link.tenant_id)
        named = (recipients.c.link_id == link.id) & (recipients.c.user_id == caller)
        with self._host.database.read() as transaction:
            return transaction.first(select(recipients.c.link_id).where(named)) is not None

    def _is_member(self, tenant_id: str) -> bool:
        try:
            return self._host.tenants.role(tenant_id) is not None
        except ApiError:
            return False
