"""Error codes of DingTalk as exceptions.

The new interfaces answer with a status of at least 400 and a text as ``code``. The old ones answer with
status 200 and a number as ``errcode``; for 88, ``sub_code`` is the cause.
"""

from typing import Any, Final

from strongroom_login_oauth.answer import Json
from strongroom_login_oauth.client import reason
from strongroom_login_oauth.errors import (
    CodeInvalid,
    Misconfigured,
    NotMember,
    ProviderError,
    ProviderUnavailable,
    TokenRefused,
)

LIMIT_PAUSE: Final = 60
"""``Retry-After`` in seconds after too many requests."""

_OK: Final = 200
_SEE_SUB_CODE: Final = 88

_BY_CODE: Final[tuple[tuple[str, type[ProviderError]], ...]] = (
    ("invalidparameter.authcode", CodeInvalid),
    ("invalidclient", Misconfigured),
    ("forbidden.accessdenied.accesstokenpermissiondenied", Misconfigured),
    ("forbidden.accessdenied.ipnotinwhitelist", Misconfigured),
)
"""By the beginning of a ``code``, whose letters DingTalk writes in either case."""

_LIMITED: Final = ("forbidden.accessdenied.qpslimit", "throttling")

_BY_ERRCODE: Final[dict[int, type[ProviderError]]] = {
    40001: TokenRefused,
    40014: TokenRefused,
    40078: CodeInvalid,
    40079: CodeInvalid,
    42001: TokenRefused,
    50002: Misconfigured,
    60011: Misconfigured,
    60020: Misconfigured,
    60121: NotMember,
}

_LIMITED_ERRCODES: Final = (90002, 90006, 90018)


def checked(answer: Json, request: dict[str, Any], *secrets: str) -> Json:
    """Return an answer of a new interface.

    Args:
        request: the body of the request, whose secrets no message repeats.
        secrets: secrets in its headers.

    Raises:
        ProviderError: the subclass for its ``code``; ``ProviderUnavailable`` for an unknown one.
    """
    if answer.status == _OK and "code" not in answer:
        return answer
    # The documentation says a text; gateways send numbers.
    code = str(answer.members.get("code", ""))[:80]
    said = reason(answer, "message", request, *secrets)
    message = f"{answer.source} returned status {answer.status}, code {code!r}: {said}"
    folded = code.lower()
    if folded.startswith(_LIMITED):
        raise ProviderUnavailable(message, retry_after=LIMIT_PAUSE)
    raise next((kind for start, kind in _BY_CODE if folded.startswith(start)), ProviderUnavailable)(
        message
    )


def checked_old(answer: Json, request: dict[str, Any], *secrets: str) -> Json:
    """Return the ``result`` of an answer of an old interface; raises as :func:`checked`."""
    errcode = answer.integer("errcode")
    if errcode == 0 and answer.status == _OK:
        return answer.object("result")
    said = reason(answer, "errmsg", request, *secrets)
    cause = answer.optional_integer("sub_code", errcode) if errcode == _SEE_SUB_CODE else errcode
    message = f"{answer.source} returned status {answer.status}, errcode {errcode} ({cause}): {said}"
    if cause in _LIMITED_ERRCODES:
        raise ProviderUnavailable(message, retry_after=LIMIT_PAUSE)
    raise _BY_ERRCODE.get(cause, ProviderUnavailable)(message)
