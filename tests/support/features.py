"""Tests of features that a server may leave out."""

import pytest

from strongroom.assembly.features import FEATURES
from strongroom.web.feature import Feature


def needs(kind: type[Feature]) -> pytest.MarkDecorator:
    """Return a marker that skips tests if the list of features lacks one."""
    is_missing = not any(isinstance(feature, kind) for feature in FEATURES)
    return pytest.mark.skipif(is_missing, reason=f"{kind.__name__} is left out")
