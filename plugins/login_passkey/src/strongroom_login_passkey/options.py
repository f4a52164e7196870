"""The options, and the relying party that they describe."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class PasskeyOptions:
    """The keys of ``[second_factors.passkey]``."""

    rp_id: str = option(
        "",
        help="The domain that passkeys belong to: the host of server.public_url or a parent domain of "
        "it. Passkeys are lost if it changes. Empty: the host.",
    )
    rp_name: str = option("Strongroom", help="The name of the service in the dialogs of browsers.")
    origins: tuple[str, ...] = option(
        (),
        help="Further origins whose pages may use the passkeys, such as https://example.net; the origin "
        "of server.public_url always may.",
        advanced=True,
    )
    passwordless: bool = option(
        True,
        help="Whether a passkey alone logs in. Otherwise it is only accepted after another proof.",
        advanced=True,
    )
    attestation_roots: Path | None = option(
        None,
        help="A PEM file of root certificates of authenticators. Passkeys that cannot leave a device, "
        "and whose attestation leads to one of them, have the acr phrh. Absent: none.",
        advanced=True,
    )
    enroll_url: str = option(
        "",
        help="The page on which users add passkeys, for password managers. Empty: none.",
        advanced=True,
    )
    manage_url: str = option(
        "",
        help="The page on which users manage passkeys, for password managers. Empty: none.",
        advanced=True,
    )
    change_password_url: str = option(
        "",
        help="The page on which users change the password, for password managers. Empty: the login "
        "pages' own, if there are any. Needed only for a page elsewhere.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        for text in self.origins:
            if text != _get_origin(urlsplit(text)):
                raise ValueError(f"origins: must be origins such as https://example.net, not {text}")
        for key in ("enroll_url", "manage_url", "change_password_url"):
            text = getattr(self, key)
            if text and urlsplit(text).scheme not in ("https", "http"):
                raise ValueError(f"{key}: must be an absolute URL, not {text}")


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The server as authenticators know it (WebAuthn, section 4).

    Args:
        id: the domain that passkeys belong to.
        name: its name in the dialogs of browsers.
        origins: the origins of the pages that may use the passkeys; the server's own is the first.
        roots: root certificates of attestations, in PEM.
    """

    id: str
    name: str
    origins: tuple[str, ...]
    roots: bytes | None = None

    @classmethod
    def of(cls, options: PasskeyOptions, public_url: str) -> "RelyingParty":
        """Return the relying party of a server.

        Raises:
            ValueError: browsers would refuse it.
            OSError: the root certificates cannot be read.
        """
        url = urlsplit(public_url)
        host = url.hostname or ""
        rp_id = options.rp_id or host
        _require_domain(public_url, url, host)
        if rp_id != host and not (host.endswith(f".{rp_id}") and "." in rp_id):
            raise ValueError(
                f"rp_id must be {host}, the host of server.public_url, or a parent domain, not {rp_id}"
            )
        roots = options.attestation_roots.read_bytes() if options.attestation_roots else None
        origins = dict.fromkeys((_get_origin(url), *options.origins))
        return cls(rp_id, options.rp_name, tuple(origins), roots)


def _require_domain(public_url: str, url: SplitResult, host: str) -> None:
    advice = "set server.public_url to https://DOMAIN, or to http://localhost:PORT for development"
    if _is_address(host):
        raise ValueError(f"browsers have no passkeys for the IP address {host}; {advice}")
    is_local = host == "localhost" or host.endswith(".localhost")
    if url.scheme != "https" and not is_local:
        raise ValueError(f"browsers have no passkeys on {public_url}; {advice}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _get_origin(url: SplitResult) -> str:
    """Return the origin as browsers write it (RFC 6454, section 6.2): without a default port."""
    default = {"https": 443, "http": 80}.get(url.scheme)
    port = f":{url.port}" if url.port not in (None, default) else ""
    return f"{url.scheme}://{url.hostname}{port}"
