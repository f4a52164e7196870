"""Profiles of limits: strict is stricter, and off keeps what protects accounts."""

from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.config import change_config
from tests.support.production import fault

from strongroom.cli.startup import require_offline
from strongroom.foundation.config import load
from strongroom.foundation.config.limits import LimitsSettings
from strongroom.foundation.config.rates import Rate

NORMAL = LimitsSettings()
NAMES = [item.name for item in fields(LimitsSettings) if item.name != "profile"]

# The volume of requests that gain nothing by guessing.
SWITCHED_OFF = {
    "invitations_per_user",
    "public_per_address",
    "challenge_per_address",
    "captchas_per_address",
    "strength_per_address",
    "register_per_address",
    "leaked_keys_per_address",
    "username_changes_per_user",
    "own_exports_per_user",
    "managed_users_per_caller",
}
LONGER_IS_STRICTER = {"login_failures_seconds"}
OF_THE_CONTRACT = {"login_failures_before_captcha"}


def limits(profile: str, **overrides: str) -> LimitsSettings:
    variables = {"profile": profile, **overrides}
    environment = {f"STRONGROOM__LIMITS__{key.upper()}": text for key, text in variables.items()}
    return load(None, environment).settings.limits


def by_name(settings: LimitsSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in NAMES}


def allowed(value: Any, seconds: int) -> Fraction:
    """Return how many events a limit allows in a time, or the number that a count allows."""
    if not isinstance(value, tuple):
        return Fraction(value)
    rates: tuple[Rate, ...] = value
    return min(rate.count * max(Fraction(1), Fraction(seconds, rate.seconds)) for rate in rates)


def test_normal_is_the_default() -> None:
    assert load(None, {}).settings.limits == limits("normal") == NORMAL


@pytest.mark.parametrize("name", NAMES)
def test_strict_allows_less_in_a_day_and_never_more(name: str) -> None:
    strict, normal = getattr(limits("strict"), name), getattr(NORMAL, name)
    if name in OF_THE_CONTRACT:
        assert strict == normal
    elif name in LONGER_IS_STRICTER:
        assert strict > normal
    else:
        assert allowed(strict, 86_400) < allowed(normal, 86_400)
        assert all(allowed(strict, seconds) <= allowed(normal, seconds) for seconds in (1, 60, 3600))


def test_off_removes_the_limits_of_volume_alone() -> None:
    changed = {name for name, value in by_name(limits("off")).items() if value != by_name(NORMAL)[name]}
    assert changed == SWITCHED_OFF
    assert all(getattr(limits("off"), name) == () for name in SWITCHED_OFF)


def test_no_profile_switches_off_what_protects_passwords_codes_and_keys() -> None:
    for profile in ("strict", "normal", "off"):
        settings = by_name(limits(profile))
        assert all(value not in ((), 0) for name, value in settings.items() if name not in SWITCHED_OFF)


@pytest.mark.parametrize("profile", ["strict", "normal", "off"])
def test_a_limit_overrides_its_profile_by_its_name(profile: str) -> None:
    overridden = limits(profile, login_per_address="7/day", public_per_address="8/hour")
    assert overridden.login_per_address == (Rate(7, 86_400),)
    assert overridden.public_per_address == (Rate(8, 3600),)
    assert overridden.reset_per_address == limits(profile).reset_per_address


def test_the_origin_of_a_limit_is_that_of_its_profile(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text('[limits]\nreset_per_address = ["1/day"]\nprofile = "strict"')
    raw = load(path, {}).raw
    assert raw.origin(("limits", "login_per_address")) == f"{path}:3"
    assert raw.origin(("limits", "reset_per_address")) == f"{path}:2"


def test_production_refuses_off(config: Path) -> None:
    change_config(config, {"limits": {"profile": "off"}})
    config.chmod(0o600)
    assert fault(config).endswith(
        'limits.profile: "off" is for development only; raise single limits by their names'
    )


@pytest.mark.parametrize("profile", ["strict", "normal"])
def test_production_accepts_the_others(config: Path, profile: str) -> None:
    change_config(config, {"limits": {"profile": profile}})
    config.chmod(0o600)
    require_offline(load(config, {}))


def test_an_unknown_profile_names_the_known_ones(config: Path) -> None:
    change_config(config, {"limits": {"profile": "strct"}})
    config.chmod(0o600)
    assert fault(config).endswith("limits.profile: must be one of: strict, normal, off")
