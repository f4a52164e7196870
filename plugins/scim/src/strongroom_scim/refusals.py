"""Errors of the server as errors of SCIM (RFC 7644, section 3.12)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from scim2_models import (
    ConflictException,
    InvalidValueException,
    NotFoundException,
    PreconditionFailedException,
    SCIMException,
    UniquenessException,
)

from strongroom.plugin_api.web import ApiError

_KINDS: Final[dict[str, type[SCIMException]]] = {
    "error.credential-taken": UniquenessException,
    "error.group-name-taken": UniquenessException,
    "error.last-administrator": ConflictException,
    "error.not-a-member": InvalidValueException,
    "error.not-found": NotFoundException,
    "error.not-managed-here": ConflictException,
    "error.revision-conflict": PreconditionFailedException,
    "error.too-many-groups": ConflictException,
    "error.validation-failed": InvalidValueException,
}


class Refusal(SCIMException):
    """An error without a kind in SCIM; ``retry_after`` is in seconds."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(detail=str(error))
        self.status = error.status
        self.retry_after = error.retry_after


def refusal_from(error: ApiError) -> SCIMException:
    """Return the error of SCIM for one of the server."""
    kind = _KINDS.get(error.code)
    if kind is None:
        return Refusal(error)
    details = "; ".join(f"{item.field}: {item.message}" for item in error.details)
    return kind(detail=details or str(error))


@contextmanager
def as_scim_errors() -> Iterator[None]:
    """Convert the server's errors of a block."""
    try:
        yield
    except ApiError as error:
        raise refusal_from(error) from error
