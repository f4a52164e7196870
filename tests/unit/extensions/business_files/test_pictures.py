"""Pictures: the image remains, metadata is removed, and resources are limited."""

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from PIL import ExifTags, Image, ImageChops, ImageCms, PngImagePlugin, features
from tests.support.images import encoded

from strongroom.extensions.business_files.pictures import Picture
from strongroom.extensions.business_files.requests import PictureRequest, raise_refusal
from strongroom.extensions.business_files.worker import process
from strongroom.foundation.errors import PictureTooLarge, PictureUnreadable, StrongroomError

MAX_PIXELS = 1_000_000
SECRET = b"planted-secret"
TYPES = ("jpeg", "png", "gif", "webp", "avif")
Save = dict[str, Any]


def sample(mode: str = "RGB", size: tuple[int, int] = (120, 80)) -> Image.Image:
    """Return a picture whose four corners differ."""
    image = Image.new("RGB", size, (200, 30, 30))
    width, height = size[0] // 2, size[1] // 2
    image.paste((30, 200, 30), (width, 0, size[0], height))
    image.paste((30, 30, 200), (0, height, width, size[1]))
    image.paste((240, 240, 240), (width, height, *size))
    return image.convert(mode)


def clean(content: bytes, kind: str, max_pixels: int = MAX_PIXELS) -> Picture:
    """Clean a picture as a worker does, in this process because there are hundreds."""
    request = PictureRequest(f"image/{kind}", memory_bytes=0, seconds=0, max_pixels=max_pixels)
    head, cleaned = process(request, io.BytesIO(content))
    raise_refusal(head)
    return Picture(cleaned, head["width"], head["height"])


def scale(content: bytes, kind: str, width: int) -> bytes:
    request = PictureRequest(f"image/{kind}", memory_bytes=0, seconds=0, width=width)
    head, scaled = process(request, io.BytesIO(content))
    raise_refusal(head)
    return scaled


def shown(content: bytes) -> Image.Image:
    """Return a picture as a browser shows it that knows neither EXIF nor profiles."""
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def difference(one: Image.Image, other: Image.Image) -> int:
    """Return the largest mean difference of a channel."""
    assert one.size == other.size
    delta = ImageChops.difference(one.convert("RGB"), other.convert("RGB"))
    return max(
        round(sum(i * n for i, n in enumerate(band.histogram())) / (one.width * one.height))
        for band in delta.split()
    )


def located_exif(orientation: int = 1) -> Image.Exif:
    """Return EXIF with an orientation, a position, a maker and a secret."""
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    exif[ExifTags.Base.Make] = SECRET.decode()
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitude] = (31.0, 14.0, 0.0)
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSAreaInformation] = SECRET
    return exif


def wide_profile() -> bytes:
    """Return an ICC profile that takes red for green: what ignores it is found out."""
    srgb = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    count = struct.unpack(">I", srgb[128:132])[0]
    tags = {bytes(srgb[at : at + 4]): at for at in range(132, 132 + 12 * count, 12)}
    red, green = tags[b"rXYZ"], tags[b"gXYZ"]
    srgb[red : red + 4], srgb[green : green + 4] = b"gXYZ", b"rXYZ"
    description = srgb.find("sRGB".encode("utf-16-be"))
    srgb[description : description + 8] = "XRGB".encode("utf-16-be")
    return bytes(srgb)


@pytest.mark.parametrize("kind", TYPES)
def test_the_image_of_a_picture_remains(kind: str) -> None:
    picture = clean(encoded(sample(), kind), kind)
    assert (picture.width, picture.height) == (120, 80)
    image = shown(picture.content)
    assert image.format == kind.upper()
    assert difference(image, sample()) <= 4


def test_lossless_pictures_remain_exact() -> None:
    for kind, options in (("png", {}), ("webp", {"lossless": True})):
        picture = clean(encoded(sample("RGBA"), kind, **options), kind)
        assert shown(picture.content).convert("RGBA").tobytes() == sample("RGBA").tobytes()


