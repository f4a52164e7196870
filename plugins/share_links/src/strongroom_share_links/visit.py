"""One request of a visitor for a page of a share."""

from collections.abc import Mapping
from typing import Any, Final

from marshmallow import Schema, fields, validate

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.visits import Visit
from strongroom_share_links.proofs import MAX_LENGTH

NAME_LENGTH: Final = 100
"""The longest name of a sender."""


class PasswordForm(Schema):
    """The form of a share with a password."""

    password = fields.String(required=True, load_only=True, validate=validate.Length(max=MAX_LENGTH))


class DropForm(Schema):
    """The fields of the forms of a drop box: the sender's name, and the file."""

    uploaded_by = fields.String(data_key="uploadedBy", validate=validate.Length(max=NAME_LENGTH))
    file = fields.String()


class ShareVisit(Visit):
    """A request of a visitor, who needs no session.

    Args:
        secret: the secret of the share.
        csrf: the secret of forms; empty for a share that anyone may open, whose forms need none.
        problems: the keys of the texts of faults.
    """

    def __init__(
        self, host: HostAPI, secret: str, csrf: str = "", problems: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(host, f"/s/{secret}")
        self._csrf = csrf
        self._problems = problems

    @property
    def csrf(self) -> str:
        return self._csrf

    @property
    def here(self) -> str:
        return self.request.full_path.rstrip("?")

    def menu(self) -> Mapping[str, Any]:
        """Return no menu: a share is not a part of the visitor's account."""
        return {}

    def page(self, template: str, **values: Any) -> Any:
        return super().page(template, problems=self._problems, **values)
