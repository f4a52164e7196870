"""An authenticator in software, and the contract tests of servers for passkeys."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.contract")
