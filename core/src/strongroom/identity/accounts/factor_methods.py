"""The second factors that are enabled, and what they show to a user."""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from strongroom.foundation import errors
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.sessions.factor_enrolments import FactorEnrolments
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.models import SINGLE_KINDS, USERNAME, FactorRow
from strongroom.identity.users.passwords import UserPasswords
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.factors import (
    FactorUser,
    PasswordlessFactor,
    SecondFactor,
    factor_kind,
    member_name,
)

Summary = Mapping[str, Mapping[str, Any]]
"""What each factor shows to its user, by the member of its answer."""


@dataclass(slots=True, eq=False, repr=False)
class FactorMethods:
    """Second factors by their kind, and users as factors see them."""

    _users: UserService
    _credentials: CredentialService
    _passwords: UserPasswords
    _enrolments: FactorEnrolments
    _enrolled: EnrolledFactors
    _keys: SecretKeys

    def method(self, kind: str) -> SecondFactor[Any]:
        """Return the enabled factor of a kind.

        Raises:
            ValidationFailed: there is none.
        """
        methods = {factor_kind(name): method for name, method in self._enrolments.methods.items()}
        if kind not in methods:
            message = f"Must be one of: {', '.join(sorted(methods)) or 'none is enabled'}."
            raise errors.ValidationFailed.of_field("kind", "unknown", message)
        return methods[kind]

    def user(self, connection: Connection, user_id: str) -> FactorUser:
        """Return a user as ceremonies see one."""
        held = {item.kind: item.address for item in self._credentials.of_user(connection, user_id)}
        name = self._users.get(connection, user_id).name
        account = next((held[kind] for kind in SINGLE_KINDS if kind in held), name or user_id)
        return FactorUser(user_id, account, name, self._handle(user_id))

    def _handle(self, user_id: str) -> str:
        # Derived, and so permanent without a row that two first enrolments could both write.
        digest = hmac.digest(self._keys.derive("user-handle"), user_id.encode(), "sha512")
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    def summary(self, connection: Connection, user_id: str) -> Summary:
        """Return what each factor shows to its user."""
        user = self.user(connection, user_id)
        summaries = {
            member_name(name): method.summary(user, self._enrolled.of_kind(connection, user_id, name))
            for name, method in self._enrolments.methods.items()
        }
        return {name: summary for name, summary in summaries.items() if summary}

    def is_login_option(self, row: FactorRow) -> bool:
        """Return whether an enrolment lets its user log in without another proof."""
        return isinstance(self._enrolments.methods.get(row.factor), PasswordlessFactor)

    def has_login_option(self, connection: Connection, user_id: str) -> bool:
        """Return whether a user can log in: a username alone is none."""
        # Locked, so that no concurrent transaction removes the others.
        self._credentials.lock_user(connection, user_id)
        kinds = {held.kind for held in self._credentials.of_user(connection, user_id)}
        return (
            bool(kinds - {USERNAME})
            or self._passwords.has_password(connection, user_id)
            or any(map(self.is_login_option, self._enrolled.of_user(connection, user_id)))
        )
