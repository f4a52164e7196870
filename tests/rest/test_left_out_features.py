"""A server without a feature starts, answers 501 on its routes, and serves everything else."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from tests.support.api import Api
from tests.support.config import write_api_config
from tests.support.scanners import SCANNING, install_word_scanner
from tests.support.scene import Scene

from strongroom.assembly.app import create_app
from strongroom.assembly.features import FEATURES
from strongroom.content.business_files.feature import BusinessFilesFeature
from strongroom.content.files.retention.feature import RetentionFeature
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.uploads.direct_feature import DirectUploadsFeature
from strongroom.foundation.config import ConfigurationError, load
from strongroom.web.feature import Feature
from strongroom.web.http.routing import Operation

OPTIONAL = (RetentionFeature, ScanningFeature, BusinessFilesFeature, DirectUploadsFeature)


def without(kind: type[Feature]) -> tuple[Feature, ...]:
    return tuple(feature for feature in FEATURES if not isinstance(feature, kind))


def routes(feature: Feature) -> Iterator[tuple[str, str]]:
    """Yield the methods and paths of a feature, with a value for each parameter."""
    app = Flask("feature", static_folder=None)
    for blueprint in feature.register_blueprints():
        app.register_blueprint(blueprint)
    for rule in app.url_map.iter_rules():
        if isinstance(app.view_functions[rule.endpoint], Operation):
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield method, re.sub("<[^>]*>", "x", rule.rule)


@pytest.mark.parametrize("kind", OPTIONAL)
def test_a_server_without_a_feature_serves_everything_else(config: Path, kind: type[Feature]) -> None:
    with Api.running(config, features=without(kind)) as api:
        scene = Scene(api)
        file = scene.file("file")
        assert api.get(f"{scene.path}/files/{file['id']}", by=scene.admin).status_code == 200
        left_out = list(routes(kind()))
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
