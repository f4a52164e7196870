"""The pages of the account."""

import re
import time
from typing import Final
from uuid import uuid4

import pyotp

from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.sign_in import enrol_app
from tests.support.screens.stage import CAPTCHA
from tests.support.screens.steps import log_in, open_account, own


def show_app(visitor: Visitor) -> None:
    log_in(visitor, visitor.stage.new_email())
    visitor.press("form[action$='/enrolments/totp'] button")


def show_wrong_app(visitor: Visitor) -> None:
    show_app(visitor)
    visitor.fill(totp="000000")
    visitor.press("form[action$='/enrolments/totp/confirmation'] button")


def show_passkey(visitor: Visitor) -> None:
    log_in(visitor, visitor.stage.new_email())
    visitor.fill(name="Laptop")
    visitor.press("form[action$='/enrolments/passkey'] button")


def log_in_with_app(visitor: Visitor) -> None:
    email, secret = enrol_app(visitor)
    log_in(visitor, email)
    # The code of the step before this one was used for the enrolment.
    visitor.fill(totp=pyotp.TOTP(secret).at(int(time.time()) + 30))
    visitor.press("form[action$='/challenge'] button")
    visitor.page.wait_for_url("**/account/")


def show_void_codes(visitor: Visitor) -> None:
    log_in_with_app(visitor)
    visitor.go("/account/enrolments/recovery-code")


def show_new_codes(visitor: Visitor) -> None:
    show_void_codes(visitor)
    visitor.press("main form button")


def show_removal_of_app(visitor: Visitor) -> None:
    log_in_with_app(visitor)
    visitor.follow("a[href*='/factors/']")


HOSTILE_SPACES: Final = (
    "<script>alert(1)</script>",
    "W" * 255,
    "\u0645\u0644\u0641\u0627\u062a \u202e" * 20,
)
"""Names of spaces: with markup, without a place for a break, and from right to left."""


def show_drive_of_hostile_spaces(visitor: Visitor) -> None:
    stage = visitor.stage
    guest = stage.new_user()
    for name in HOSTILE_SPACES:
        tenant = stage.server.tenant(stage.maker, name)
        stage.server.join(tenant, stage.maker, guest)
    open_account(visitor, guest.email)
    visitor.go("/network-drives/")


def show_drive_password(visitor: Visitor) -> None:
    own("/network-drives/?system=macos")(visitor)
    visitor.fill(name="Laptop")
    visitor.press("main form button")


def show_new_key(visitor: Visitor) -> None:
    show_key_form(visitor)
    visitor.fill(name="Laptop")
    visitor.page.locator("[name=scopes]").first.check()
    visitor.press("form[action$='/access-keys'] button:not([type=button])")


def show_removal_of_key(visitor: Visitor) -> None:
    show_new_key(visitor)
    visitor.go("/account/access-keys")
    visitor.follow("a[href$='/removal']")


def show_removal_of_device(visitor: Visitor) -> None:
    email = visitor.stage.new_email()
    visitor.stage.server.log_in(email)
    open_account(visitor, email)
    visitor.go("/account/devices")
    visitor.follow("a[href$='/removal']")


def show_key_form(visitor: Visitor) -> None:
    own("/account/access-keys")(visitor)
    visitor.press("[commandfor=new-key]")


def show_deletion_dialog(visitor: Visitor) -> None:
    own("/account/privacy")(visitor)
    visitor.press("a[data-asks]")
    visitor.page.locator("dialog.question").wait_for()


def show_deletion(visitor: Visitor) -> None:
    open_account(visitor, visitor.stage.new_email())
    visitor.go("/account/privacy/deletion")


def show_scheduled_deletion(visitor: Visitor) -> None:
    show_deletion(visitor)
    visitor.press("main form button")


def show_wrong_password(visitor: Visitor) -> None:
    own("/account/password")(visitor)
    visitor.fill(password="Wrong1Password", newPassword="Another2Horse")
    visitor.press("form[action$='/password'] button:not([type=button])")


def show_invitations(visitor: Visitor) -> None:
    email, stage = visitor.stage.new_email(), visitor.stage
    route = f"/api/v1/tenants/{stage.tenant}/invitations"
    stage.server.succeed("POST", route, by=stage.maker, json_body={"email": email})
    open_account(visitor, email)
    visitor.go("/account/invitations")


def show_refused_invitation(visitor: Visitor) -> None:
    show_invitations(visitor)
    visitor.follow("a[href$='/removal']")


