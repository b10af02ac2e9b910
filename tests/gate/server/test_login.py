"""Who comes in, and what everybody else learns: nothing."""

from __future__ import annotations

import datetime as dt
import hashlib
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.gate.server.scram import BOUND, PLAIN, ScramError, ScramExchange, Verifier, prepared
from tarnkappe.gate.server.settings import Settings
from tarnkappe.gate.server.users import Users
from tests.gate.server.gates import PASSWORD, Running, people, policy, put, running
from tests.gate.server.scram_client import Client


def certificate(folder: Path) -> tuple[str, str]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "server.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return str(folder / "server.crt"), str(folder / "server.key")


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str]]:
    folder = tmp_path_factory.mktemp("tls")
    crt, key = certificate(folder)
    chosen = policy(put(people(40), "parquet", folder), folder, users=("ann",))
    with running(chosen, folder, certificate=crt, private_key=key) as gate:
        yield gate, crt


# RFC 7677: the example of SCRAM-SHA-256 there.


def test_the_exchange_is_that_of_the_standard() -> None:
    verifier = _fixed(b"pencil", "W22ZaJ0SNY7soEsUEjb6gQ==", 4096)
    assert Verifier.read(verifier.written) == verifier
    client = Client("user", "pencil", PLAIN, None, nonce="rOprNGfwEbeRWgbNEkqO")
    exchange = ScramExchange(verifier, PLAIN, None)
    challenge = exchange.challenge(client.first())
    final = client.final(challenge)
    assert client.accepts(exchange.finish(final))


def _fixed(password: bytes, salt: str, iterations: int) -> Verifier:
    import base64
    import hmac

    salted = hashlib.pbkdf2_hmac("sha256", password, base64.b64decode(salt), iterations)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    return Verifier(iterations, base64.b64decode(salt), stored, hmac.digest(salted, b"Server Key", "sha256"))


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"n,,n=,r=",
        b"n,,n=user",
        b"y,,n=user,r=abc",
        b"p=tls-unique,,n=user,r=abc",
        b"n,a=admin,n=user,r=abc",
        b"\xff\xfe",
        b"n,,m=1,n=user,r=abc",
    ],
)
def test_a_first_message_that_is_no_scram_is_refused(broken: bytes) -> None:
    with pytest.raises(ScramError):
        ScramExchange(Verifier.of("password"), PLAIN, b"certificate").challenge(broken)


@pytest.mark.parametrize("change", ["nonce", "proof", "channel", "short", "garbage"])
def test_a_last_message_that_was_changed_is_refused(change: str) -> None:
    verifier = Verifier.of("password", 4096)
    client, exchange = Client("user", "password", PLAIN, None), ScramExchange(verifier, PLAIN, None)
    final = client.final(exchange.challenge(client.first()))
    changed = {
        "nonce": final.replace(b"r=", b"r=x"),
        "proof": final[:-4] + b"AAA=",
        "channel": final.replace(b"c=biws", b"c=eSws"),
        "short": final[: final.index(b"p=") + 6],
        "garbage": b"\x00" * 40,
    }[change]
    with pytest.raises(ScramError):
        exchange.finish(changed)


def test_a_client_in_whose_channel_somebody_sits_is_refused() -> None:
    verifier = Verifier.of("password", 4096)
    client = Client("user", "password", BOUND, b"the certificate of somebody else")
    exchange = ScramExchange(verifier, BOUND, b"our certificate")
    with pytest.raises(ScramError):
        exchange.finish(client.final(exchange.challenge(client.first())))


def test_passwords_are_prepared_as_clients_do() -> None:
    assert prepared("I\u00adX") == "IX"
    assert prepared("\u2168") == "IX"
    assert prepared("a\u00a0b") == "a b"
    assert prepared("\x07") == "\x07"
    assert prepared("\u0627\u0031") == "\u0627\u0031"


def test_the_password_opens_and_nothing_else_does(small: Running) -> None:
    with small.connect() as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("ann",)
    told = set()
    for user, password in (
        ("ann", "wrong password"),
        ("nobody", PASSWORD),
        ("", PASSWORD),
        ("a'b", PASSWORD),
    ):
        with pytest.raises(psycopg.OperationalError) as refused:
            psycopg.connect(host="127.0.0.1", port=small.port, user=user, password=password, dbname="x")
        told.add(str(refused.value).split("FATAL: ")[-1].strip())
    assert told == {"password authentication failed"}