def test_a_jpeg_cleaned_again_and_again_does_not_wear_off() -> None:
    noise = Image.effect_noise((200, 200), 60).convert("RGB")
    first = clean(encoded(noise, "jpeg", quality=80), "jpeg").content
    content = first
    for _ in range(5):
        content = clean(content, "jpeg").content
    assert difference(shown(content), shown(first)) <= 1
    assert len(content) < 1.1 * len(encoded(noise, "jpeg", quality=80))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["jpeg", "png", "webp", "avif"])
def test_exif_is_stripped_once_it_has_turned_the_picture(kind: str, orientation: int) -> None:
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    expected = sample().transpose(turns[orientation]) if orientation > 1 else sample()
    picture = clean(encoded(sample(), kind, exif=located_exif(orientation)), kind)
    assert (picture.width, picture.height) == expected.size
    assert difference(shown(picture.content), expected) <= 4
    assert not shown(picture.content).getexif()
    assert SECRET not in picture.content


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_exif_that_is_damaged_does_not_refuse_the_picture() -> None:
    content = encoded(sample(), "jpeg", exif=b"Exif\x00\x00II*\x00" + b"\xff" * 40)
    assert clean(content, "jpeg").width == 120


def planted_png() -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", SECRET.decode())
    info.add_itxt("XML:com.adobe.xmp", SECRET.decode(), zip=False)
    info.add(b"prVt", SECRET)
    return encoded(sample(), "png", pnginfo=info, exif=located_exif())


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("jpeg", lambda: encoded(sample(), "jpeg", comment=SECRET, xmp=SECRET, exif=located_exif())),
        ("jpeg", lambda: encoded(sample(), "jpeg", extra=b"\xff\xed\x00\x10" + SECRET)),
        ("png", planted_png),
        ("gif", lambda: encoded(sample("P"), "gif", comment=SECRET)),
        ("webp", lambda: encoded(sample(), "webp", xmp=SECRET, exif=located_exif())),
        ("avif", lambda: encoded(sample(), "avif", xmp=SECRET, exif=located_exif())),
        *((kind, lambda kind=kind: encoded(sample(), kind) + SECRET) for kind in TYPES[:3]),
        ("png", lambda: encoded(sample(), "png", icc_profile=wide_profile() + SECRET)),
    ],
)
def test_comments_xmp_iptc_and_what_follows_the_picture_are_stripped(
    kind: str, content: Callable[[], bytes]
) -> None:
    planted = content()
    cleaned = clean(planted, kind).content
    assert SECRET not in cleaned
    assert not {"exif", "xmp", "comment", "icc_profile", "photoshop"} & set(shown(cleaned).info)


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp", "avif"])
def test_colours_are_kept_without_the_profile_that_made_them(kind: str) -> None:
    content = encoded(Image.new("RGB", (20, 20), (255, 0, 0)), kind, icc_profile=wide_profile())
    image = shown(clean(content, kind).content).convert("RGB")
    assert "icc_profile" not in image.info
    red, green, blue = image.getpixel((10, 10))  # type: ignore[misc]  # RGB has three
    assert green > 200
    assert max(red, blue) < 60


def test_a_profile_that_is_damaged_does_not_refuse_the_picture() -> None:
    content = encoded(sample(), "png", icc_profile=b"nonsense")
    assert difference(shown(clean(content, "png").content), sample()) == 0


def test_cmyk_becomes_rgb() -> None:
    image = shown(clean(encoded(sample("CMYK"), "jpeg"), "jpeg").content)
    assert image.mode == "RGB"
    assert difference(image, sample()) <= 4


def test_sixteen_bits_of_grey_are_scaled_to_eight() -> None:
    image = Image.new("I;16", (4, 1))
    for at, value in enumerate((0, 0x4000, 0x8000, 0xFFFF)):
        image.putpixel((at, 0), value)
    cleaned = shown(clean(encoded(image, "png"), "png").content)
    assert cleaned.mode == "L"
    assert list(cleaned.tobytes()) == [0, 0x40, 0x80, 0xFF]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_every_mode_of_png_is_taken(mode: str) -> None:
    picture = clean(encoded(sample(mode), "png"), "png")
    assert shown(picture.content).convert("RGBA").tobytes() == sample(mode).convert("RGBA").tobytes()
    assert scale(picture.content, "png", 30)


