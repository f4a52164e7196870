"""Durations as people read them."""


def duration(seconds: float) -> str:
    """Return a duration in its two largest units, such as ``3 min 20 s``."""
    whole = round(seconds)
    parts = ((whole // 3600, "h"), (whole // 60 % 60, "min"), (whole % 60, "s"))
    shown = [f"{count} {unit}" for count, unit in parts if count]
    return " ".join(shown[:2]) or "0 s"