def test_somebody_who_does_not_exist_is_asked_as_everybody_else(small: Running) -> None:
    def challenge(user: str) -> tuple[str, str]:
        with socket.create_connection(("127.0.0.1", small.port), timeout=10) as stream:
            client = Client(user, "x", PLAIN, None)
            fields = client.challenge_over(stream)
            return fields["s"], fields["i"]

    assert challenge("nobody") == challenge("nobody")
    assert challenge("nobody")[0] != challenge("noone")[0]
    assert len(challenge("nobody")[0]) == len(challenge("ann")[0])
    assert challenge("nobody")[1] == challenge("ann")[1]


def test_who_is_not_in_the_policy_does_not_come_in(encrypted: tuple[Running, str]) -> None:
    gate, _ = encrypted
    with psycopg.connect(gate.url("ann"), sslmode="require"):
        pass
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(gate.url("bob"), sslmode="require")


def test_who_is_removed_does_not_come_in_any_more(folder: Path) -> None:
    chosen = policy(put(people(20), "parquet", folder), folder)
    with running(chosen, folder) as gate:
        users = Users(folder / "users.toml")
        with psycopg.connect(gate.url("bob")):
            pass
        users.remove("bob")
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(gate.url("bob"))
        users.put("eve", "another password")
        with psycopg.connect(gate.url("eve", "another password")):
            pass


@pytest.mark.parametrize("mode", ["require", "verify-full"])
def test_tls_with_the_login_bound_to_the_channel(encrypted: tuple[Running, str], mode: str) -> None:
    gate, crt = encrypted
    with psycopg.connect(gate.url(), sslmode=mode, sslrootcert=crt, channel_binding="require") as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("SELECT count(*) FROM patients").fetchone() == (40,)


def test_without_tls_nobody_is_let_in_where_there_is_a_certificate(encrypted: tuple[Running, str]) -> None:
    gate, _ = encrypted
    with pytest.raises(psycopg.OperationalError, match="wants TLS"):
        psycopg.connect(gate.url(), sslmode="disable")


def test_words_put_behind_the_request_for_tls_are_not_taken_for_the_clients(
    encrypted: tuple[Running, str],
) -> None:
    gate, _ = encrypted
    startup = struct.pack("!II", 8 + 10, 196_608) + b"user\0ann\0\0"
    with socket.create_connection(("127.0.0.1", gate.port), timeout=10) as stream:
        stream.sendall(struct.pack("!II", 8, 80_877_103) + startup)
        assert stream.recv(1) == b"S"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with pytest.raises((ssl.SSLError, OSError)):
            context.wrap_socket(stream).recv(1)


def test_who_does_not_log_in_is_cut_off(folder: Path) -> None:
    chosen = policy(put(people(20), "parquet", folder), folder)
    with running(chosen, folder, login_seconds=0.3) as gate:
        for sent in (b"", b"\x00\x00", struct.pack("!II", 18, 196_608) + b"user\0ann\0\0"):
            with socket.create_connection(("127.0.0.1", gate.port), timeout=10) as stream:
                stream.sendall(sent)
                began = time.monotonic()
                while stream.recv(4096):
                    pass
                assert time.monotonic() - began < 5


def test_others_cannot_read_the_users_file(folder: Path) -> None:
    users = Users(folder / "users.toml")
    users.put("ann", PASSWORD)
    assert (folder / "users.toml").stat().st_mode & 0o077 == 0
    assert PASSWORD not in (folder / "users.toml").read_text()
    (folder / "users.toml").chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        users.names()


@pytest.mark.parametrize(
    "content", ["", "nonsense", "secret = 3", 'secret = "AAAA"\n[users]\nann = "SCRAM-SHA-256$0:a$b:c"']
)
def test_a_users_file_that_is_none_is_refused(folder: Path, content: str) -> None:
    (folder / "users.toml").write_text(content)
    (folder / "users.toml").chmod(0o600)
    with pytest.raises(InputError, match="no users file"):
        Users(folder / "users.toml").names()


@pytest.mark.parametrize(
    ("name", "password"), [("", PASSWORD), ("a b", PASSWORD), ("a" * 64, PASSWORD), ("ann", "short")]
)
def test_names_and_passwords_have_a_form(folder: Path, name: str, password: str) -> None:
    with pytest.raises(ParameterError):
        Users(folder / "users.toml").put(name, password)


def test_a_port_that_others_can_reach_needs_tls() -> None:
    with pytest.raises(ParameterError, match="TLS"):
        Settings(host="0.0.0.0")
    with pytest.raises(ParameterError, match="this machine alone"):
        Settings(metrics=("0.0.0.0", 1))
