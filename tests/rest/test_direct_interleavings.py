"""Direct uploads in the middle of others, and of their expiry, end as if one had followed the other."""

import hashlib
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.support.api import Api, Json
from tests.support.config import lifted, main_storage, write_api_config
from tests.support.databases import on_postgresql
from tests.support.features import needs
from tests.support.interleaved_requests import Pair, Preparation, Stage, search
from tests.support.interleaving import Action, Interleaving
from tests.support.stores import oss_store

from strongroom.extensions.uploads.direct_feature import DirectUploadsFeature

pytestmark = [on_postgresql, needs(DirectUploadsFeature), pytest.mark.extended]

CONTENT = b"content"


@pytest.fixture
def stage(tmp_path: Path, database_url: str) -> Iterator[Stage]:
    with oss_store() as store:
        options = {**store.options(), "direct_uploads": True, "addressing": "path"}
        changes = main_storage(options)
        with Api.running(write_api_config(tmp_path, database_url, *changes, lifted())) as api:
            yield Stage(api)


def announced(stage: Stage, name: str) -> Json:
    """Begin an upload and send its content to the store."""
    checksum = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
    body = {"name": name, "size": len(CONTENT), "checksum": checksum}
    answer = stage.api.post(f"{stage.path}/direct-uploads", body, by=stage.admin)
    assert answer.status_code == 201, answer.text
    upload: Json = answer.json
    url = urlsplit(upload["url"])
    connection = HTTPConnection(url.netloc, timeout=30)
    target = f"{url.path}?{url.query}"
    connection.request(upload["method"], target, CONTENT, upload["headers"])
    assert connection.getresponse().status == 200
    connection.close()
    return upload


def complete(stage: Stage, upload: Json) -> Action:
    path = f"{stage.path}/direct-uploads/{upload['uploadId']}/complete"
    return stage.request("POST", path, json={})


def completions(stage: Stage) -> Pair:
    upload = announced(stage, stage.name())
    return complete(stage, upload), complete(stage, upload)


def completions_of_a_name(stage: Stage) -> Pair:
    name = stage.name()
    one, other = (announced(stage, name) for _ in range(2))
    return complete(stage, one), complete(stage, other)


def a_completion_and_an_upload(stage: Stage) -> Pair:
    name = stage.name()
    return complete(stage, announced(stage, name)), stage.upload(name)


PAIRS: list[Preparation] = [
    completions,
    completions_of_a_name,
    a_completion_and_an_upload,
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.__name__)
def test_the_outcomes_are_those_of_one_after_the_other(stage: Stage, pair: Preparation) -> None:
    def reserved() -> int:
        used: int = stage.api.get(f"{stage.path}/usage", by=stage.admin).json["reservedBytes"]
        return used

    search(stage, pair, reserved)


def test_of_two_completions_that_are_refused_neither_fails(stage: Stage) -> None:
    """The second is refused for the same reason, or finds that the first one gave the upload up."""

    def prepare() -> Pair:
        name = stage.name()
        upload = announced(stage, name)
        stage.file(name)
        return complete(stage, upload), complete(stage, upload)

    found = set(Interleaving(stage.api.container.database).every(prepare))
    refused, gone = "error.name-conflict", "error.not-found"
    assert found <= {(refused, refused), (refused, gone), (gone, refused)}
