"""Features that a server may leave out: the tests of such a feature are skipped without it."""

from collections.abc import Iterator
from typing import Final

import pytest
from flask import Flask

from strongroom.assembly.features import FEATURES, core_blueprints
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.extensions.business_files.feature import BusinessFilesFeature
from strongroom.extensions.retention.feature import RetentionFeature
from strongroom.extensions.uploads.direct_feature import DirectUploadsFeature
from strongroom.web.feature import Feature
from strongroom.web.http.routing import Operation

OPTIONAL: Final = (RetentionFeature, ScanningFeature, BusinessFilesFeature, DirectUploadsFeature)


def is_left_out(kind: type[Feature]) -> bool:
    """Return whether the list of features lacks one."""
    return not any(isinstance(feature, kind) for feature in FEATURES)


def needs(kind: type[Feature]) -> pytest.MarkDecorator:
    """Return a marker that skips tests if the list of features lacks one."""
    return pytest.mark.skipif(is_left_out(kind), reason=f"{kind.__name__} is left out")


def routes(*features: Feature) -> Iterator[tuple[str, str, str, Operation]]:
    """Yield the endpoint, the method, the path and the operation of each route of features."""
    app = Flask("features", static_folder=None)
    for blueprint in core_blueprints(features):
        blueprint.register(app)
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        if isinstance(view, Operation):
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield rule.endpoint, method, rule.rule, view


_MISSING: Final = tuple(kind() for kind in OPTIONAL if is_left_out(kind))

ALL_FEATURES: Final = (*FEATURES, *_MISSING)
"""The features of the list, and those that it lacks."""

LEFT_OUT: Final = tuple(routes(*_MISSING))
"""The routes of features that the list lacks, whose rows in tables of tests are skipped."""

LEFT_OUT_ROUTES: Final = {(method, path) for _, method, path, _ in LEFT_OUT}
LEFT_OUT_ENDPOINTS: Final = {endpoint for endpoint, *_ in LEFT_OUT}
LEFT_OUT_RULES: Final = {row.name for *_, view in LEFT_OUT for row in (view.rule, *view.also)}