def test_transparency_of_a_palette_is_kept_in_all_widths() -> None:
    image = sample().quantize(8)
    content = encoded(image, "png", transparency=image.getpixel((0, 0)))
    picture = clean(content, "png")
    for shape in (picture.content, scale(picture.content, "png", 60)):
        shape_shown = shown(shape).convert("RGBA")
        assert shape_shown.getpixel((2, 2))[3] == 0  # type: ignore[index]  # RGBA has four
        assert shape_shown.getpixel((shape_shown.width - 2, 2))[3] == 255  # type: ignore[index]


def animation(kind: str, frames: int = 3, size: tuple[int, int] = (40, 20)) -> bytes:
    images = [Image.new("RGB", size, (250 * n // frames, 90, 200)) for n in range(frames)]
    return encoded(images[0], kind, save_all=True, append_images=images[1:], duration=200, loop=0)


@pytest.mark.parametrize("kind", ["gif", "png", "webp", "avif"])
def test_an_animation_keeps_its_frames_and_their_times_in_all_widths(kind: str) -> None:
    picture = clean(animation(kind), kind)
    smaller = scale(picture.content, kind, 20)
    for content, size in ((picture.content, (40, 20)), (smaller, (20, 10))):
        image = Image.open(io.BytesIO(content))
        assert (getattr(image, "n_frames", 1), image.size) == (3, size)
        for number in range(3):
            image.seek(number)
            image.load()
            assert image.info["duration"] == 200
            plain = Image.new("RGB", size, (250 * number // 3, 90, 200))
            assert difference(image, plain) <= 6


def test_a_gif_that_plays_once_still_plays_once() -> None:
    images = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    content = encoded(images[0], "gif", save_all=True, append_images=images[1:], duration=100)
    assert "loop" not in shown(clean(content, "gif").content).info


def test_the_other_pictures_in_a_jpeg_are_dropped() -> None:
    content = encoded(sample(), "mpo", save_all=True, append_images=[sample(size=(400, 400))])
    image = shown(clean(content, "jpeg").content)
    assert (image.format, image.size, getattr(image, "n_frames", 1)) == ("JPEG", (120, 80), 1)


def png_that_says(width: int, height: int) -> bytes:
    """Return a PNG whose header announces a size, with hardly any data."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def jpeg_that_says(width: int, height: int) -> bytes:
    content = bytearray(encoded(sample(), "jpeg"))
    at = content.find(b"\xff\xc0")
    content[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(content)


def gif_that_says(width: int, height: int) -> bytes:
    content = bytearray(encoded(sample("P"), "gif"))
    content[6:10] = struct.pack("<HH", width, height)
    return bytes(content)


def webp_that_says(width: int, height: int) -> bytes:
    content = bytearray(encoded(sample("RGBA"), "webp", exif=located_exif()))
    assert content[12:16] == b"VP8X"
    content[24:30] = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return bytes(content)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("png", lambda: png_that_says(1001, 1000)),
        ("png", lambda: png_that_says(50_000, 50_000)),
        ("png", lambda: png_that_says(2**31 - 1, 2**31 - 1)),
        ("jpeg", lambda: jpeg_that_says(65_500, 65_500)),
        ("gif", lambda: gif_that_says(65_535, 65_535)),
        ("webp", lambda: webp_that_says(16_383, 16_383)),
        ("png", lambda: encoded(Image.new("1", (12_000, 12_000)), "png")),
    ],
)
def test_too_many_pixels_are_refused_by_the_header(kind: str, make: Callable[[], bytes]) -> None:
    content = make()
    assert len(content) < 100_000
    with pytest.raises(PictureTooLarge) as refusal:
        clean(content, kind)
    (detail,) = refusal.value.details
    assert (detail.field, detail.code) == ("file", "too-many-pixels")


def test_the_bound_itself_is_allowed() -> None:
    assert clean(encoded(Image.new("L", (1000, 1000)), "png"), "png").width == 1000


@pytest.mark.parametrize("kind", ["gif", "png", "webp", "avif"])
def test_the_frames_of_an_animation_count_together_and_more_than_a_picture_of_that_size(
    kind: str,
) -> None:
    content = animation(kind, frames=10, size=(200, 100))
    bound = (3 if kind == "avif" else 2) * 200_000
    assert clean(content, kind, max_pixels=bound).width == 200
    with pytest.raises(PictureTooLarge):
        clean(content, kind, max_pixels=bound - 1)


@pytest.mark.parametrize(
    ("kind", "cost"), [("jpeg", 1), ("png", 1), ("gif", 1), ("webp", 2), ("avif", 3)]
)
def test_pixels_of_expensive_types_count_several_times(kind: str, cost: int) -> None:
    content = encoded(sample(size=(200, 100)), kind)
    assert clean(content, kind, max_pixels=cost * 20_000).width == 200
    with pytest.raises(PictureTooLarge):
        clean(content, kind, max_pixels=cost * 20_000 - 1)


def test_many_tiny_frames_are_refused() -> None:
    with pytest.raises(PictureTooLarge):
        clean(animation("gif", frames=200, size=(2, 2)), "gif")


def test_a_jpeg_of_very_many_scans_is_refused() -> None:
    content = encoded(sample(), "jpeg", progressive=True)
    end = content.rfind(b"\xff\xd9")
    last = content[content.rfind(b"\xff\xda") : end]
    with pytest.raises(PictureUnreadable) as refusal:
        clean(content[:end] + last * 200 + content[end:], "jpeg")
    assert refusal.value.details[0].code == "too-many-scans"


@pytest.mark.parametrize("kind", TYPES)
def test_a_picture_that_is_cut_anywhere_is_refused_or_whole(kind: str) -> None:
    content = encoded(sample(size=(60, 40)), kind)
    for length in range(0, len(content), max(1, len(content) // 60)):
        try:
            picture = clean(content[:length], kind)
        except StrongroomError as error:
            assert isinstance(error, PictureUnreadable | PictureTooLarge)  # noqa: PT017  either may be
        else:
            assert shown(picture.content).size == (60, 40)


@pytest.mark.parametrize("kind", TYPES)
def test_a_picture_with_any_byte_changed_is_refused_or_clean(kind: str) -> None:
    content = encoded(sample(size=(24, 16)), kind, **({"exif": located_exif()} if kind != "gif" else {}))
    for at in range(0, len(content), max(1, len(content) // 100)):
        changed = content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]
        try:
            picture = clean(changed, kind)
        except (PictureUnreadable, PictureTooLarge):
            continue
        assert SECRET not in picture.content


@pytest.mark.parametrize("kind", TYPES)
def test_half_a_picture_is_unreadable(kind: str) -> None:
    content = encoded(Image.effect_noise((100, 100), 90), kind)
    with pytest.raises(PictureUnreadable) as refusal:
        clean(content[: len(content) // 2], kind)
    assert (refusal.value.details[0].field, refusal.value.details[0].code) == ("file", "unreadable")


@pytest.mark.parametrize("kind", TYPES)
def test_a_variant_has_exactly_the_requested_width(kind: str) -> None:
    cleaned = clean(encoded(sample(size=(500, 333)), kind), kind).content
    for width in (1, 7, 100, 320):
        image = shown(scale(cleaned, kind, width))
        assert image.format == kind.upper()
        assert image.width == width
        assert abs(image.height - max(1, round(333 * width / 500))) <= 1
    assert difference(image, sample(size=image.size)) <= 6


def test_a_very_flat_picture_keeps_a_line() -> None:
    cleaned = clean(encoded(Image.new("RGB", (5000, 1)), "png"), "png").content
    assert shown(scale(cleaned, "png", 100)).size == (100, 1)


def test_every_format_that_may_be_configured_is_there() -> None:
    assert features.check("webp")
    assert features.check("avif")