def show_new_address(visitor: Visitor) -> None:
    open_account(visitor, visitor.stage.new_email())
    visitor.go("/account/contacts/email")
    visitor.fill(address=f"{uuid4().hex}@example.com", captchaAnswer=CAPTCHA)
    visitor.press("form[action$='/new-code'] button")


SCOPES: Final = r"\w+:[\w-]+(, )?| · "
SYSTEMS: Final = "Windows|macOS|Linux|rclone"
"""The scopes of access keys, which are names."""


def show_link(visitor: Visitor) -> None:
    visitor.go(f"/account/password-links/{uuid4().hex}")


def show_restoration(visitor: Visitor) -> None:
    stage = visitor.stage
    user = stage.new_user()
    body = {"value": f"{uuid4().hex}@example.com", "verified": True}
    stage.server.succeed("PUT", f"/users/{user.id}/contacts/email", by=stage.root, json_body=body)
    link = re.search(r"http\S+/restore/\S+", stage.last_message(user.email)["text"])
    assert link is not None
    visitor.go(link[0])


def show_void_restoration(visitor: Visitor) -> None:
    visitor.go(f"/account/restore/{uuid4().hex}")


ACCOUNT: Final = (
    Screen("account", "login_pages/account/security", own("/account/")),
    Screen("account with an app", "login_pages/account/security", log_in_with_app),
    Screen("profile", "login_pages/account/profile", own("/account/profile")),
    Screen("address", "login_pages/account/contact", own("/account/contacts/email")),
    Screen("code of a new address", "login_pages/account/contact", show_new_address),
    Screen("number", "login_pages/account/contact", own("/account/contacts/mobile")),
    Screen(
        "removal of the address",
        "login_pages/account/contact_removal",
        own("/account/contacts/email/removal"),
    ),
    Screen("password", "login_pages/account/password", own("/account/password")),
    Screen("password with an error", "login_pages/account/password", show_wrong_password),
    Screen("void of the recovery codes", "login_pages/account/replacement", show_void_codes),
    Screen(
        "new recovery codes",
        "login_pages/account/result",
        show_new_codes,
        names="[A-Z0-9]{4,5}(-[A-Z0-9]{4,5})+",
    ),
    Screen("removal of the app", "login_pages/account/factor_removal", show_removal_of_app),
    Screen("devices", "login_pages/account/devices", own("/account/devices")),
    Screen("removal of a device", "login_pages/account/device_removal", show_removal_of_device),
    Screen(
        "removal of the other devices",
        "login_pages/account/device_removal",
        own("/account/devices/others"),
    ),
    Screen("access keys", "login_pages/account/access_keys", own("/account/access-keys"), names=SCOPES),
    Screen("form of an access key", "login_pages/account/access_keys", show_key_form, names=SCOPES),
    Screen("new access key", "login_pages/account/access_key", show_new_key, names=SCOPES),
    Screen(
        "removal of an access key",
        "login_pages/account/access_key_removal",
        show_removal_of_key,
        names=SCOPES,
    ),
    Screen("connect a computer", "webdav/drive", own("/network-drives/"), names=SYSTEMS),
    Screen(
        "drive of spaces with hostile names",
        "webdav/drive",
        show_drive_of_hostile_spaces,
        names=f"{SYSTEMS}|{re.escape(HOSTILE_SPACES[0])}|W+",
    ),
    Screen("commands of a drive", "webdav/drive", own("/network-drives/?system=rclone"), names=SYSTEMS),
    Screen("password of a drive", "webdav/drive", show_drive_password, names=SYSTEMS),
    Screen("invitations", "login_pages/account/invitations", show_invitations),
    Screen(
        "removal of an invitation", "login_pages/account/invitation_removal", show_refused_invitation
    ),
    Screen("own data", "login_pages/account/privacy", own("/account/privacy")),
    Screen("deletion", "login_pages/account/deletion", show_deletion),
    Screen(
        "deletion in a dialog", "login_pages/account/privacy", show_deletion_dialog, needs_scripts=True
    ),
    Screen("scheduled deletion", "login_pages/account/privacy", show_scheduled_deletion),
    Screen("new authenticator app", "login_pages/account/enrolment", show_app, names="[A-Z2-7]{16,}"),
    Screen(
        "new authenticator app with an error",
        "login_pages/account/enrolment",
        show_wrong_app,
        names="[A-Z2-7]{16,}",
    ),
    Screen("new passkey", "login_pages/account/enrolment", show_passkey),
    Screen("link that sets a password", "login_pages/reset/password_link", show_link),
    Screen("link to a former contact", "login_pages/reset/contact_restoration", show_restoration),
    Screen("void link to a former contact", "login_pages/error", show_void_restoration),
)
