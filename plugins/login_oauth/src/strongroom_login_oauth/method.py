"""The login method: verifies a person by the answer of a provider."""

import json
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar, cast

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import (
    Credential,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    LoginUnavailable,
    Proofs,
    VerifiedCredential,
)
from strongroom.plugin_api.web import ErrorKind
from strongroom_login_oauth.errors import (
    AccessDenied,
    ClientFault,
    CodeExpired,
    Misconfigured,
    ProviderError,
    ProviderUnavailable,
    error_kind,
    kinds,
    unknown_kind,
)
from strongroom_login_oauth.options import PlatformOptions
from strongroom_login_oauth.provider import Answer, Identity, Provider
from strongroom_login_oauth.tickets import Outcome, Tickets

OptionsT = TypeVar("OptionsT", bound=PlatformOptions)

OPERATOR_PAUSE: Final = 60
"""``Retry-After`` in seconds while the configuration is wrong."""


class OAuthLogin(LoginMethod[OptionsT]):
    """Handles attempts that name the method. A plugin derives from it.

    The proof is what :func:`make_proof` returns, unless :meth:`read_answer` is overridden.
    """

    platform: ClassVar[str]
    """The English name of the platform, for messages of errors."""

    platform_labels: ClassVar[Mapping[str, str]]
    """The name of the platform by language, for connected accounts."""

    kinds: ClassVar[tuple[str, ...]]
    """The kinds of the credentials that its providers verify, the main one first."""

    selector: ClassVar[str] = "app"
    """What its providers are called in the REST API: ``app`` or ``provider``."""

    code_parameters: ClassVar[tuple[str, ...]] = ("code",)
    """The names that the redirect may use for the authorization code."""

    parameters: ClassVar[tuple[str, ...]] = ("iss",)
    """The names of the other parameters of the redirect that providers need."""

    removal_errors: ClassVar[tuple[ErrorKind, ...]] = ()
    """The errors of :meth:`require_removable`."""

    code_recipients = frozenset()

    def __init__(self, options: OptionsT, proofs: Proofs) -> None:
        super().__init__(options, proofs)
        self.providers = self.make_providers()
        self._host: HostAPI | None = None

    def attach(self, host: HostAPI) -> None:
        """Keep the server, whose shared values providers and tickets use."""
        self._host = host

    @property
    def host(self) -> HostAPI:
        """The server, which exists wherever a provider sends requests.

        Raises:
            RuntimeError: the method is used without a server.
        """
        if self._host is None:
            raise RuntimeError(f"the login method {self.name} has no server")
        return self._host

    @property
    def tickets(self) -> Tickets:
        """The results of redirects that wait for the person's own proof."""
        return Tickets(self.host)

    @classmethod
    def request_path(cls) -> str:
        """Return the path by which clients of the REST API begin a login or a binding."""
        return f"/api/v1/{cls.name}-authorization-requests"

    @classmethod
    def ids_path(cls, user: str = "me") -> str:
        """Return the path of a user's accounts at the platform."""
        return f"/api/v1/users/{user}/{cls.name}-ids"

    @abstractmethod
    def make_providers(self) -> Mapping[str, Provider]:
        """Return the providers by name. Called once, and must send no request.

        Providers that are added while the server runs are a mapping that looks them up, and that
        iterates over none: clients must know the name of one.
        """

    @classmethod
    def registers(cls, options: OptionsT) -> bool:
        """Return whether the first login of an unknown person creates a user."""
        return options.register

    @classmethod
    def error_kinds(cls) -> list[ErrorKind]:
        """Return the errors of the method, for the hook ``register_errors``."""
        return kinds(cls.name, cls.platform, cls.selector)

    def get_prefix(self, name: str) -> str:  # noqa: ARG002  for overriding
        """Return the beginning of the values of a provider's credentials.

        A provider with one is a platform of its own, which users connect and remove apart from the
        others. By default there is none: all providers are apps of one platform.
        """
        return ""

    def require_removable(self, name: str | None) -> None:
        """Require that users may remove their accounts of a provider; by default they may.

        Args:
            name: the provider; ``None``: all of them.

        Raises:
            ApiError: one of :attr:`removal_errors`.
        """

    def replaced(self, held: Sequence[Credential]) -> Collection[Credential]:
        """Return the credentials that a new binding releases: one of each scope that has two.

        The scope of a credential is its value before the first colon, such as the name of the provider;
        the id behind it may have colons. Values without a colon are in one scope. A person has one id in
        a scope, so two are ids of two people.
        """
        ids = [credential for credential in held if credential.kind in self.kinds]
        scopes = [(item.kind, item.value.partition(":")[0] if ":" in item.value else "") for item in ids]
        return [item for item, scope in zip(ids, scopes, strict=True) if scopes.count(scope) > 1]

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        """Return the verified credential, or ``None`` if the attempt does not name this method.

        Raises:
            LoginRejected: the proof is invalid.
            LoginUnavailable: the provider could not verify the proof.
        """
        if attempt.method != self.name:
            return None
        name = attempt.proof.get(self.selector, "")
        provider = self.providers.get(name)
        if provider is None:
            unknown = unknown_kind(self.name, self.selector)
            raise LoginRejected(unknown.message, code=unknown.code)
        if "ticket" in attempt.proof:
            return self._of_ticket(attempt.proof["ticket"])
        return self.verified(provider, self._identify(name, provider, attempt.proof))

    def read_answer(self, proof: Mapping[str, str]) -> Answer:
        """Return the answer of the provider in a proof.

        Raises:
            AccessDenied: the redirect has no code.
        """
        parameters = cast("dict[str, Any]", json.loads(proof.get("parameters", "{}")))
        if not proof.get("code"):
            raise AccessDenied("the redirect has no code")
        members = {name: proof.get(name, "") for name in STATE_MEMBERS}
        return Answer(proof["code"], **members, parameters=parameters)

    def outcome(self, proof: Mapping[str, str]) -> Outcome:
        """Return the credential of a proof, or the refusal or failure of it."""
        name = proof[self.selector]
        provider = self.providers[name]
        try:
            return self.verified(provider, self._identify(name, provider, proof))
        except (LoginRejected, LoginUnavailable) as failure:
            return failure

    def _of_ticket(self, ticket: str) -> VerifiedCredential:
        verified = self.tickets.consume(ticket)
        if verified is None:
            expired = error_kind(CodeExpired, self.name, self.platform)
            raise LoginRejected(expired.message, code=expired.code)
        return verified

    def verified(self, provider: Provider, identity: Identity) -> VerifiedCredential:
        """Return the credential of an identity."""
        return VerifiedCredential(
            identity.credential,
            also=identity.also,
            contacts=identity.contacts,
            may_register=self.options.register and provider.register,
            display_name=identity.display_name,
            assurance=identity.assurance,
            session=identity.session,
            context=dict(identity.claims),
        )

    def faults(self) -> Iterator[str]:
        """Return why providers refuse the configuration, or do not respond."""
        for name, provider in self.providers.items():
            try:
                provider.check()
            except ProviderError as error:
                yield f"{self.selector} {name}: {error}"

    def warnings(self) -> Iterator[str]:
        """Return which providers share a redirect URI, so that one can log in as users of another."""
        for name, provider in self.providers.items():
            if provider.shared_redirect_uri:
                yield (
                    f"{self.selector} {name}: shares its redirect URI, so another platform that does "
                    "can log in as its users; register the one that ends in its name, and remove "
                    "shared_redirect_uri"
                )

    def close(self) -> None:
        """Close the providers."""
        for provider in self.providers.values():
            provider.close()

    def _identify(self, name: str, provider: Provider, proof: Mapping[str, str]) -> Identity:
        try:
            return provider.identify(self.read_answer(proof))
        except ClientFault as fault:
            kind = error_kind(type(fault), self.name, self.platform)
            raise LoginRejected(str(fault) or kind.message, code=kind.code) from fault
        except ProviderError as error:
            raise self.unavailable(name, error) from error

    def unavailable(self, name: str, error: ProviderError) -> LoginUnavailable:
        """Return the failure of a login for an error that is not the client's."""
        if isinstance(error, ProviderUnavailable):
            return LoginUnavailable(str(error), retry_after=error.retry_after)
        where = f"[login.{self.name}.{self.selector}s.{name}]"
        message = f"{self.platform} refuses {where}: {error}"
        is_wrong = isinstance(error, Misconfigured)
        return LoginUnavailable(message, retry_after=OPERATOR_PAUSE, misconfigured=is_wrong)


def make_proof(selector: str, state: Mapping[str, str], redirect: Mapping[str, str]) -> dict[str, str]:
    """Return the proof of a login: the data of its state, and the parameters of the redirect.

    Args:
        selector: ``app`` or ``provider``.
        state: the data of the state.
        redirect: ``code`` and the other parameters that the method lists; ``error`` without a code.
    """
    proof = {selector: state["name"], **{name: state[name] for name in STATE_MEMBERS}}
    further = {name: value for name, value in redirect.items() if name != "code"}
    code = redirect.get("code", "")
    return {**proof, "code": code, **({"parameters": json.dumps(further)} if further else {})}


STATE_MEMBERS: Final = ("redirect_uri", "nonce", "code_verifier")
"""What the state keeps on the server for a login, in addition to the name of the provider."""
