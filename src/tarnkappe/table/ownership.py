"""What shows that a file is an earlier output of ours, so that a later one may take its place.

A release is ours if a manifest has its digest, a manifest, a certificate or a utility report if it is one, a
page if it names its generator, a job file if its first line says so. A table without a manifest shows
nothing: it may be anybody's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PAGE_MARK = '<meta name="generator" content="Tarnkappe">'
"""Stands in the head of every page that is written to a file."""

CERTIFICATE_FORMAT = "tarnkappe certificate 1"
"""What the first line of a certificate says of itself."""

JOB_MARK = "# A job file that tarn wrote: every decision with its reason"
"""The first line of a job file that was proposed."""
UTILITY_FORMAT = "tarnkappe utility report 1"
"""What the first line of an internal utility report says of itself."""

_HEAD = 4096
_LONGEST_MANIFEST = 1 << 26
_OF_A_MANIFEST = ("tarnkappe", "created", "verified")


def manifest_beside(path: str | Path) -> Path:
    """Where the manifest of a release is, unless the job says otherwise."""
    return Path(f"{path}.manifest.json")


def is_own(path: Path, manifests: Iterable[Path] = ()) -> bool:
    """Whether a file shows that it was written here.

    Args:
        path: the file.
        manifests: where its manifest may be, other than beside it.
    """
    try:
        if (
            _is_page(path)
            or _says_its_format(path)
            or _is_proposed_job(path)
            or _read_manifest(path) is not None
        ):
            return True
        listed = {
            digest
            for place in (manifest_beside(path), *manifests)
            for digest in _digests(_read_manifest(place))
        }
        return bool(listed) and digest_of(path) in listed
    except OSError:
        return False


def digest_of(path: Path) -> str:
    """The hash of a file, as manifests have it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_proposed_job(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline(_HEAD).rstrip() == JOB_MARK.encode()


def _is_page(path: Path) -> bool:
    with path.open("rb") as file:
        return PAGE_MARK.encode() in file.read(_HEAD)


def _says_its_format(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(_LONGEST_MANIFEST)
    try:
        head = json.loads(line)
    except ValueError:
        return False
    return isinstance(head, dict) and head.get("format") in (CERTIFICATE_FORMAT, UTILITY_FORMAT)


def _read_manifest(path: Path) -> dict[str, Any] | None:
    if path.suffix.lower() != ".json" or not path.is_file() or path.stat().st_size > _LONGEST_MANIFEST:
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return content if isinstance(content, dict) and all(key in content for key in _OF_A_MANIFEST) else None


def _digests(manifest: dict[str, Any] | None) -> Iterator[str]:
    for key in ("sha256", "sha256_of_tables"):
        said = (manifest or {}).get(key)
        yield from said.values() if isinstance(said, dict) else [said] if isinstance(said, str) else []
