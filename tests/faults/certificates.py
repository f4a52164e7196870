"""Certificates that expire while servers use them."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """An authority, whose certificate clients trust.

    Args:
        file: its certificate.
    """

    file: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def create(cls, file: Path) -> "Authority":
        """Create an authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("authority")
        certificate = (
            _builder(name, name, key, timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return cls(file, key, certificate)

    def issue(self, address: str, lifetime: timedelta, folder: Path) -> None:
        """Write ``pooler.crt`` and ``pooler.key`` for an address."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        certificate = (
            _builder(_name(address), self.certificate.subject, key, lifetime)
            .add_extension(names, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        (folder / "pooler.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        (folder / "pooler.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, lifetime: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + lifetime)
    )
