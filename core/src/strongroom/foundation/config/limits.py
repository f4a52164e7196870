"""The keys of ``[limits]``: a profile of all limits, and single limits that override it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from strongroom.foundation.config.rates import Rate, rates
from strongroom.foundation.config.sources import RawConfiguration
from strongroom.plugin_api import option

STRICT: Final = "strict"
NORMAL: Final = "normal"
OFF: Final = "off"

_STRICT: Final[Mapping[str, Any]] = {
    "login_failures_seconds": 86_400,
    "login_failures_per_address_before_captcha": 10,
    "code_per_device": ["1/minute", "5/hour"],
    "code_per_recipient": ["1/minute", "3/hour", "5/day"],
    "code_per_address": ["10/hour", "50/day"],
    "invitations_per_recipient": ["1/hour", "3/day"],
    "invitations_per_user": ["20/hour", "100/day"],
    "public_per_address": ["120/minute"],
    "login_per_address": ["120/hour"],
    "challenge_per_address": ["240/hour"],
    "available_per_address": ["10/hour"],
    "captchas_per_address": ["120/hour"],
    "strength_per_address": ["240/hour"],
    "register_per_address": ["10/hour"],
    "reset_per_address": ["20/hour"],
    "setup_per_address": ["60/hour"],
    "unknown_codes_per_address": ["20/hour"],
    "wrong_codes_per_recipient_daily": 10,
    "wrong_keys_per_address": ["60/hour"],
    "leaked_keys_per_address": ["20/hour"],
    "username_changes_per_user": ["3/day"],
    "own_exports_per_user": ["1/day"],
    "managed_users_per_caller": ["240/hour"],
}

# Not here: what protects passwords, codes, keys and captchas from guessing, users from floods of
# messages, and the knowledge of who is registered.
_VOLUME: Final = (
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
)

PROFILES: Final[Mapping[str, Mapping[str, Any]]] = {
    STRICT: _STRICT,
    NORMAL: {},
    OFF: dict.fromkeys(_VOLUME, ()),
}
"""The values of ``[limits]`` by profile, as far as they differ from the defaults of the keys."""


def apply_profile(raw: RawConfiguration) -> None:
    """Set the limits of the profile that are not set by name; their origin is the profile's."""
    path = ("limits", "profile")
    for name, value in PROFILES.get(str(raw.get(path)), {}).items():
        if not raw.states(("limits", name)):
            raw.set(("limits", name), value, raw.origin(path))


_override = partial(option, advanced=True)


@dataclass(frozen=True, slots=True)
class LimitsSettings:
    """Rate limits: a profile, and limits that override it by name.

    Each list contains rates such as "5/hour", and all of them apply; an empty list is no limit.
    """

    profile: str = option(
        NORMAL,
        choices=(STRICT, NORMAL, OFF),
        help="The values of all limits. strict: about a fifth of the normal rates. off: no limits of "
        "volume, in development only; those that protect passwords, codes and keys from guessing and "
        "users from floods of messages remain. Each limit can be overridden by its name, "
        "such as login_per_address.",
    )
    login_failures_before_captcha: int = _override(
        3,
        minimum=0,
        maximum=1000,
        help="Failed logins per name before a captcha is required.",
    )
    login_failures_seconds: int = _override(
        3600,
        minimum=1,
        maximum=2_592_000,
        help="Seconds after the last failed login of a name until its failures no longer count.",
    )
    login_failures_per_address_before_captcha: int = _override(
        30,
        minimum=0,
        maximum=100_000,
        help="Failed logins per client address (IPv6: per /64) in a fixed window of an hour before a "
        "captcha is required.",
    )
    code_per_device: tuple[Rate, ...] = _override(
        rates("1/minute"), help="Verification codes requested per device."
    )
    code_per_recipient: tuple[Rate, ...] = _override(
        rates("1/minute", "5/hour", "10/day"), help="Verification codes sent per recipient."
    )
    code_per_address: tuple[Rate, ...] = _override(
        rates("30/hour", "200/day"), help="Verification codes requested per client address."
    )
    invitations_per_recipient: tuple[Rate, ...] = _override(
        rates("3/hour", "10/day"), help="Invitations sent per e-mail address or mobile number."
    )
    invitations_per_user: tuple[Rate, ...] = _override(
        rates("100/hour", "500/day"), help="Invitations sent by a user."
    )
    public_per_address: tuple[Rate, ...] = _override(
        rates("600/minute"),
        help="Changes without a token per client address, such as refreshes, by routes without a limit "
        "of their own.",
    )
    login_per_address: tuple[Rate, ...] = option(
        rates("600/hour"), help="Login attempts per client address."
    )
    challenge_per_address: tuple[Rate, ...] = _override(
        rates("1200/hour"), help="Challenges of logins by a passkey per client address."
    )
    available_per_address: tuple[Rate, ...] = _override(
        rates("60/hour"),
        help="Checks per client address whether a credential is available; beyond it, a captcha is "
        "required.",
    )
    captchas_per_address: tuple[Rate, ...] = _override(
        rates("600/hour"), help="Captchas created per client address."
    )
    strength_per_address: tuple[Rate, ...] = _override(
        rates("1200/hour"), help="Password strength checks per client address."
    )
    register_per_address: tuple[Rate, ...] = _override(
        rates("30/hour"), help="Registration attempts per client address."
    )
    reset_per_address: tuple[Rate, ...] = _override(
        rates("60/hour"), help="Password reset attempts per client address."
    )
    setup_per_address: tuple[Rate, ...] = _override(
        rates("600/hour"), help="Attempts per client address to create the first administrator."
    )
    unknown_codes_per_address: tuple[Rate, ...] = _override(
        rates("60/hour"),
        help="Verification attempts per client address with ids that were never issued.",
    )
    wrong_codes_per_recipient_daily: int = _override(
        20,
        minimum=1,
        maximum=100_000,
        help="Wrong verification codes per recipient and day, across all codes sent to the recipient.",
    )
    wrong_keys_per_address: tuple[Rate, ...] = _override(
        rates("600/hour"),
        help="Wrong access keys per client address; beyond it, right keys are refused, too.",
    )
    leaked_keys_per_address: tuple[Rate, ...] = _override(
        rates("60/hour"), help="Reports of leaked access keys per client address."
    )
    username_changes_per_user: tuple[Rate, ...] = _override(
        rates("10/day"), help="Username changes attempted per user."
    )
    own_exports_per_user: tuple[Rate, ...] = _override(
        rates("2/day"), help="Exports of the own data per user."
    )
    managed_users_per_caller: tuple[Rate, ...] = _override(
        rates("1200/hour"),
        help="Users created, and credentials of others changed, per administrator.",
    )
