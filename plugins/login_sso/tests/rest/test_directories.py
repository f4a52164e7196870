"""Directories of other tenants create no user with an address of a proven domain."""

from sqlalchemy import select
from tests.support.directories import Company
from tests.support.plugin_calls import refusal

from strongroom.identity.users.models import credentials
from strongroom.testing.clock import HOUR

from .spaces import Space, Spaces

DAY = 24 * HOUR


def test_another_tenants_directory_creates_no_such_user(spaces: Spaces, space: Space) -> None:
    company = Company.made(spaces.api)
    with refusal("credential-taken"):
        company.provision(f"ann@{space.domain}")
    user = company.provision("ann@elsewhere.example")
    with refusal("credential-taken"):
        company.change(user, email=f"ann@{space.domain.upper()}")
    # The answer is the same as for an address of another user.
    spaces.api.person(email="bob@elsewhere.example")
    with refusal("credential-taken"):
        company.provision("bob@elsewhere.example")


def test_the_tenants_own_directory_does(spaces: Spaces, space: Space) -> None:
    owner = spaces.api.person()
    company = Company.made(spaces.api, owner)
    added = spaces.api.post(f"{company.path}/domains", {"domain": "acme.example"}, by=owner).json
    spaces.dns.texts[f"{added['recordName']}."] = [added["recordValue"]]
    path = f"{company.path}/domains/{added['id']}/verification"
    assert spaces.api.post(path, by=owner).status_code == 200
    assert company.role(company.provision("ann@acme.example")) == "member"
    # A domain that nobody has proven is anyone's.
    assert company.role(company.provision("ann@elsewhere.example")) == "member"


def is_verified(spaces: Spaces, user_id: str) -> bool:
    query = select(credentials.c.is_verified).where(
        credentials.c.user_id == user_id, credentials.c.kind == "email"
    )
    with spaces.api.container.database.read() as connection:
        return bool(connection.execute(query).scalar_one())


def test_a_person_whom_the_directory_has_created_logs_in_at_once(spaces: Spaces, space: Space) -> None:
    company = Company.of_tenant(spaces.api, space.admin, space.path)
    user = company.provision(f"ann@{space.domain}")
    assert is_verified(spaces, user.id)
    assert space.log_in(f"ann@{space.domain}").json["user"]["id"] == user.id
    outside = company.provision("bob@elsewhere.example")
    assert not is_verified(spaces, outside.id)


def test_a_directory_moves_addresses_within_its_own_domain_only(spaces: Spaces, space: Space) -> None:
    company = Company.of_tenant(spaces.api, space.admin, space.path)
    user = company.provision(f"ann@{space.domain}")
    company.change(user, email=f"ann.lee@{space.domain}")
    assert is_verified(spaces, user.id)
    assert space.log_in(f"ann.lee@{space.domain}").json["user"]["id"] == user.id
    for email in ("ann@elsewhere.example", None):
        with refusal("not-managed-here"):
            company.change(user, email=email)
    other = spaces.create(number=1)
    with refusal("credential-taken"):
        company.change(user, email=f"ann@{other.domain}")


def test_a_domain_that_is_lost_is_anyones(spaces: Spaces, space: Space) -> None:
    space.unpublish()
    spaces.api.clock.advance(DAY)
    spaces.check_domains()
    spaces.api.clock.advance(7 * DAY)
    company = Company.made(spaces.api)
    assert company.role(company.provision(f"ann@{space.domain}")) == "member"
