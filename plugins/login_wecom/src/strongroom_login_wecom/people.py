"""The credentials of people, by the answers of WeCom."""

import re
from collections.abc import Iterator
from typing import Final

from strongroom.plugin_api.login import Contact, Credential, Proofs
from strongroom_login_oauth.answer import Json

KIND: Final = "wecom"
"""The kind of credentials: ``corpid:userid`` of members, ``corpid:openid:id`` of outsiders."""

_USERID = re.compile(r"[!-.0-9;-~]{1,64}")


def member_credential(info: Json, corpid: str, userid: str) -> Credential:
    """Return the credential of a member. WeCom ignores the case of a userid, but keeps it in answers.

    Raises:
        ProviderUnavailable: the userid is undocumented.
    """
    if not _USERID.fullmatch(userid):
        raise info.unexpected("userid")
    return Credential(KIND, f"{corpid}:{userid.lower()}")


def verified_contacts(detail: Json, proofs: Proofs) -> Iterator[Contact]:
    """Return the mobile number, and the corporate mailbox in the corporation's own domain.

    The number of a member who has logged in to WeCom is proven: administrators cannot replace it
    (https://developer.work.weixin.qq.com/document/path/90197, ``mobile``). Not ``email``: members and
    administrators choose it, and WeCom does not verify it.
    """
    number = (detail.optional_text("mobile") or "").replace(" ", "")
    international = number if number.startswith("+") else f"+86{number}"
    for kind, text in (("mobile", international), ("email", detail.optional_text("biz_mail") or "")):
        contact = proofs.identify(text)
        if contact is not None and contact.kind == kind:
            # `contact_data` asks for them only if the operator agrees.
            yield Contact(contact, is_proven=True, is_trusted=True)
