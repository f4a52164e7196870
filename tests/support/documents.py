"""PDF documents for tests."""


def pdf(*, pages: int = 1, size: tuple[int, int] = (100, 100)) -> bytes:
    """Return a PDF document, whose pages are a red rectangle."""
    width, height = size
    drawing = f"1 0 0 rg 0 0 {width} {height} re f".encode()
    kids = " ".join(f"{number} 0 R" for number in range(4, 4 + pages))
    page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width} {height}]/Contents 3 0 R>>".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {pages}/Kids[{kids}]>>".encode(),
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing),
        *[page] * pages,
    ]
    body, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj%s endobj\n" % (number, content)
    entries = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(offsets) + 1, entries)
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(offsets) + 1, len(body))
    return body + table + trailer
