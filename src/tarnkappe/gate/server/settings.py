"""How the service runs: where it listens, whom it lets in, its limits. Section [server] of the policy file.

    [server]
    listen = "127.0.0.1:5433"
    users = "users.toml"          # made by `tarn gate user add`
    certificate = "server.crt"    # with its key: then clients must use TLS
    private_key = "server.key"
    metrics = "127.0.0.1:9433"    # for Prometheus; this machine alone
    quantum = 0.05                # seconds: answers leave 1, 2, 4, 8 ... of them after their turn came
    aggregates = "view"           # worked out from the rows of the answer; "estimate"; "noisy"; "refuse"
    epsilon = 0.1                 # of one noisy figure
    budget = 1.0                  # of all noisy figures of users who are presumed to work together

    [server.bounds]               # of columns of which there are noisy sums and means
    age = [0, 120]

All of it is optional.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import math
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.gate.policy_file import Section

AGGREGATES = ("view", "estimate", "noisy", "refuse")

TENTH, ONE = Fraction(1, 10), Fraction(1)


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of the service.

    Attributes:
        quantum: an answer or a refusal leaves 1, 2, 4, 8, ... times so many seconds after its turn came, so
            that a time tells next to nothing about how the decision was made; until then nobody else has a
            turn, so there are at most 1 / quantum questions a second.
        bounds: between which numbers a column counts in noisy sums and means; what is beyond counts as the
            bound.
        largest_message: in bytes.
        login_seconds: how long somebody may take to log in.
        failure_seconds: how long a failed login waits for its answer, against trying out passwords.
        idle_seconds: how long a client may be silent.
        send_seconds: how long a client may take to accept what it is sent.
        grace_seconds: how long running questions may take when the service stops.
    """

    host: str = "127.0.0.1"
    port: int = 5433
    users: str = "users.toml"
    certificate: str | None = None
    private_key: str | None = None
    metrics: tuple[str, int] | None = None
    quantum: float = 0.05
    aggregates: str = "view"
    epsilon: Fraction = TENTH
    budget: Fraction = ONE
    bounds: Mapping[str, tuple[Fraction, Fraction]] = dataclasses.field(default_factory=dict, hash=False)
    connections: int = 100
    largest_message: int = 1_048_576
    login_seconds: float = 15.0
    failure_seconds: float = 1.0
    idle_seconds: float = 3_600.0
    send_seconds: float = 60.0
    grace_seconds: float = 10.0

    def __post_init__(self) -> None:
        if (self.certificate is None) is not (self.private_key is None):
            raise ParameterError(
                "[server] 'certificate' and 'private_key' belong together: give both or neither"
            )
        if self.certificate is None and not is_loopback(self.host):
            raise ParameterError(
                f"[server] others can reach {self.host}: give a certificate and its key for TLS"
            )
        if self.metrics is not None and not is_loopback(self.metrics[0]):
            raise ParameterError("[server] 'metrics' are for this machine alone: 127.0.0.1:PORT")
        if self.aggregates not in AGGREGATES:
            raise ParameterError(f"[server] 'aggregates' must be one of {', '.join(AGGREGATES)}")
        if not 0 < self.epsilon <= self.budget:
            raise ParameterError("[server] 'epsilon' must be above 0, and 'budget' not less than it")
        if not 0 < self.quantum <= 60:
            raise ParameterError("[server] 'quantum' must be above 0 and at most 60 seconds")
        if self.connections < 1 or self.largest_message < 1_024:
            raise ParameterError("[server] 'connections' must be at least 1, 'largest_message' at least 1024")
        if min(self.login_seconds, self.idle_seconds, self.send_seconds, self.grace_seconds) <= 0:
            raise ParameterError("[server] the limits of time must be above 0 seconds")

    @classmethod
    def load(cls, path: str | Path) -> Settings:
        """The settings in a policy file; relative paths start at its folder."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path}: the policy cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: this is no TOML: {error}") from None
        return cls.from_dict(content.get("server", {}), path.parent)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path()) -> Settings:
        """The settings from the content of the section."""
        section = Section("server", content)
        host, port = address(section.take("listen", str, f"{cls.host}:{cls.port}"))
        metrics = section.may_have("metrics", str)
        certificate, private_key = section.may_have("certificate", str), section.may_have("private_key", str)
        number = (int, float)
        settings = cls(
            host=host,
            port=port,
            users=str(folder / section.take("users", str, cls.users)),
            certificate=None if certificate is None else str(folder / certificate),
            private_key=None if private_key is None else str(folder / private_key),
            metrics=None if metrics is None else address(metrics),
            quantum=float(section.take("quantum", number, cls.quantum)),
            aggregates=section.take("aggregates", str, cls.aggregates),
            epsilon=Fraction(str(section.take("epsilon", number, float(cls.epsilon)))),
            budget=Fraction(str(section.take("budget", number, float(cls.budget)))),
            bounds=_bounds(section.may_have("bounds", dict) or {}),
            connections=section.take("connections", int, cls.connections),
            largest_message=section.take("largest_message", int, cls.largest_message),
            login_seconds=float(section.take("login_seconds", number, cls.login_seconds)),
            failure_seconds=float(section.take("failure_seconds", number, cls.failure_seconds)),
            idle_seconds=float(section.take("idle_seconds", number, cls.idle_seconds)),
            send_seconds=float(section.take("send_seconds", number, cls.send_seconds)),
            grace_seconds=float(section.take("grace_seconds", number, cls.grace_seconds)),
        )
        section.end()
        return settings


def _bounds(said: Mapping[str, Any]) -> dict[str, tuple[Fraction, Fraction]]:
    found = {}
    for name, pair in said.items():
        numbers = pair if isinstance(pair, list) else []
        if len(numbers) != 2 or not all(type(n) in (int, float) and math.isfinite(n) for n in numbers):
            raise ParameterError(f"[server.bounds] '{name}' must be two numbers: [LEAST, MOST]")
        if numbers[0] >= numbers[1]:
            raise ParameterError(f"[server.bounds] '{name}': the first number must be the smaller one")
        found[name] = (Fraction(str(numbers[0])), Fraction(str(numbers[1])))
    return found


def address(text: str) -> tuple[str, int]:
    """A host and a port.

    >>> address("127.0.0.1:5433"), address("[::1]:0")
    (('127.0.0.1', 5433), ('::1', 0))
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise ParameterError(f"'{text}' is no address: write HOST:PORT")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
