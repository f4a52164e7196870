"""Contract tests for plugin authors. Strongroom's own plugins pass the same tests.

Derive a test class from the contract of your extension and provide the fixtures that it requires::

    from strongroom.testing.storage import StorageBackendContract

    class TestMyBackend(StorageBackendContract):
        @pytest.fixture
        def backend(self, tmp_path):
            return MyBackend(MyOptions(root=tmp_path))

Override a contract test that does not apply only as an ``xfail`` with a reason.

The contracts have a version, ``major.minor``. A minor version adds tests or makes some stricter, which
the changelog lists.
"""

import pkgutil
from typing import Final

import pytest

CONTRACT_VERSION: Final = "1.1"

pytest.register_assert_rewrite(
    *(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__))
)
