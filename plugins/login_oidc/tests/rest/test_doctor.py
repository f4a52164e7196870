"""What ``strongroom doctor`` reports about the users of providers."""

from strongroom.extensions.observability.checks import LoginMethodsCheck, LostCredentialsCheck
from strongroom.extensions.observability.doctor import CheckState

from ..clients import Logins
from ..hostile import HostileProvider
from .browsers import People


def test_the_doctor_warns_of_credentials_of_a_provider_that_was_renamed(
    people: People, provider: HostileProvider
) -> None:
    assert people.log_in("company").status_code == 200
    assert people.log_in("other").status_code == 200
    database = people.api.container.database
    both = Logins({"company": (provider, {}), "other": (provider, {})}).method
    assert list(LostCredentialsCheck(database, [both])()) == []
    renamed = Logins({"firm": (provider, {}), "other": (provider, {})}).method
    (finding,) = LostCredentialsCheck(database, [renamed])()
    assert (finding.part, finding.state) == ("login.oidc", CheckState.WARNING)
    assert finding.message.startswith("1 credentials are of no configured part")


def test_the_doctor_warns_of_providers_that_share_a_redirect_uri(
    provider: HostileProvider,
) -> None:
    method = Logins({"own": (provider, {}), "old": (provider, {"shared_redirect_uri": True})}).method
    (line,) = method.warnings()
    assert line.startswith("provider old: shares its redirect URI")
    findings = list(LoginMethodsCheck([method])())
    assert (findings[-1].part, findings[-1].state) == ("login.oidc", CheckState.WARNING)
    assert findings[-1].message == line
