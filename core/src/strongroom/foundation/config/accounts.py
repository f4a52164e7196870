"""The keys of users, login, messages, tokens and the audit log."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strongroom.plugin_api import option

_REGION: Final = re.compile("[A-Z]{2}")


@dataclass(frozen=True, slots=True)
class UsersSettings:
    """Registration and deletion of users."""

    registration: str = option(
        "open",
        choices=("open", "invited", "closed"),
        help="Who may register, by POST /users or by the first login: anyone, only people with an "
        "invitation, or no one. Administrators can always create users.",
    )
    require_terms: bool = option(
        False,
        help="Whether users who register must accept the terms, `pages.terms_version`.",
    )
    link_url: str = option(
        "",
        help="The page on which users set a password by a link of an administrator; the token is "
        'appended, as in "https://app.example.com/password#". Absent: the page of a plugin.',
    )
    restore_url: str = option(
        "",
        help="The page on which users take back a contact that was replaced or removed, by the link in "
        'the notice; the token is appended, as in "https://app.example.com/restore#". Absent: the page '
        "of a plugin.",
        advanced=True,
    )
    deletion_grace_days: int = option(
        14,
        minimum=0,
        maximum=365,
        help="Days for which users can cancel the deletion of their own account; 0: it is deleted at "
        "once. 7 to 30 are usual.",
    )
    erase_after_days: int = option(
        30,
        minimum=0,
        maximum=36_500,
        help="Days after which `prune` erases the name and the logins of a deleted user.",
    )
    max_import_lines: int = option(
        1_000_000,
        minimum=1,
        maximum=100_000_000,
        help="The maximum number of lines of an import of users.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        for name, page in (("link_url", "password"), ("restore_url", "restore")):
            url: str = getattr(self, name)
            if url and not re.fullmatch(r"https?://[^/?#@\s]+(/\S*)?", url):
                raise ValueError(f'{name}: must be like "https://app.example.com/{page}#"')


@dataclass(frozen=True, slots=True)
class LoginSettings:
    """The login methods; the options of a method are in ``[login.METHOD]``."""

    methods: tuple[str, ...] = option(
        ("password", "sms", "email_code"),
        help="The enabled login methods, in the order in which they are tried. The default contains "
        "only those that an enabled plugin provides.",
    )
    default_region: str = option(
        "CN", help="The ISO 3166 code of the region of mobile numbers without a country code."
    )
    sms_regions: tuple[str, ...] | None = option(
        None,
        help="The ISO 3166 codes of the regions whose mobile numbers get SMS. Absent: `default_region`.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        for key, codes in (("default_region", (self.default_region,)), ("sms_regions", self.regions)):
            if not all(_REGION.fullmatch(code) for code in codes):
                raise ValueError(f'{key}: must have ISO 3166 codes such as "CN"')

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions whose mobile numbers get SMS."""
        return (self.default_region,) if self.sms_regions is None else self.sms_regions


FACTOR_AUDIENCES: Final = ("all", "admin", "tenant-admin")
"""The values of ``second_factors.required_for``."""


@dataclass(frozen=True, slots=True)
class SecondFactorsSettings:
    """Second factors; the options of a factor are in ``[second_factors.FACTOR]``."""

    methods: tuple[str, ...] | None = option(
        None,
        help="The second factors that users may enrol. Absent: all that the enabled plugins offer.",
    )
    required_for: tuple[str, ...] = option(
        (),
        help="The users who must have a second factor: all, admin (administrators of the server), "
        "tenant-admin (administrators of a tenant).",
    )
    grace_days: int = option(
        0,
        minimum=0,
        maximum=365,
        help="Days for which such a user may log in without one, counted once from the first login that "
        "would need it. Afterwards the login only leads to the enrolment.",
    )


@dataclass(frozen=True, slots=True)
class CaptchaSettings:
    """Captchas; the other keys of the section are the options of the provider."""

    provider: str = option("image", help="The name of a registered captcha provider.")
    pages_provider: str | None = option(
        None,
        help="The provider of the captchas on pages, such as the login pages; another one than "
        '`provider` has its default options. Absent: "proof_of_work" if `provider` is "image", which '
        "browsers solve without the user, or else `provider`. The REST API accepts no such captcha.",
    )

    @property
    def name_for_pages(self) -> str:
        """The name of the provider of pages."""
        automatic = "proof_of_work" if self.provider == "image" else self.provider
        return automatic if self.pages_provider is None else self.pages_provider


