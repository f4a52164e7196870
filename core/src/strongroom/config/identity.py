"""The keys of who users are: how they prove it, how they are reached, how often they may ask."""

from dataclasses import dataclass
from pathlib import Path

from strongroom.config.rates import Rate, rates
from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class UsersSettings:
    """Registration and deletion of users."""

    registration: str = option(
        "open",
        choices=("open", "invited", "closed"),
        help="Whether people register themselves, by POST /users or by their first login; otherwise "
        "administrators create users.",
    )
    erase_after_days: int = option(
        30,
        minimum=0,
        maximum=36_500,
        help="How long `housekeeping` keeps the name and the logins of a deleted user.",
    )


@dataclass(frozen=True, slots=True)
class LoginSettings:
    """How clients prove who they are; options of a method stand in ``[login.METHOD]``."""

    methods: tuple[str, ...] = option(
        ("password", "sms"),
        help="The login methods in use, in the order they are asked; the default is without sms if "
        "login_sms is not enabled.",
    )
    default_region: str = option(
        "CN", help="The ISO 3166 code of the region whose mobile numbers need no country code."
    )


@dataclass(frozen=True, slots=True)
class CaptchaSettings:
    """The puzzle; the other keys of the section are the options of its provider."""

    provider: str = option("image", help="The name of a registered captcha provider.")
    lifetime_seconds: int = option(
        300, minimum=10, maximum=3600, help="How long a puzzle can be answered."
    )


@dataclass(frozen=True, slots=True)
class MessagesSettings:
    """How people are reached; options of a sender stand in ``[messages.SENDER]``."""

    email: tuple[str, ...] = option(("console",), help="The senders of e-mail, tried in this order.")
    sms: tuple[str, ...] = option(("console",), help="The senders of SMS, tried in this order.")
    language: str = option(
        "en",
        choices=("en", "zh"),
        help="The language of messages to whoever does not say, by Accept-Language, to read another.",
    )
    retention_days: int = option(
        90,
        minimum=0,
        maximum=36_500,
        help="How long `housekeeping` leaves the record of a message alone; 0: for ever.",
    )
    templates: Path | None = option(
        None,
        help="A folder of LANGUAGE/OCCASION.txt, texts in the place of those that ship. Absent: none.",
    )


@dataclass(frozen=True, slots=True)
class PasswordsSettings:
    """How passwords are kept."""

    bcrypt_cost: int = option(
        12,
        minimum=4,
        maximum=18,
        help="The logarithm of bcrypt's rounds. Raise it at will; once lowered, the time of a failed "
        "login tells of accounts that have not been used since.",
    )
    hashes_in_flight: int = option(
        0,
        minimum=0,
        maximum=64,
        help="Hashes a process computes at once for logins, and as many for new passwords; 0: one for "
        "each two cores.",
    )
    hash_queue: int = option(
        16,
        minimum=0,
        maximum=1000,
        help="Requests a process lets wait for a hash, for logins and for new passwords each; further "
        "ones get 503 at once.",
    )


@dataclass(frozen=True, slots=True)
class TokensSettings:
    """The access tokens and refresh tokens."""

    algorithm: str = option("HS256", choices=("HS256", "RS256"), help="The signature of access tokens.")
    lifetime_seconds: int = option(
        1800, minimum=1, maximum=31_536_000, help="How long an access token is good for."
    )
    refresh_lifetime_seconds: int = option(
        2_592_000,
        minimum=1,
        maximum=31_536_000,
        help="How long a refresh token is good for: a login that is not used for so long ends.",
    )
    session_lifetime_days: int = option(
        90,
        minimum=0,
        maximum=3650,
        help="How long a login lasts at most, however often its tokens are refreshed; 0: no limit.",
    )
    keys_file: Path | None = option(
        None,
        help="A private JWK Set (RFC 7517); its first key signs, all verify. Absent: generated in "
        "data_dir, in development.",
    )


@dataclass(frozen=True, slots=True)
class LimitsSettings:
    """How often; each list holds rates such as "5/hour", all of which apply."""

    login_failures_before_captcha: int = option(
        3,
        minimum=0,
        maximum=1000,
        help="Failed logins per name before a captcha is required.",
    )
    login_failures_seconds: int = option(
        3600,
        minimum=1,
        maximum=2_592_000,
        help="Seconds for which the failed logins of a name count, after the last one.",
    )
    login_failures_per_address_before_captcha: int = option(
        30,
        minimum=0,
        maximum=100_000,
        help="Failed logins per client address (IPv6: per /64) in a fixed window of an hour before a "
        "captcha is required.",
    )
    code_per_device: tuple[Rate, ...] = option(
        rates("1/minute"), help="Verification codes sent at the wish of one device."
    )
    code_per_recipient: tuple[Rate, ...] = option(
        rates("1/minute", "5/hour", "10/day"), help="Verification codes sent to one recipient."
    )
    code_per_address: tuple[Rate, ...] = option(
        rates("30/hour", "200/day"), help="Verification codes sent at the wish of one address."
    )
    login_per_address: tuple[Rate, ...] = option(
        rates("600/hour"), help="Login attempts from one address."
    )
    available_per_address: tuple[Rate, ...] = option(
        rates("60/hour"), help="Questions whether a credential is free; past it a captcha is asked."
    )
    captchas_per_address: tuple[Rate, ...] = option(
        rates("600/hour"), help="Captchas made for one address."
    )
    strength_per_address: tuple[Rate, ...] = option(
        rates("1200/hour"), help="Passwords judged for one address, as they are typed."
    )
    register_per_address: tuple[Rate, ...] = option(
        rates("30/hour"), help="Registrations tried from one address."
    )
    reset_per_address: tuple[Rate, ...] = option(
        rates("60/hour"), help="Password resets tried from one address."
    )
    setup_per_address: tuple[Rate, ...] = option(
        rates("600/hour"), help="Attempts from one address to become the first administrator."
    )
    unknown_codes_per_address: tuple[Rate, ...] = option(
        rates("60/hour"),
        help="Verification codes tried from one address under ids that were never issued.",
    )
    wrong_codes_per_recipient_daily: int = option(
        20,
        minimum=1,
        maximum=100_000,
        help="Wrong verification codes per recipient and day, over all codes sent to it.",
    )
    username_changes_per_user: tuple[Rate, ...] = option(
        rates("10/day"), help="Usernames that one user tries to take."
    )


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """The record of what happened."""

    retention_days: int = option(
        0,
        minimum=0,
        maximum=36_500,
        help="How long `audit prune` and `housekeeping` leave a record alone; 0: for ever.",
    )
