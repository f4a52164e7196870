"""Values of ``acr`` are compared by their order."""

import pytest

from strongroom_oidc_provider.logins.assurance import ACR_VALUES, find_requested, is_at_least


@pytest.mark.parametrize(
    ("acr_values", "requested"),
    [("", None), ("1 2", None), ("phr", "phr"), ("0 phrh urn:strongroom:mfa", "phrh")],
)
def test_the_first_known_value_counts(acr_values: str, requested: str | None) -> None:
    assert find_requested(acr_values) == requested


def test_each_value_includes_those_before_it() -> None:
    for number, requested in enumerate(ACR_VALUES):
        accepted = [acr for acr in ACR_VALUES if is_at_least(acr, requested)]
        assert accepted == list(ACR_VALUES[number:])
    assert is_at_least("unknown", None)
    assert not is_at_least("unknown", ACR_VALUES[0])
