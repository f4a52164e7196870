"""Verified credentials, which are ids from answers of platforms."""

import pytest

from strongroom.plugin_api.login import MAX_CREDENTIAL, Credential, LoginUnavailable, VerifiedCredential

LONG = "x" * (MAX_CREDENTIAL + 1)


@pytest.mark.parametrize("value", ["", LONG, "x" * 100_000, "a\0b", "\ud800"], ids=ascii)
def test_an_id_that_no_database_stores_is_the_platforms_failure(value: str) -> None:
    known = Credential("acme", "x" * MAX_CREDENTIAL)
    with pytest.raises(LoginUnavailable, match="acme_union"):
        VerifiedCredential(known, also=(Credential("acme_union", value),))
    with pytest.raises(LoginUnavailable, match="acme"):
        VerifiedCredential(Credential("acme", value))
