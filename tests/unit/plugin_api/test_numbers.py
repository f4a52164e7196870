"""Numbers in forms and queries."""

from strongroom.plugin_api.page_lists import read_number


def test_a_number_has_a_limited_number_of_ascii_digits() -> None:
    texts = ("0", "007", "123456789", "1234567890", "9" * 5000, "", "-1", "1 ", "²", "٣")
    numbers = [read_number(text, 9) for text in texts]
    assert numbers == [0, 7, 123456789, None, None, None, None, None, None, None]
