"""Signed statements for other services: ``host.signing``.

Other services verify them with the public keys of ``/.well-known/jwks.json``. A statement is never an
access token: this server accepts none of them as one, and access tokens for other services come from
:class:`~strongroom.plugin_api.grants.GrantsAPI`. A plugin that signs declares the types of its tokens::

    @hookimpl
    def register_token_types() -> list[str]:
        return ["JWT"]

    host.signing.sign({"nonce": nonce}, audience=client.id, subject=user_id, lifetime=300)
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class SigningAPI(ABC):
    """Signs and verifies JSON Web Tokens (RFC 7519) for others, by an asymmetric key of the server."""

    @property
    @abstractmethod
    def issuer(self) -> str:
        """The claim ``iss`` of all tokens: :attr:`HostAPI.public_url`."""

    @property
    @abstractmethod
    def algorithm(self) -> str:
        """The algorithm of new signatures, such as ``RS256`` (RFC 7518, section 3.1)."""

    @abstractmethod
    def sign(
        self,
        claims: Mapping[str, Any],
        *,
        audience: str,
        lifetime: int,
        typ: str = "JWT",
        subject: str | None = None,
    ) -> str:
        """Return a signed token, with the claims ``iss``, ``aud``, ``iat``, ``exp``, ``jti``, ``sub``.

        Args:
            claims: further claims, JSON values.
            audience: the service that it is for; not this server.
            lifetime: in seconds, at most 3,600.
            typ: the type in its header (RFC 8725, section 3.11), such as ``logout+jwt``, which the hook
                ``register_token_types`` returns.
            subject: the claim ``sub``; ``None``: without one.

        Raises:
            ValueError: the audience is this server, the plugin has not registered the type, the lifetime
                is too long, or ``claims`` has one of the claims above.
        """

    @abstractmethod
    def verify(
        self, token: str, *, audience: str | None, typ: str = "JWT", expired: bool = False
    ) -> dict[str, Any]:
        """Return the claims of a token from :meth:`sign`.

        Args:
            token: the token, untrusted.
            audience: the service that it must be for; ``None``: any, which the caller reads in ``aud``.
            typ: the type that its header must have.
            expired: whether it may have expired, as an ``id_token_hint`` may (OpenID Connect Core,
                section 3.1.2.1).

        Raises:
            ValueError: this server has not signed it, it is for another audience, or it has expired.
        """
