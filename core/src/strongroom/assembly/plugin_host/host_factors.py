"""Implements ``host.factors`` by the services of the REST API."""

import builtins
from typing import Any

from strongroom.foundation import errors as core_errors
from strongroom.foundation.limits.service import RateLimits
from strongroom.identity.accounts.factor_changes import FactorChanges
from strongroom.identity.accounts.factor_enrolling import FactorEnrolling
from strongroom.identity.accounts.factor_reports import FactorReports, to_info
from strongroom.identity.accounts.views import PROOF_HEADERS, proof_of_headers
from strongroom.identity.sessions.login_challenges import LoginChallenges
from strongroom.plugin_api.factors import FactorInfo, FactorsAPI, Json, OpenEnrolment, factor_kind
from strongroom.web.http.access import current_identity, own_id
from strongroom.web.http.request import client, get_service, origin


class HostFactors(FactorsAPI):
    """Implements ``host.factors`` for the caller of the current request."""

    def begin(self, user_id: str, factor: str, name: str = "") -> OpenEnrolment:
        enrolment = get_service(FactorEnrolling).begin(
            current_identity(),
            own_id(user_id),
            factor_kind(factor),
            name,
            proof_of_headers(),
            PROOF_HEADERS,
        )
        return OpenEnrolment(enrolment.id, enrolment.expires_at, enrolment.shown)

    def confirm(
        self,
        user_id: str,
        enrolment_id: str,
        answer: Any,
        *,
        member: str,
        name: str | None = None,
        with_recovery_codes: bool = False,
    ) -> tuple[FactorInfo, Json]:
        row, shown = get_service(FactorEnrolling).confirm(
            current_identity(),
            own_id(user_id),
            enrolment_id,
            answer,
            origin(),
            member=member,
            name=name,
            with_recovery_codes=with_recovery_codes,
        )
        return to_info(row), shown

    def list(self, user_id: str, factor: str) -> builtins.list[FactorInfo]:
        rows = get_service(FactorReports).of_kind(current_identity(), own_id(user_id), factor)
        return [to_info(row) for row in rows]

    def get(self, user_id: str, factor: str, factor_id: str) -> FactorInfo:
        info = next((each for each in self.list(user_id, factor) if each.id == factor_id), None)
        if info is None:
            raise core_errors.NotFound
        return info

    def rename(self, user_id: str, factor: str, factor_id: str, name: str) -> FactorInfo:
        self.get(user_id, factor, factor_id)
        row, _ = get_service(FactorChanges).rename(
            current_identity(),
            own_id(user_id),
            factor_id,
            name,
            proof_of_headers(),
            PROOF_HEADERS,
            origin(),
        )
        return to_info(row)

    def remove(self, user_id: str, factor: str, factor_id: str) -> None:
        self.get(user_id, factor, factor_id)
        get_service(FactorChanges).remove(
            current_identity(),
            own_id(user_id),
            factor_id,
            proof_of_headers(),
            PROOF_HEADERS,
            origin(),
        )

    def begin_login(self, factor: str) -> OpenEnrolment:
        get_service(RateLimits).check("challenge_per_address")
        challenge = get_service(LoginChallenges).issue(None, client())
        if factor_kind(factor) not in challenge.methods:
            raise core_errors.NotImplementedHere
        return OpenEnrolment(challenge.id, challenge.expires_at, challenge.shown)
