"""Implements ``host.signing``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongroom.identity.sessions.signing_keys import STATEMENT_ALGORITHM
from strongroom.identity.sessions.statements import StatementSigner
from strongroom.plugin_api.signing import SigningAPI

if TYPE_CHECKING:
    from strongroom.assembly.services import Services


@dataclass(slots=True, eq=False, repr=False)
class HostSigning(SigningAPI):
    """Implements ``host.signing``.

    Args:
        issuer: the server's public URL.
        services: returns the services of the process.
    """

    _plugin: str
    _issuer: str
    _services: Callable[[], "Services"]

    @property
    def issuer(self) -> str:
        return self._issuer

    @property
    def algorithm(self) -> str:
        return STATEMENT_ALGORITHM

    def sign(
        self,
        claims: Mapping[str, Any],
        *,
        audience: str,
        lifetime: int,
        typ: str = "JWT",
        subject: str | None = None,
    ) -> str:
        signer = self._signer(typ)
        return signer.sign(claims, audience=audience, lifetime=lifetime, typ=typ, subject=subject)

    def verify(
        self, token: str, *, audience: str | None, typ: str = "JWT", expired: bool = False
    ) -> dict[str, Any]:
        return self._signer(typ).verify(token, audience=audience, typ=typ, expired=expired)

    def _signer(self, typ: str) -> StatementSigner:
        services = self._services()
        if typ not in services.base.selection.plugins.token_types.get(self._plugin, ()):
            raise ValueError(f"register_token_types does not return the type {typ!r}")
        return services.get(StatementSigner)
