"""The account: the pages of a user who is logged in."""

from strongroom_login_pages.account.access_keys import AccessKeyPages
from strongroom_login_pages.account.connections import ConnectionPages
from strongroom_login_pages.account.contacts import ContactPages
from strongroom_login_pages.account.devices import DevicePages
from strongroom_login_pages.account.factors import FactorPages
from strongroom_login_pages.account.invitations import InvitationPages
from strongroom_login_pages.account.password import PasswordPages
from strongroom_login_pages.account.privacy import PrivacyPages
from strongroom_login_pages.account.profile import ProfilePages
from strongroom_login_pages.account.proofs import CodePages
from strongroom_login_pages.account.security import SecurityPages
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.visit import Area


def account_areas(progress: LoginProgress) -> tuple[Area, ...]:
    """Return the pages by subject."""
    return (
        SecurityPages(),
        FactorPages(progress),
        ProfilePages(),
        ContactPages(),
        ConnectionPages(),
        CodePages(),
        PasswordPages(),
        DevicePages(),
        AccessKeyPages(),
        InvitationPages(),
        PrivacyPages(),
    )
