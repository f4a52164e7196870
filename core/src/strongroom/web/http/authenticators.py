"""The authenticators of plugins: ways to present an access key other than as a bearer token."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api.authentication import Authenticator, RequestHead
from strongroom.web.http.request import client_address, current_environ

_CHALLENGES: Final = "strongroom.challenges"


@dataclass(slots=True, eq=False, repr=False)
class RequestHeaders(Mapping[str, str]):
    """The headers of a WSGI environ; names are compared without regard to case."""

    _environ: Mapping[str, Any]

    def __getitem__(self, name: str) -> str:
        key = name.upper().replace("-", "_")
        value: str = self._environ[key if key in _UNPREFIXED else f"HTTP_{key}"]
        return value

    def __iter__(self) -> Iterator[str]:
        for key in self._environ:
            if key in _UNPREFIXED or key.startswith("HTTP_"):
                yield key.removeprefix("HTTP_").replace("_", "-").title()

    def __len__(self) -> int:
        return sum(1 for _ in self)


_UNPREFIXED = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH"})


class Authenticators:
    """The registered authenticators."""

    def __init__(self, authenticators: Mapping[str, Authenticator]) -> None:
        self._authenticators = dict(authenticators)

    @property
    def names(self) -> frozenset[str]:
        """The names by which routes can accept authenticators."""
        return frozenset(self._authenticators)

    def find(self, names: Sequence[str]) -> str | None:
        """Return the access key of the current request, found by the first of the authenticators.

        A 401 in response to the request names the challenges of all of them.
        """
        head = _head()
        current_environ()[_CHALLENGES] = [self._authenticators[name].challenge for name in names]
        for name in names:
            credential = self._authenticators[name].credential(head)
            if credential is not None:
                return credential.value
        return None


def current_challenges() -> Sequence[str]:
    """Return the challenges of the authenticators that the route of the current request accepts."""
    challenges: Sequence[str] = current_environ().get(_CHALLENGES, ())
    return challenges


def _head() -> RequestHead:
    environ = current_environ()
    return RequestHead(
        method=environ["REQUEST_METHOD"],
        path=environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", ""),
        query=environ.get("QUERY_STRING", ""),
        headers=RequestHeaders(environ),
        address=client_address(),
    )
