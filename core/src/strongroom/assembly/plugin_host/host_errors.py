"""The errors of the methods of a host, by the groups that plugins name."""

from collections.abc import Mapping, Sequence
from typing import Final

from strongroom.extensions.uploads.views import RECEIVE_ERRORS
from strongroom.foundation import errors
from strongroom.foundation.errors import StrongroomError
from strongroom.identity.accounts.credential_views import PROOF_ERRORS
from strongroom.plugin_api.web import HostErrors

_LOGIN_PROOF: Final = (errors.InvalidCredentials, errors.TooManyRequests, errors.Unavailable)

HOST_ERRORS: Final[Mapping[HostErrors, Sequence[type[StrongroomError]]]] = {
    HostErrors.LOG_IN: (
        *_LOGIN_PROOF,
        errors.SecondFactorRequired,
        errors.FactorEnrolmentRequired,
        errors.CredentialConflict,
        errors.UserSuspended,
        errors.RegistrationClosed,
        errors.InvitationRequired,
    ),
    HostErrors.BIND: (
        *_LOGIN_PROOF,
        errors.CodeInvalid,
        errors.WrongPassword,
        errors.FreshProofRequired,
        errors.Forbidden,
        errors.CredentialTaken,
    ),
    HostErrors.UNBIND: (
        errors.Forbidden,
        errors.NotFound,
        errors.LastContact,
        errors.CodeInvalid,
        errors.TooManyRequests,
    ),
    HostErrors.STATES: (errors.StateInvalid, errors.TooManyRequests),
    HostErrors.FACTORS: (
        errors.Forbidden,
        errors.NotFound,
        errors.LastContact,
        errors.FactorNeeded,
        errors.ChallengeInvalid,
        errors.FactorInvalid,
        *PROOF_ERRORS,
    ),
    HostErrors.UPLOADS: RECEIVE_ERRORS,
}
