"""Requests generated from the OpenAPI document: none breaks the server, each response is as documented.

``STRONGROOM_TEST_SCHEMA_CASES`` is how many requests are generated in all, for each database.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from tests.support.api import Api, Json, Person
from tests.support.campaign import campaign_size
from tests.support.config import Table, merged
from tests.support.full_server import ALL_PLUGINS, Town
from tests.support.logs import own_records
from tests.support.wechat import wechat
from werkzeug.test import Client, TestResponse

pytestmark = pytest.mark.extended

logger = logging.getLogger(__name__)

CASES = campaign_size("SCHEMA_CASES", 220)
load_all_checks()
schemathesis.serializer.alias("application/x-ndjson", "application/octet-stream")
CONFORMANCE: list[Any] = [
    CHECKS.get_one(name) for name in ("response_schema_conformance", "content_type_conformance")
]
REFUSALS = {501, 507}
"""Of a plugin that is not enabled, and of uploads beyond a quota, which a generated change may lower."""
ANY_REQUEST = settings(
    database=None,
    deadline=None,
    # The same requests in each run, so that failures can be repeated.
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


Operation = APIOperation[Any, Any, Any, Any]
Seeds = tuple[Person, Mapping[str, Any]]


@pytest.fixture
def config_changes() -> Iterator[Table]:
    # Registration keeps its default: a generated flood of new users is no part of this campaign.
    rates = {"limits": {"register_per_address": ["30/hour"]}}
    with wechat() as simulated:
        platform = {"open_url": simulated.url, "api_url": simulated.url, "attempts": 1}
        yield merged(ALL_PLUGINS, rates, {"login": {"wechat": platform}})


class ClosingClient(Client):
    """Closes each response before the next request, as a server does."""

    _last: TestResponse | None = None

    def open(self, *args: Any, **options: Any) -> TestResponse:
        self.close()
        self._last = super().open(*args, **options)
        return self._last

    def close(self) -> None:
        """Close the last response: schemathesis reads it, and leaves it open."""
        if self._last is not None:
            self._last.close()


@dataclass
class Report:
    """The statuses of the responses."""

    statuses: Counter[int] = field(default_factory=Counter)
    succeeded: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def add(self, case: Case[Any], status: int, text: str) -> None:
        self.statuses[status] += 1
        if status < 400:
            self.succeeded.add(case.operation.label)
        documented = str(status) in case.operation.definition.raw["responses"]
        if status >= 500 and not (status in REFUSALS and documented):
            self.faults.append(f"{status} {case.as_curl_command()} {text[:300]}")


def seeds(api: Api) -> Seeds:
    """Return an administrator, and path parameters that name what exists."""
    town = Town.built(api)
    return town.root, town.parameters


def seeded(operation: Operation, known: Mapping[str, Any]) -> Json:
    """Return the path parameters of an operation that name what exists."""
    names = {parameter.name for parameter in operation.path_parameters}
    return {name: known[name] for name in names & known.keys()}


def cases(operation: Operation, known: Mapping[str, Any]) -> st.SearchStrategy[Case[Any]]:
    """Return valid and invalid requests for existing and missing resources."""
    found = seeded(operation, known)
    return st.one_of(
        [
            operation.as_strategy(generation_mode=mode, path_parameters=parameters)
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
            for parameters in ([found, None] if found else [None])
        ]
    )


def operations(api: Api) -> Iterator[Operation]:
    schema = schemathesis.openapi.from_wsgi("/openapi.json", api.app)
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        yield result.ok()


def still_there(api: Api, root: Person, known: Mapping[str, Any]) -> bool:
    """Return whether the requests so far have left the seeds as they were."""
    path = f"/api/v1/tenants/{known['tenantId']}/files/{known['fileId']}"
    return api.get(path, by=root).status_code == 200 and api.get("/users", by=root).status_code == 200


def run(api: Api, operation: Operation, seeded_with: Seeds, report: Report, count: int) -> None:
    root, known = seeded_with
    # The type is declared for requests only.
    client: Any = ClosingClient(api.app)

    @settings(ANY_REQUEST, max_examples=count)
    @given(case=cases(operation, known))
    def send(case: Case[Any]) -> None:
        # The client of the application decodes no content.
        headers = {"Authorization": f"Bearer {root.token}", "Accept-Encoding": "identity"}
        response = case.call(session=client, headers=headers)
        report.add(case, response.status_code, response.content.decode(errors="replace"))
        try:
            case.validate_response(response, checks=CONFORMANCE)
        except FailureGroup as failure:
            report.faults += [f"{case.operation.label}: {each}" for each in failure.exceptions]

    with closing(client):
        send()


def test_no_generated_request_breaks_the_server(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    found, report = list(operations(api)), Report()
    with caplog.at_level(logging.ERROR):
        seeded_with = seeds(api)
        for operation in found:
            if not still_there(api, *seeded_with):
                seeded_with = seeds(api)
            run(api, operation, seeded_with, report, max(1, CASES // len(found)))
    assert not report.faults, "\n\n".join(sorted(set(report.faults)))
    assert [record.getMessage() for record in own_records(caplog) if record.exc_info] == []
    missed = sorted({each.label for each in found} - report.succeeded)
    logger.info("%s; %d operations, without success: %s", report.statuses, len(found), missed)
    assert len(report.succeeded) >= len(found) / 3