@dataclass(frozen=True, slots=True)
class MessagesSettings:
    """E-mail and SMS; the options of a sender are in ``[messages.SENDER]``."""

    email: tuple[str, ...] = option(("console",), help="The senders of e-mail, tried in this order.")
    sms: tuple[str, ...] = option(("console",), help="The senders of SMS, tried in this order.")
    language: str = option(
        "en",
        choices=("en", "zh"),
        help="The default language of messages, for requests without a supported Accept-Language.",
    )
    retention_days: int = option(
        90,
        minimum=0,
        maximum=36_500,
        help="Days after which `prune` deletes the record of a message; 0: never.",
        advanced=True,
    )
    templates_dir: Path | None = option(
        None,
        help="A folder of files LANGUAGE/OCCASION.txt that replace the built-in texts. Absent: none.",
    )
    code_in_subject: bool = option(
        True,
        help="Whether e-mails for a login or a new address have the code in the subject, so that a "
        "notification shows it.",
        advanced=True,
    )
    site_in_sms: bool = option(
        False,
        help="Whether SMS with a code end with a line such as `@example.com #123456`, so that browsers "
        "fill it in on that site only. Gateways with templates of their own ignore it.",
        advanced=True,
    )


@dataclass(frozen=True, slots=True)
class PasswordsSettings:
    """Password hashing."""

    bcrypt_cost: int = option(
        12,
        minimum=4,
        maximum=18,
        help="The base-2 logarithm of bcrypt's rounds. Raising it is always safe. Lowering it lets an "
        "attacker detect, by the time of a failed login, accounts that have not logged in since.",
    )


@dataclass(frozen=True, slots=True)
class TokensSettings:
    """Access tokens and refresh tokens."""

    algorithm: str = option(
        "HS256", choices=("HS256", "RS256"), help="The signature algorithm of access tokens."
    )
    lifetime_seconds: int = option(
        1800, minimum=1, maximum=31_536_000, help="The lifetime of an access token in seconds."
    )
    refresh_lifetime_seconds: int = option(
        2_592_000,
        minimum=1,
        maximum=31_536_000,
        help="The lifetime of a refresh token in seconds; a login that is idle for longer ends.",
    )
    refresh_reuse_seconds: int = option(
        10,
        minimum=0,
        maximum=300,
        help="Seconds after its use for which a refresh token may be presented again, by another tab or "
        "after a lost answer, and gets the same successor; 0: a second use always ends the login.",
        advanced=True,
    )
    session_lifetime_days: int = option(
        90,
        minimum=0,
        maximum=3650,
        help="The maximum lifetime of a login in days, even if its tokens are refreshed; 0: unlimited.",
    )
    keys_file: Path | None = option(
        None,
        help="The file of a private JWK Set (RFC 7517); the first key signs, all keys verify. Absent: "
        "generated in data_dir, in development only.",
    )

    def __post_init__(self) -> None:
        if self.refresh_lifetime_seconds < self.lifetime_seconds:
            raise ValueError(
                "refresh_lifetime_seconds: must be at least the lifetime of access tokens, "
                f"tokens.lifetime_seconds = {self.lifetime_seconds}"
            )


@dataclass(frozen=True, slots=True)
class AccessKeysSettings:
    """Access keys of users and service accounts."""

    default_lifetime_days: int = option(
        90,
        minimum=1,
        maximum=36_500,
        help="Days after which an access key ends, unless its creation states an end.",
    )
    max_lifetime_days: int = option(
        366, minimum=1, maximum=36_500, help="The maximum lifetime of an access key in days."
    )
    max_per_user: int = option(
        100,
        minimum=0,
        maximum=100_000,
        help="The maximum number of access keys per user; 0: none.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        if self.default_lifetime_days > self.max_lifetime_days:
            raise ValueError(
                "default_lifetime_days: must be at most "
                f"access_keys.max_lifetime_days = {self.max_lifetime_days}"
            )


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """The audit log."""

    retention_days: int = option(
        0,
        minimum=0,
        maximum=36_500,
        help="Days after which `audit prune` and `prune` delete a record; 0: never.",
    )
