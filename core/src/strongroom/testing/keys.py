"""Contract tests for key providers."""

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from strongroom.plugin_api.extension import NoOptions
from strongroom.plugin_api.keys import KeyProvider, KeyProviderUnavailable, WrongMasterKey

CONTEXT = b"strongroom/contract"


class MemoryKeys(KeyProvider[NoOptions]):
    """A key provider with master keys in memory, for tests of wrappers."""

    name = "memory"

    def __init__(self) -> None:
        super().__init__(NoOptions())
        self._ciphers: list[Any] = []
        self.is_away = False
        self.rotate()

    def wrap(self, key: bytes, context: bytes) -> bytes:
        self._require_service()
        number, nonce = len(self._ciphers) - 1, secrets.token_bytes(12)
        wrapped: bytes = self._ciphers[number].encrypt(nonce, key, context)
        return bytes([number]) + nonce + wrapped

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        self._require_service()
        try:
            key: bytes = self._ciphers[wrapped[0]].decrypt(wrapped[1:13], wrapped[13:], context)
        except (InvalidTag, IndexError, ValueError) as error:
            raise WrongMasterKey("the wrapped key does not match") from error
        return key

    def is_current(self, wrapped: bytes) -> bool:
        return wrapped[0] == len(self._ciphers) - 1

    def rotate(self) -> str:
        self._require_service()
        self._ciphers.append(AESGCM(secrets.token_bytes(32)))
        return str(len(self._ciphers) - 1)

    def _require_service(self) -> None:
        if self.is_away:
            raise KeyProviderUnavailable("the test has stopped it")


class KeyProviderContract:
    """The contract of key providers. Provide the fixtures ``make_provider`` and ``other_provider``."""

    @pytest.fixture
    def make_provider(self) -> Callable[[], KeyProvider[Any]]:
        """A function that returns another instance with the same master keys, as another process has."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def other_provider(self) -> KeyProvider[Any]:
        """A provider with other master keys."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def away_provider(self) -> KeyProvider[Any]:
        """Optional: a provider whose service is unreachable."""
        pytest.skip("no away_provider provided")

    @pytest.fixture
    def provider(self, make_provider: Callable[[], KeyProvider[Any]]) -> Iterator[KeyProvider[Any]]:
        provider = make_provider()
        yield provider
        provider.close()

    @pytest.mark.parametrize("size", [16, 32, 64])
    def test_a_wrapped_key_is_unwrapped(self, provider: KeyProvider[Any], size: int) -> None:
        key = secrets.token_bytes(size)
        wrapped = provider.wrap(key, CONTEXT)
        assert provider.unwrap(wrapped, CONTEXT) == key
        assert key not in wrapped
        assert len(wrapped) <= 1024

    def test_a_key_is_never_wrapped_the_same_way(self, provider: KeyProvider[Any]) -> None:
        assert provider.wrap(bytes(32), CONTEXT) != provider.wrap(bytes(32), CONTEXT)

    def test_another_context_is_refused(self, provider: KeyProvider[Any]) -> None:
        wrapped = provider.wrap(bytes(32), CONTEXT)
        with pytest.raises(WrongMasterKey):
            provider.unwrap(wrapped, b"strongroom/other")

    def test_a_changed_wrapped_key_is_refused(self, provider: KeyProvider[Any]) -> None:
        wrapped = provider.wrap(bytes(32), CONTEXT)
        last = bytes([wrapped[-1] ^ 1])
        for changed in (wrapped[:-1] + last, wrapped[:-1], wrapped + b"\0", b"", bytes(len(wrapped))):
            with pytest.raises(WrongMasterKey):
                provider.unwrap(changed, CONTEXT)

    def test_another_master_key_is_refused(
        self, provider: KeyProvider[Any], other_provider: KeyProvider[Any]
    ) -> None:
        wrapped = provider.wrap(bytes(32), CONTEXT)
        with pytest.raises(WrongMasterKey):
            other_provider.unwrap(wrapped, CONTEXT)

    def test_after_a_rotation_former_keys_unwrap(self, provider: KeyProvider[Any]) -> None:
        key = secrets.token_bytes(32)
        before = provider.wrap(key, CONTEXT)
        assert provider.is_current(before)
        assert provider.rotate()
        after = provider.wrap(key, CONTEXT)
        assert [provider.is_current(wrapped) for wrapped in (before, after)] == [False, True]
        assert provider.unwrap(before, CONTEXT) == provider.unwrap(after, CONTEXT) == key

    def test_another_process_needs_no_restart_after_a_rotation(
        self, provider: KeyProvider[Any], make_provider: Callable[[], KeyProvider[Any]]
    ) -> None:
        other = make_provider()
        before = other.wrap(bytes(32), CONTEXT)
        provider.rotate()
        wrapped = provider.wrap(bytes(32), CONTEXT)
        assert other.unwrap(wrapped, CONTEXT) == bytes(32)
        assert not other.is_current(before)
        other.close()

    def test_concurrent_rotations_lose_no_key(
        self, provider: KeyProvider[Any], make_provider: Callable[[], KeyProvider[Any]]
    ) -> None:
        def rotate(_: int) -> bytes:
            other = make_provider()
            other.rotate()
            wrapped = other.wrap(bytes(32), CONTEXT)
            other.close()
            return wrapped

        with ThreadPoolExecutor(4) as pool:
            for wrapped in pool.map(rotate, range(12)):
                assert provider.unwrap(wrapped, CONTEXT) == bytes(32)

    def test_a_service_that_is_away_is_unavailable(self, away_provider: KeyProvider[Any]) -> None:
        calls: list[Callable[[], object]] = [
            lambda: away_provider.wrap(bytes(32), CONTEXT),
            lambda: away_provider.unwrap(bytes(64), CONTEXT),
            away_provider.rotate,
        ]
        for call in calls:
            with pytest.raises(KeyProviderUnavailable):
                call()
