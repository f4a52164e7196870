"""A server without a feature starts, answers 501 on its routes, and serves everything else."""

import re
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.config import write_api_config
from tests.support.features import OPTIONAL, routes
from tests.support.scanners import SCANNING, install_word_scanner
from tests.support.scene import Scene

from strongroom.assembly.app import create_app
from strongroom.assembly.features import FEATURES
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.foundation.config import ConfigurationError, load
from strongroom.web.feature import Feature


def without(kind: type[Feature]) -> tuple[Feature, ...]:
    return tuple(feature for feature in FEATURES if not isinstance(feature, kind))


@pytest.mark.parametrize("kind", OPTIONAL)
def test_a_server_without_a_feature_serves_everything_else(config: Path, kind: type[Feature]) -> None:
    with Api.running(config, features=without(kind)) as api:
        scene = Scene(api)
        file = scene.file("file")
        assert api.get(f"{scene.path}/files/{file['id']}", by=scene.admin).status_code == 200
        left_out = [(method, re.sub("<[^>]*>", "x", path)) for _, method, path, _ in routes(kind())]
        assert left_out
        for method, path in left_out:
            response = api.request(method, path)
            assert response.status_code == 501, (method, path)
        api.container.start()
        dict(api.container.prune_job().run())
        published = {event.type.name for event in kind().register_event_types()}
        assert not published & api.container.events.log.types().keys()
        assert api.get("/openapi.json").status_code == 200


def test_scanners_without_scans_prevent_the_start(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_word_scanner(tmp_path / "plugins", monkeypatch)
    config = load(write_api_config(tmp_path, database_url, SCANNING), {})
    with pytest.raises(ConfigurationError, match="this server has no scans"):
        create_app(config, features=without(ScanningFeature))
