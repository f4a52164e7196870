"""Asks the login methods in use what an attempt proves."""

import logging
from collections.abc import Mapping, Sequence

from strongroom.errors import InvalidCredentials, Unavailable
from strongroom.plugin_api.login import (
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    LoginUnavailable,
    VerifiedCredential,
)
from strongroom.plugin_api.web import ApiError, ErrorKind

logger = logging.getLogger(__name__)


class LoginMethods:
    """The login methods in use.

    Args:
        methods: in the order they are asked.
        refusals: the kinds of errors that plugins have registered, by their codes.
    """

    def __init__(
        self, methods: Sequence[LoginMethod[object]], refusals: Mapping[str, ErrorKind]
    ) -> None:
        self.methods = tuple(methods)
        self._refusals = refusals

    def prove(self, attempt: LoginAttempt) -> tuple[str, VerifiedCredential]:
        """Return what an attempt proves, after the name of the method that says so.

        Raises:
            InvalidCredentials: it proves nothing.
            ApiError: likewise, for a reason of the method's own.
            Unavailable: nobody can tell now.
        """
        for method in self.methods:
            if attempt.method in (None, method.name):
                verified = self._ask(method, attempt)
                if verified is not None:
                    return method.name, verified
        raise InvalidCredentials

    def _ask(self, method: LoginMethod[object], attempt: LoginAttempt) -> VerifiedCredential | None:
        try:
            return method.authenticate(attempt)
        except LoginRejected as rejected:
            kind = self._refusals.get(rejected.code)
            raise (ApiError(kind) if kind else InvalidCredentials()) from rejected
        except LoginUnavailable as away:
            level = logging.ERROR if away.misconfigured else logging.WARNING
            logger.log(level, "Nobody can log in by %s now: %s", method.name, away)
            raise Unavailable(retry_after=away.retry_after) from away
