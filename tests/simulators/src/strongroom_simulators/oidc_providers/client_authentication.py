"""Authentication of clients at the token endpoint (RFC 6749, 2.3; RFC 7523, 2.2)."""

import threading
from base64 import b64decode
from collections.abc import Callable, Mapping
from urllib.parse import unquote_plus

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import import_key
from joserfc.jwt import JWTClaimsRegistry

from strongroom_simulators.oidc_providers.refusals import Reason, Refusal
from strongroom_simulators.oidc_providers.registry import RegisteredClient

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class ClientAuthentication:
    """Authenticates clients by the methods that a provider accepts.

    Args:
        methods: names of the OAuth registry, such as ``client_secret_basic``.
        clock: seconds since the Unix epoch.
    """

    def __init__(self, methods: tuple[str, ...], clock: Callable[[], float]) -> None:
        self._methods = methods
        self._clock = clock
        self._lock = threading.Lock()
        self._assertions: set[str] = set()

    def check(
        self,
        clients: Mapping[str, RegisteredClient],
        form: Mapping[str, str],
        authorization: str | None,
        audiences: list[str],
    ) -> RegisteredClient:
        """Return the client of a request.

        Args:
            authorization: the header ``Authorization``.
            audiences: the values of ``aud`` that an assertion may have.

        Raises:
            Refusal: the client is unknown, or its proof is wrong, or of a method that is not accepted.
        """
        method, client_id = _presented(form, authorization)
        client = clients.get(client_id)
        if client is None or method not in self._methods:
            raise Refusal(Reason.CLIENT_WRONG)
        if method == "private_key_jwt":
            self._check_assertion(client, form["client_assertion"], audiences)
        elif method != "none" and _secret(form, authorization) != client.secret:
            raise Refusal(Reason.CLIENT_WRONG)
        return client

    def _check_assertion(self, client: RegisteredClient, text: str, audiences: list[str]) -> None:
        claims = verified_claims(text, client.public_key)
        rules = JWTClaimsRegistry(
            now=lambda: int(self._clock()),
            iss={"essential": True, "value": client.id},
            sub={"essential": True, "value": client.id},
            aud={"essential": True, "values": audiences},
            exp={"essential": True},
            jti={"essential": True},
        )
        _validate(rules, claims)
        with self._lock:
            if claims["jti"] in self._assertions:
                raise Refusal(Reason.CLIENT_WRONG)
            self._assertions.add(str(claims["jti"]))


def verified_claims(text: str, public_key: str, *, key_id: str = "") -> dict[str, object]:
    """Return the claims of a JWT that a client has signed.

    Args:
        key_id: the ``kid`` that the header must have; empty: any.

    Raises:
        Refusal: the signature is wrong.
    """
    try:
        is_rsa = isinstance(load_pem_public_key(public_key.encode()), RSAPublicKey)
        key = import_key(public_key, "RSA" if is_rsa else "EC")
        token = jwt.decode(text, key, algorithms=["RS256", "PS256"] if is_rsa else ["ES256"])
    except (JoseError, ValueError):
        raise Refusal(Reason.CLIENT_WRONG) from None
    if key_id and token.header.get("kid") != key_id:
        raise Refusal(Reason.CLIENT_WRONG)
    return dict(token.claims)


def _validate(rules: JWTClaimsRegistry, claims: dict[str, object]) -> None:
    try:
        rules.validate(claims)
    except JoseError:
        raise Refusal(Reason.CLIENT_WRONG) from None


def _presented(form: Mapping[str, str], authorization: str | None) -> tuple[str, str]:
    methods = {
        "client_secret_basic": authorization is not None,
        "client_secret_post": "client_secret" in form,
        "private_key_jwt": form.get("client_assertion_type") == ASSERTION_TYPE,
    }
    presented = [name for name, is_presented in methods.items() if is_presented]
    if len(presented) > 1:
        # A client must not use more than one method in each request (RFC 6749, 2.3).
        raise Refusal(Reason.REQUEST_WRONG)
    if authorization is not None:
        return "client_secret_basic", _basic(authorization)[0]
    return (presented or ["none"])[0], form.get("client_id", "")


def _secret(form: Mapping[str, str], authorization: str | None) -> str:
    return form["client_secret"] if authorization is None else _basic(authorization)[1]


def _basic(authorization: str) -> tuple[str, str]:
    # Both parts are encoded as form fields before they are joined (RFC 6749, 2.3.1).
    try:
        scheme, _, text = authorization.partition(" ")
        name, separator, secret = b64decode(text, validate=True).decode().partition(":")
    except ValueError:
        raise Refusal(Reason.CLIENT_WRONG) from None
    if scheme.lower() != "basic" or not separator:
        raise Refusal(Reason.CLIENT_WRONG)
    return unquote_plus(name), unquote_plus(secret)
