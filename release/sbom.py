"""The software bill of materials of a release, in CycloneDX JSON."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.version import Version

_PIN = re.compile(r"^\S+==(?:.*\\\n)*.*$", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:(\w+)")


def write_sbom(target: Path, version: Version, wheels: Sequence[Path], lock: Path) -> None:
    """Write the bill of materials: the wheels, and each package of the server's lock file."""
    bom = Bom()
    server = Component(
        name="strongroom", version=str(version), type=ComponentType.APPLICATION, bom_ref="release"
    )
    bom.metadata.component = server
    parts = [*(_wheel(path) for path in wheels), *_locked(lock.read_text())]
    bom.components.update(parts)
    bom.register_dependency(server, parts)
    target.write_text(_reproducible(bom))


def _reproducible(bom: Bom) -> str:
    """Return JSON without the time and the random serial number, so that the bytes are reproducible."""
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    del document["serialNumber"], document["metadata"]["timestamp"]
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _wheel(path: Path) -> Component:
    name, version = path.name.split("-")[:2]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return _package(name.replace("_", "-"), version, hashes=[_sha256(digest)])


def _locked(lock: str) -> Iterator[Component]:
    for pin in _PIN.findall(lock):
        required = Requirement(pin.partition("\\")[0])
        version = next(iter(required.specifier)).version
        files = ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(f"https://pypi.org/project/{required.name}/{version}/#files"),
            hashes=[_sha256(digest) for digest in _HASH.findall(pin)],
        )
        yield _package(required.name, version, references=[files])


def _package(
    name: str,
    version: str,
    *,
    hashes: Sequence[HashType] = (),
    references: Sequence[ExternalReference] = (),
) -> Component:
    purl = PackageURL(type="pypi", name=name, version=version)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        hashes=hashes,
        external_references=references,
        licenses=[LicenseFactory().make_from_string(text) for text in _license(name)],
    )


def _license(name: str) -> list[str]:
    """Return the license expression (PEP 639) of a package that is installed here and declares one."""
    try:
        return metadata(name).get_all("License-Expression") or []
    except PackageNotFoundError:  # needed on other platforms only
        return []


def _sha256(digest: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)


def sbom_error(text: str) -> str | None:
    """Return where a document violates the CycloneDX schema, or ``None``."""
    # Imported here, because it compiles grammars for seconds, in each process that collects tests.
    from cyclonedx.validation.json import JsonStrictValidator

    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return None if error is None else str(error)
