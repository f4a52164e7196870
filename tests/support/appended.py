"""What trackers, messengers and cache busters append to links, and what clients accept."""

from typing import Final

APPENDED: Final = (
    "fbclid=IwAR0x",
    "gclid=Cj0",
    "gbraid=0A",
    "wbraid=Cg",
    "msclkid=9f",
    "yclid=1",
    "twclid=2",
    "ttclid=E",
    "igshid=x==",
    "mc_cid=1&mc_eid=2",
    "_hsenc=p2&_hsmi=3",
    "utm_source=a&utm_medium=b&utm_campaign=c%20d",
    "mkt_tok=NDI",
    "vero_id=%E4%BD%A0",
    "from=singlemessage&isappinstalled=0&scene=1",
    "nsukey=Q%2B1",
    "spm=a2c4g.1",
    "_=1764288000000",
    "cachebuster",
    "=&&;v=2",
)
ACCEPTED: Final = ("text/html", "*/*", "application/json", "image/avif,image/webp,*/*;q=0.8")
