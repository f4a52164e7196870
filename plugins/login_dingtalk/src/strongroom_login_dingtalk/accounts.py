"""Accounts that a company owns (专属帐号): its administrators create them, and enter their numbers.

``topapi/v2/user/get`` states ``exclusive_account``, a boolean, and for such accounts also
``exclusive_account_corp_id``, the company that has created it, and ``exclusive_account_type``, ``sso``
or ``dingtalk``. Private accounts have the first member only.

Source: https://open.dingtalk.com/document/orgapp/query-user-details, with the names in DingTalk's SDKs.
"""

from collections.abc import Callable
from dataclasses import replace

from strongroom_login_oauth.answer import Json
from strongroom_login_oauth.errors import NotMember
from strongroom_login_oauth.provider import Identity


def require_owned(account: Json, corp_id: str) -> None:
    """Require that a company owns an account.

    Raises:
        NotMember: it is a private account, or another company owns it.
    """
    owner = account.optional_text("exclusive_account_corp_id")
    if not account.boolean("exclusive_account") or owner != corp_id:
        raise NotMember("the account is not one that the company owns")


def with_proof(identity: Identity, account: Callable[[], Json]) -> Identity:
    """Return the identity whose trusted number is proven if no company owns the account.

    Of people outside of the app's company, the owner is unknown.

    Args:
        account: returns the account; raises ``NotMember`` for such people.
    """
    if not any(contact.is_trusted for contact in identity.contacts):
        return identity
    try:
        is_proven = account().members.get("exclusive_account") is False
    except NotMember:
        is_proven = False
    contacts = tuple(replace(contact, is_proven=is_proven) for contact in identity.contacts)
    return replace(identity, contacts=contacts)
