"""The fault of a service that the server needs, such as its database."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceFault:
    """Why a service cannot be used, with a remedy.

    Args:
        message: the text, which contains no password.
        is_temporary: whether the URL may be right.
    """

    message: str
    is_temporary: bool
