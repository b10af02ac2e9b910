"""Certificates: who a party is. From files in production; a small authority for tests and trials."""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
import ssl
from functools import cached_property
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tarnkappe.errors import InputError, ParameterError

LIFETIME = datetime.timedelta(days=365)
CURVE = ec.SECP256R1()


@dataclasses.dataclass(frozen=True)
class Credentials:
    """The files by which a party proves who it is, and the authority that it trusts.

    Attributes:
        certificate: its certificate (PEM); the common name is the name of the party.
        key: its private key (PEM).
        authority: the certificate of the authority that has certified everybody (PEM).
        revoked: the authority's list of certificates that are worth nothing any more (PEM), if there is one.
    """

    certificate: Path
    key: Path
    authority: Path
    revoked: Path | None = None

    def server_context(self) -> ssl.SSLContext:
        """TLS 1.3 for who is called; who calls must show a certificate of the authority."""
        return self._context(ssl.PROTOCOL_TLS_SERVER)

    def client_context(self) -> ssl.SSLContext:
        """TLS 1.3 for who calls; whether the right party answers is checked by its name, not its host."""
        return self._context(ssl.PROTOCOL_TLS_CLIENT)

    def _context(self, side: int) -> ssl.SSLContext:
        try:
            context = ssl.SSLContext(side)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.check_hostname = False
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_cert_chain(self.certificate, self.key)
            context.load_verify_locations(self.authority)
            if self.revoked is not None:
                context.load_verify_locations(self.revoked)
                context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                "federation.certificates-cannot-used",
                "the certificates of '{certificate}' cannot be used: {error}",
                certificate=self.certificate,
                error=error,
            ) from None
        return context

    @cached_property
    def name(self) -> str:
        """Whose credentials these are."""
        try:
            return common_name(x509.load_pem_x509_certificate(self.certificate.read_bytes()))
        except (OSError, ValueError) as error:
            raise InputError(
                "federation.certificate-cannot-read",
                "the certificate '{certificate}' cannot be read: {error}",
                certificate=self.certificate,
                error=error,
            ) from None

    def require_signing(self) -> None:
        """Refuse a key that cannot sign messages, before anything is started with it."""
        self.sign(b"")

    def sign(self, data: bytes) -> bytes:
        """A signature that everybody can check who has the certificate."""
        return self._private.sign(data, ec.ECDSA(hashes.SHA256()))

    @cached_property
    def _private(self) -> ec.EllipticCurvePrivateKey:
        try:
            key = serialization.load_pem_private_key(self.key.read_bytes(), None)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                "federation.key-cannot-read",
                "the key '{key}' cannot be read: {error}",
                key=self.key,
                error=error,
            ) from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ParameterError(
                "federation.no-key-elliptic-curve",
                "'{key}' is no key of an elliptic curve, which messages are signed with: issue a "
                "certificate with an EC key (P-256)",
                key=self.key,
            )
        return key


def is_signed_by(certificate: bytes, signature: bytes, data: bytes) -> bool:
    """Whether the owner of a certificate (DER) has signed something."""
    key = x509.load_der_x509_certificate(certificate).public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return False
    try:
        key.verify(signature, data, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def is_issued_by(certificate: bytes, authority: Path) -> bool:
    """Whether a certificate (DER) was issued by one of the authorities in a file."""
    shown = x509.load_der_x509_certificate(certificate)
    for issuer in x509.load_pem_x509_certificates(authority.read_bytes()):
        try:
            shown.verify_directly_issued_by(issuer)
        except (ValueError, TypeError, InvalidSignature):
            continue
        return True
    return False


def common_name(certificate: x509.Certificate) -> str:
    """The name of the party that a certificate is about."""
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if names else ""


def peer_name(certificate: bytes | None) -> str:
    """The name in the certificate that the other side has shown (DER)."""
    return "" if certificate is None else common_name(x509.load_der_x509_certificate(certificate))


class Authority:
    """A small authority that certifies parties, for tests and trials; one in the folder is used again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tarnkappe trial authority")])
        self.certificate, place = folder / "authority.pem", folder / "authority.key"
        if place.exists() and self.certificate.exists():
            self._key = _read_key(place)
            return
        if self.certificate.exists():
            raise InputError(
                "federation.no-key-beside-whoever",
                "'{certificate}' has no key beside it: whoever has it issues certificates, or take another "
                "folder",
                certificate=self.certificate,
            )
        self._key = ec.generate_private_key(CURVE)
        _write_key(place, self._key)
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
        builder = builder.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False
        )
        self.certificate.write_bytes(
            builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )

    def issue(self, party: str) -> Credentials:
        """The credentials of a party, as files that only their owner can read; they are made once."""
        if party != Path(party).name or party in ("", ".", "..", "authority"):
            raise ParameterError(
                "federation.cannot-name-party-files",
                "'{party}' cannot be the name of a party: files are called by it",
                party=party,
            )
        certificate, key_file = self._folder / f"{party}.pem", self._folder / f"{party}.key"
        if certificate.exists() or key_file.exists():
            raise ParameterError(
                "federation.certificate-remove-first-make",
                "'{party}' has a certificate in {folder}: remove it first to make another",
                party=party,
                folder=self._folder,
            )
        key = ec.generate_private_key(CURVE)
        builder = self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, party)]), key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
        both_ways = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = builder.add_extension(x509.ExtendedKeyUsage(both_ways), critical=False)
        here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        builder = builder.add_extension(x509.SubjectAlternativeName([here]), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        signed = builder.sign(self._key, hashes.SHA256())
        certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        _write_key(key_file, key)
        return Credentials(certificate, key_file, self.certificate)

    def revoke(self, *certificates: Path) -> Path:
        """The list of certificates (PEM) that are worth nothing any more; it replaces an earlier one."""
        now = datetime.datetime.now(datetime.UTC)
        builder = x509.CertificateRevocationListBuilder().issuer_name(self._name)
        builder = builder.last_update(now).next_update(now + LIFETIME)
        for path in certificates:
            gone = x509.load_pem_x509_certificate(path.read_bytes()).serial_number
            entry = x509.RevokedCertificateBuilder().serial_number(gone).revocation_date(now)
            builder = builder.add_revoked_certificate(entry.build())
        listed = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        place = self._folder / "revoked.pem"
        place.write_bytes(listed)
        return place

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + LIFETIME)
        )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _write_key(place: Path, key: ec.EllipticCurvePrivateKey) -> None:
    place.touch(mode=0o600)
    place.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _read_key(place: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(place.read_bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise InputError(
            "federation.no-key-authority-take",
            "'{place}' is no key of this authority: take another folder",
            place=place,
        )
    return key
