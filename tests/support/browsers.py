"""Chromium with its virtual authenticator, which plays the devices that keep passkeys."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect, sync_playwright

_BINARIES: Final = Path("/usr/bin")
_HEADLESS: Final = _BINARIES / "chromium-headless-shell"

# A page takes a third of the processor time in the shell, which has no windows.
CHROMIUM: Final = _HEADLESS if _HEADLESS.exists() else _BINARIES / "chromium"

needs_chromium: Final = pytest.mark.skipif(
    not CHROMIUM.exists(), reason=f"there is no browser at {CHROMIUM}"
)
"""Marks a test that is skipped on a machine without Chromium."""

EXPECTED_WITHIN: Final = 120_000
"""Milliseconds within which a page must show what a test expects."""

PLATFORM: Final[Mapping[str, Any]] = {"transport": "internal"}
SECURITY_KEY: Final[Mapping[str, Any]] = {"transport": "usb"}
SYNCED: Final[Mapping[str, Any]] = {
    "transport": "internal",
    "defaultBackupEligibility": True,
    "defaultBackupState": True,
}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Chromium until the block ends."""
    # By default 5 and 30 seconds, which a busy machine exceeds.
    expect.set_options(timeout=EXPECTED_WITHIN)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=EXPECTED_WITHIN
        )
        browser.on("context", _be_patient)
        yield browser
        browser.close()


def _be_patient(context: BrowserContext) -> None:
    context.set_default_timeout(EXPECTED_WITHIN)


class VirtualAuthenticator:
    """A device with passkeys, whose user is present and verified. All are that of the pages of a tab.

    Args:
        page: a page of the tab.
        kind: the device: :data:`PLATFORM`, :data:`SECURITY_KEY` or :data:`SYNCED`.
    """

    def __init__(self, page: Page, kind: Mapping[str, Any] = PLATFORM) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "ctap2Version": "ctap2_1",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
            **kind,
        }
        added = self._session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        self._id = added["authenticatorId"]
        self.deleted: list[str] = []
        """The ids of passkeys that pages have reported as deleted."""
        self._session.on("WebAuthn.credentialDeleted", self._note_deletion)

    def set(self, command: str, **values: Any) -> None:
        """Send a command of CDP about this device, such as ``setResponseOverrideBits``."""
        self._session.send(f"WebAuthn.{command}", {"authenticatorId": self._id, **values})

    @property
    def credentials(self) -> list[dict[str, Any]]:
        """The passkeys of the device."""
        found = self._session.send("WebAuthn.getCredentials", {"authenticatorId": self._id})
        credentials: list[dict[str, Any]] = found["credentials"]
        return credentials

    def clone(self) -> None:
        """Play a copy of the device that was made before its passkey was used."""
        (credential,) = self.credentials
        self.set("removeCredential", credentialId=credential["credentialId"])
        self.set("addCredential", credential={**credential, "signCount": 1})

    def _note_deletion(self, event: Mapping[str, Any]) -> None:
        self.deleted.append(event["credentialId"])
