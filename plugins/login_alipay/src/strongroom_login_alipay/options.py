"""Configuration options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

from strongroom.plugin_api import option
from strongroom_login_alipay.keys import private_key, public_key
from strongroom_login_oauth.options import AppOptions, OAuthOptions, require_private

WITH_NAME: Final = "auth_user"
SILENT: Final = "auth_base"

_FORMS: Final = "as PEM or bare base64"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlipayApp(AppOptions):
    """The keys of a section ``[login.alipay.apps.NAME]``: one app registered with Alipay."""

    app_id: str = option(help="The APPID of the app.")
    private_key: str | None = option(
        None, secret=True, help=f"The app's private key, {_FORMS}; or `private_key_file`."
    )
    private_key_file: Path | None = option(None, help=f"The file with the app's private key, {_FORMS}.")
    alipay_public_key: str | None = option(
        None,
        secret=False,
        help=f"Alipay's public key for this app, {_FORMS}; or `alipay_public_key_file`.",
    )
    alipay_public_key_file: Path | None = option(
        None, help=f"The file with Alipay's public key for this app, {_FORMS}."
    )
    scope: str = option(
        WITH_NAME,
        choices=(WITH_NAME, SILENT),
        help="`auth_user` reads the nickname with consent; `auth_base` only the id.",
    )
    page_url: str = option(
        "https://openauth.alipay.com", help="The base URL of the page that begins a login."
    )
    gateway_url: str = option("https://openapi.alipay.com", help="The base URL of the gateway.")

    def __post_init__(self) -> None:
        if not self.app_id.isdigit():
            raise ValueError('app_id: must be digits, like "2021000000000001"')
        require_private("page_url", self.page_url)
        require_private("gateway_url", self.gateway_url)
        self.read_private_key()
        self.read_alipay_key()

    def read_private_key(self) -> RSAPrivateKey:
        """Return the app's private key.

        Raises:
            ValueError: there is none, or two, or it is no RSA key.
        """
        name, text = _choose("private_key", self.private_key, self.private_key_file)
        try:
            return private_key(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    def read_alipay_key(self) -> RSAPublicKey:
        """Return Alipay's public key; raises as :meth:`read_private_key`."""
        name, text = _choose("alipay_public_key", self.alipay_public_key, self.alipay_public_key_file)
        try:
            return public_key(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlipayOptions(OAuthOptions):
    """The keys of the section ``[login.alipay]``."""

    apps: dict[str, AlipayApp] = option(help="The apps for login, each under a name of your choice.")


def _choose(name: str, text: str | None, file: Path | None) -> tuple[str, str]:
    """Return the key of the configuration, and the text that it gives."""
    if (text is None) == (file is None):
        raise ValueError(f"{name}: required, as {name} or {name}_file")
    if file is None:
        return name, text or ""
    try:
        return f"{name}_file", file.read_text("ascii")
    except (OSError, ValueError):
        failure = "is not readable"
    raise ValueError(f"{name}_file: {failure}")
