"""Addresses and numbers of users."""


def masked(contact: str) -> str:
    """Return an e-mail address or a mobile number that its user recognises, and others do not."""
    name, at, domain = contact.partition("@")
    return f"{name[:1]}•••{at}{domain}" if at else f"{contact[:3]}•••{contact[-4:]}"
