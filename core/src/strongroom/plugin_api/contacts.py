"""Addresses and numbers of users."""


def masked(contact: str) -> str:
    """Return an e-mail address or a mobile number that its user recognises, and others do not."""
    name, at, domain = contact.partition("@")
    return f"{name[:1]}•••{at}{domain}" if at else f"{contact[:3]}•••{contact[-4:]}"


def wire_address(address: str) -> str:
    """Return an e-mail address as mail servers get it: its domain as an A-label (RFC 5891).

    With a local part that is not ASCII, the domain stays, because the mail server must support
    internationalised addresses (RFC 6531) anyway.
    """
    local, at, domain = address.rpartition("@")
    if not local.isascii() or domain.isascii():
        return address
    import idna

    try:
        return f"{local}{at}{idna.encode(domain, uts46=True).decode()}"
    except idna.IDNAError:
        return address
