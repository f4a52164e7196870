"""Picture workers: they inherit nothing from the server, and stay within their limits."""

import io
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import pytest
from PIL import Image
from tests.support.images import picture

from strongroom.extensions.business_files.pictures import (
    DEFAULT_MEMORY_BYTES,
    REFUSED_SECONDS,
    OriginalPicture,
    PictureProcessor,
    PictureSlots,
    Refusals,
)
from strongroom.foundation.cache import ContentCache
from strongroom.foundation.errors import PictureTooLarge, PictureUnreadable, Unavailable

MEBIBYTE = 1024 * 1024


def processor(*, seconds: int = 60, memory_bytes: int = DEFAULT_MEMORY_BYTES) -> PictureProcessor:
    # The default of the server is too short for the start of a worker on a busy machine.
    return PictureProcessor(PictureSlots(1), seconds=seconds, memory_bytes=memory_bytes)


def run_as_worker(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let workers confine themselves, and then run other code instead of a decoder."""
    module = f"""
import json, sys
from strongroom.extensions.business_files import worker
def process(request, source):
    {code}
worker.process = process
worker.main()
"""
    real = subprocess.Popen

    def popen(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        return real([*command[:3], "-c", module, command[-1]], **options)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr("strongroom.plugin_api.confinement.subprocess.Popen", popen)


def answer_of(monkeypatch: pytest.MonkeyPatch, expression: str, **limits: int) -> str:
    """Return the value of an expression in a confined worker."""
    run_as_worker(monkeypatch, f"return {{}}, repr({expression}).encode()")
    return processor(**limits).scale(picture, "image/png", 10).decode()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "AVIF"])
def test_a_worker_cleans_and_scales_every_type(kind: str) -> None:
    media_type = f"image/{kind.lower()}"
    cleaned = processor().clean(io.BytesIO(picture((60, 40), kind)), media_type, 100_000, "alice")
    assert (cleaned.width, cleaned.height) == (60, 40)
    scaled = processor().scale(lambda: cleaned.content, media_type, 30)
    with Image.open(io.BytesIO(scaled)) as image:
        assert (image.format, image.size) == (kind, (30, 20))


def test_a_worker_knows_none_of_the_variables_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRONGROOM__SERVER__SECRET_KEY", "planted-secret")
    names = answer_of(monkeypatch, "sorted(__import__('os').environ)")
    assert names == "['LC_ALL', 'MALLOC_ARENA_MAX', 'PYTHONPATH']"


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/passwd')",
        "__import__('socket').socket()",
        "__import__('os').pipe()",
        "open('/proc/self/environ')",
    ],
)
def test_a_worker_can_open_neither_files_nor_connections(
    monkeypatch: pytest.MonkeyPatch, attempt: str
) -> None:
    run_as_worker(
        monkeypatch,
        f"""
    try:
        {attempt}
    except OSError as error:
        return {{}}, str(error.errno).encode()
    return {{}}, b'opened'""",
    )
    assert processor().scale(picture, "image/png", 10) == b"24"


def test_a_worker_inherits_no_open_file_of_the_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        held = "sum(1 for n in range(3, 200) if is_open(n))"
        run_as_worker(
            monkeypatch,
            f"""
    import os
    def is_open(number):
        try:
            os.fstat(number)
        except OSError:
            return False
        return True
    return {{}}, str({held}).encode()""",
        )
        assert processor().scale(picture, "image/png", 10) == b"0"


def test_too_much_memory_is_refused_as_too_large() -> None:
    content = picture(size=(6000, 4000))
    with pytest.raises(PictureTooLarge) as refusal:
        processor(memory_bytes=40 * MEBIBYTE).clean(
            io.BytesIO(content), "image/png", 30_000_000, "alice"
        )
    assert refusal.value.details[0].code == "too-expensive"
    assert processor().clean(io.BytesIO(content), "image/png", 30_000_000, "alice").width == 6000


@pytest.mark.parametrize("code", ["while True: pass", "__import__('time').sleep(60)"])
def test_too_much_time_is_refused_as_too_large(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    run_as_worker(monkeypatch, code)
    with pytest.raises(PictureTooLarge) as refusal:
        processor(seconds=1).clean(io.BytesIO(picture((60, 40))), "image/png", 100_000, "alice")
    assert refusal.value.details[0].code == "too-expensive"


def test_a_decoder_that_crashes_refuses_its_picture_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as crashing:
        run_as_worker(crashing, "import ctypes; ctypes.string_at(0)")
        with pytest.raises(PictureUnreadable):
            processor().clean(io.BytesIO(picture((60, 40))), "image/png", 100_000, "alice")
    assert processor().clean(io.BytesIO(picture((60, 40))), "image/png", 100_000, "alice").width == 60


def test_an_endless_answer_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    run_as_worker(
        monkeypatch,
        "while True: sys.__stdout__.buffer.write(bytes(1024 * 1024))",
    )
    limited = processor(memory_bytes=32 * MEBIBYTE)
    with pytest.raises((PictureTooLarge, PictureUnreadable, Unavailable)):
        limited.clean(io.BytesIO(picture((60, 40))), "image/png", 100_000, "alice")


def test_a_worker_that_does_not_start_is_an_outage_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with caplog.at_level(logging.ERROR), pytest.raises(Unavailable):
        processor().clean(io.BytesIO(picture((60, 40))), "image/png", 100_000, "alice")
    assert "/nonexistent/python" in caplog.text


class Original:
    """A stored picture that counts its readers."""

    def __init__(self) -> None:
        self.reads = 0

    def write(self, file: BinaryIO) -> None:
        self.reads += 1
        file.write(picture((60, 40), "JPEG"))

    def as_original(self, key: str = "a") -> OriginalPicture:
        return OriginalPicture(key, "image/jpeg", 100_000, self.write)


def test_a_preview_reads_the_original_only_with_a_slot() -> None:
    slots, original = PictureSlots(1), Original()
    previews = PictureProcessor(slots, seconds=60)
    with slots.slot("alice"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("strongroom.extensions.business_files.pictures.WAIT_SECONDS", 0.01)
        with pytest.raises(Unavailable):
            previews.preview(original.as_original(), 30, "alice")
    assert original.reads == 0


class HurriedSlots(PictureSlots):
    """Slots whose next holder works before the last one goes on."""

    def __init__(self) -> None:
        super().__init__(1)
        self.next_holder: Callable[[], object] | None = None

    @contextmanager
    def slot(self, user: str) -> Iterator[None]:
        with super().slot(user):
            yield
        if work := self.next_holder:
            self.next_holder = None
            work()


def test_the_next_holder_of_a_slot_finds_the_preview() -> None:
    slots, original = HurriedSlots(), Original()
    previews = PictureProcessor(slots, seconds=60)
    slots.next_holder = lambda: previews.preview(original.as_original(), 30, "bob")
    previews.preview(original.as_original(), 30, "alice")
    assert original.reads == 1


def test_a_preview_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Seven requests wait while two workers start one after the other.
    monkeypatch.setattr("strongroom.extensions.business_files.pictures.WAIT_SECONDS", 60)
    previews, original = processor(), Original()
    with ThreadPoolExecutor(8) as threads:
        jobs = [threads.submit(previews.preview, original.as_original(), 30, "bob") for _ in range(8)]
        made = {job.result() for job in jobs}
    assert (len(made), original.reads) == (1, 1)
    with Image.open(io.BytesIO(made.pop())) as image:
        assert (image.format, image.size) == ("JPEG", (30, 20))
    with Image.open(io.BytesIO(previews.preview(original.as_original(), 70, "bob"))) as image:
        assert image.size == (60, 40)
    previews.preview(original.as_original("b"), 30, "bob")
    assert original.reads == 3


@pytest.mark.parametrize("is_slow", [True, False], ids=["too slow", "unreadable"])
def test_a_picture_that_is_refused_is_decoded_once_in_an_hour(
    monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    now, original = [0.0], Original()
    death = "os.kill(os.getpid(), 9)" if is_slow else "__import__('ctypes').string_at(0)"
    run_as_worker(monkeypatch, f"import os; {death}")
    previews = PictureProcessor(PictureSlots(1), seconds=60, clock=lambda: now[0])

    def refuse(width: int, key: str = "a") -> list[str]:
        with pytest.raises(PictureTooLarge if is_slow else PictureUnreadable) as refusal:
            previews.preview(original.as_original(key), width, "bob")
        return [detail.code for detail in refusal.value.details]

    assert refuse(30) == refuse(30) == refuse(70) != []
    assert original.reads == 1
    refuse(30, "b")
    assert original.reads == 2
    now[0] = REFUSED_SECONDS
    refuse(30)
    assert original.reads == 3


def test_the_refusals_that_are_kept_have_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongroom.extensions.business_files.pictures.MAX_REFUSED", 2)
    refusals: Refusals[int] = Refusals(clock=lambda: 0.0)
    for key in range(4):
        with suppress(PictureUnreadable), refusals.remembered(key):
            raise PictureUnreadable
    calls = []
    for key in (2, 3, 0):
        with suppress(PictureUnreadable), refusals.remembered(key):
            calls.append(key)
    assert calls == [0]


def test_the_previews_that_are_kept_have_a_bounded_size() -> None:
    cache: ContentCache[int] = ContentCache(80)
    for key in range(20):
        cache.put(key, bytes(10))
    assert [key for key in range(20) if cache.get(key)] == list(range(12, 20))
    cache.put(20, bytes(11))
    assert cache.get(20) is None
