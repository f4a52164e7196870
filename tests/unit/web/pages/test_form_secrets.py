"""Tokens of forms: a secret under a random mask."""

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest

from strongroom.web.pages.form_secrets import is_token, masked, new_secret


def test_each_token_is_another_one_and_valid() -> None:
    secret = new_secret()
    tokens = {masked(secret) for _ in range(100)}
    assert len(tokens) == 100
    assert all(is_token(secret, token) for token in tokens)
    assert not any(secret in token for token in tokens)


def test_all_bytes_of_tokens_are_random() -> None:
    secret = new_secret()
    tokens = [urlsafe_b64decode(masked(secret)) for _ in range(500)]
    for column in zip(*tokens, strict=True):
        assert len({*column}) > 150


@pytest.mark.parametrize(
    "value",
    [None, "", "x", "\u00e4", "=" * 64, "*" * 64, "a" * 60, "a" * 63, "a" * 64, "a" * 96, "a" * 4000],
)
def test_another_value_is_no_token(value: str | None) -> None:
    assert is_token(new_secret(), value) is False


def test_the_secret_and_parts_of_a_token_are_no_tokens() -> None:
    secret = new_secret()
    token = masked(secret)
    raw = urlsafe_b64decode(token)
    longer = urlsafe_b64encode(raw + secrets.token_bytes(3)).decode()
    for value in (secret, secret * 2, token[:-1], token[:-4], token[4:], longer, masked(new_secret())):
        assert not is_token(secret, value), value
