"""Sample values of the templates that ``strongroom init`` writes; production refuses each of them."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

SECRETS_TO_FILL_IN: Final = {
    "database_url": "postgresql+psycopg://strongroom:PASSWORD@127.0.0.1/strongroom",
    "s3_secret": "SECRET-ACCESS-KEY",
    "smtp_password": "PASSWORD",
    "sms_secret": "SECRET",
}
"""Secrets of other services, which the operator has to fill in, by the names of their files."""

_SAMPLES: Final = frozenset(
    {
        *SECRETS_TO_FILL_IN.values(),
        # Names of access keys, in the configurations of a cluster and of Kubernetes.
        "AKIAEXAMPLE",
        "LTAI-example",
        # The mail server, the signature and the templates of messages.
        "mail.example.com",
        "Example <no-reply@example.com>",
        "Example",
        *(f"SMS_{number}" for number in range(1, 6)),
    }
)


def is_sample(value: str) -> bool:
    """Return whether a value, or the password in a URL, is one that the templates have."""
    text = value.strip()
    return text in _SAMPLES or ("://" in text and _password(text) in _SAMPLES)


def samples_in(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all sample values in nested tables."""
    if isinstance(values, dict):
        for key, value in values.items():
            yield from samples_in(value, (*path, key))
    elif isinstance(values, str) and is_sample(values):
        yield path


def _password(url: str) -> str | None:
    try:
        return urlsplit(url).password
    except ValueError:
        return None
