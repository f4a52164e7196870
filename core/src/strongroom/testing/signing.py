"""The contract tests of the types of tokens that a plugin signs for other services."""

from typing import Final

import pytest

from strongroom.testing.state import OpenedPlugin

_AUDIENCE: Final = "https://service.example"


class TokenTypesContract:
    """The rules of ``register_token_types``. Requires a fixture ``opened``."""

    def test_there_are_types_and_each_is_declared_once(self, opened: OpenedPlugin) -> None:
        assert opened.token_types
        assert len(opened.token_types) == len(set(opened.token_types))

    def test_each_can_be_signed_and_verified(self, opened: OpenedPlugin) -> None:
        signing = opened.host.signing
        for typ in opened.token_types:
            token = signing.sign({}, audience=_AUDIENCE, subject="someone", lifetime=60, typ=typ)
            assert signing.verify(token, audience=_AUDIENCE, typ=typ)["sub"] == "someone"

    def test_none_is_of_a_token_for_this_server(self, opened: OpenedPlugin) -> None:
        signing = opened.host.signing
        for typ in opened.token_types:
            with pytest.raises(ValueError, match="another service"):
                signing.sign({}, audience=signing.issuer, lifetime=60, typ=typ)
