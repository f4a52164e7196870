"""Contract suites for plugin authors: the same ones that Strongroom's own plugins pass.

Derive a test class from the contract of your seam and supply the fixture it asks for::

    from strongroom.testing.storage import StorageBackendContract

    class TestMyBackend(StorageBackendContract):
        @pytest.fixture
        def backend(self, tmp_path):
            return MyBackend(MyOptions(root=tmp_path))

A contract test that cannot hold for a backend may be overridden only as an ``xfail`` with a reason.

The contracts have a version, ``major.minor``. A minor adds tests or makes some stricter, which the
changelog names; the major is the plugin API's.
"""

from typing import Final

import pytest

CONTRACT_VERSION: Final = "1.1"

pytest.register_assert_rewrite(
    "strongroom.testing.storage",
    "strongroom.testing.login",
    "strongroom.testing.captcha",
    "strongroom.testing.messages",
)
