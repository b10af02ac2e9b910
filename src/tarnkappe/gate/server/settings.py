"""How the service runs: where it listens, whom it lets in, its limits. Section [server] of the policy file.

    [server]
    listen = "127.0.0.1:5433"
    users = "users.toml"          # made by `tarn gate user add`
    certificate = "server.crt"    # with its key: then clients must use TLS
    private_key = "server.key"
    metrics = "127.0.0.1:9433"    # for Prometheus; this machine alone
    deadline = 0.25               # seconds: an answer leaves so long after its turn came; see `slot`
    aggregates = "view"           # worked out from the rows of the answer; "estimate"; "noisy"; "refuse"
    post_processing = true        # any SELECT may run over protected answers
    epsilon = 0.1                 # of one noisy figure
    budget = 1.0                  # of all noisy figures of users who are presumed to work together

    [server.bounds]               # of columns of which there are noisy sums and means
    age = [0, 120]

All of it is optional.
"""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.gate.policy_file import ServerSection
from tarnkappe.schema.documents import parse
from tarnkappe.schema.written import read_toml

AGGREGATES = ("view", "estimate", "noisy", "refuse")

TENTH, ONE = Fraction(1, 10), Fraction(1)


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of the service.

    Attributes:
        deadline: an answer or a refusal leaves so many seconds after its turn came, so that the time tells
            nothing about how the decision was made; twice as many for more than 10,000 people, four times for
            more than 40,000, and so on. Until then nobody else of the same history has a turn.
        waiting: how many statements of one history may wait for their turn.
        post_processing: whether any SELECT may run over protected answers, where aggregates are "view" or
            "estimate".
        bounds: between which numbers a column counts in noisy sums and means; what is beyond counts as the
            bound.
        largest_message: in bytes.
        login_seconds: how long somebody may take to log in.
        failure_seconds: how long a failed login waits for its answer, against trying out passwords.
        idle_seconds: how long a client may be silent.
        send_seconds: how long a client may take to accept what it is sent.
        grace_seconds: how long clients may take, when the service stops, to accept what has been answered.
    """

    host: str = "127.0.0.1"
    port: int = 5433
    users: str = "users.toml"
    certificate: str | None = None
    private_key: str | None = None
    metrics: tuple[str, int] | None = None
    deadline: float = 0.25
    waiting: int = 100
    aggregates: str = "view"
    post_processing: bool = True
    epsilon: Fraction = TENTH
    budget: Fraction = ONE
    bounds: Mapping[str, tuple[Fraction, Fraction]] = dataclasses.field(default_factory=dict, hash=False)
    connections: int = 100
    largest_message: int = 1_048_576
    login_seconds: float = 15.0
    failure_seconds: float = 1.0
    idle_seconds: float = 3_600.0
    send_seconds: float = 60.0
    grace_seconds: float = 1.0

    def __post_init__(self) -> None:
        if (self.certificate is None) is not (self.private_key is None):
            raise ParameterError(
                "gate.server-certificate-private-key",
                "[server] 'certificate' and 'private_key' belong together: give both or neither",
            )
        if self.certificate is None and not is_loopback(self.host):
            raise ParameterError(
                "gate.server-others-can-reach",
                "[server] others can reach {host}: give a certificate and its key for TLS",
                host=self.host,
            )
        if self.metrics is not None and not is_loopback(self.metrics[0]):
            raise ParameterError(
                "gate.server-metrics-machine-alone",
                "[server] 'metrics' are for this machine alone: 127.0.0.1:PORT",
            )
        if self.aggregates not in AGGREGATES:
            raise ParameterError(
                "gate.server-aggregates",
                "[server] 'aggregates' must be one of {aggregates}",
                aggregates=", ".join(AGGREGATES),
            )
        if not 0 < self.epsilon <= self.budget:
            raise ParameterError(
                "gate.server-epsilon-must-above-0",
                "[server] 'epsilon' must be above 0, and 'budget' not less than it",
            )
        if not 0 < self.deadline <= 60:
            raise ParameterError(
                "gate.server-deadline-must-above-0",
                "[server] 'deadline' must be above 0 and at most 60 seconds",
            )
        if self.waiting < 1:
            raise ParameterError("gate.server-waiting-must-least-1", "[server] 'waiting' must be at least 1")
        if self.connections < 1 or self.largest_message < 1_024:
            raise ParameterError(
                "gate.server-connections-must-least-1",
                "[server] 'connections' must be at least 1, 'largest_message' at least 1024",
            )
        if min(self.login_seconds, self.idle_seconds, self.send_seconds, self.grace_seconds) <= 0:
            raise ParameterError(
                "gate.server-limits-time-must-above-0", "[server] the limits of time must be above 0 seconds"
            )

    @property
    def computes(self) -> bool:
        """Whether any SELECT may run over protected answers."""
        return self.post_processing and self.aggregates in ("view", "estimate")

    @classmethod
    def load(cls, path: str | Path) -> Settings:
        """The settings in a policy file; relative paths start at its folder."""
        return cls.from_dict(read_toml(path, "policy").get("server", {}), Path(path).parent)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path()) -> Settings:
        """The settings from the content of the section."""
        return cls.of(parse(ServerSection, content, folder.absolute(), name="[server]"))

    @classmethod
    def of(cls, said: ServerSection) -> Settings:
        """The settings that a section says."""
        host, port = address(said.listen)
        return cls(
            host=host,
            port=port,
            users=said.users,
            certificate=said.certificate,
            private_key=said.private_key,
            metrics=None if said.metrics is None else address(said.metrics),
            deadline=float(said.deadline),
            waiting=said.waiting,
            aggregates=said.aggregates,
            post_processing=said.post_processing,
            epsilon=Fraction(str(said.epsilon)),
            budget=Fraction(str(said.budget)),
            bounds=said.exact_bounds,
            connections=said.connections,
            largest_message=said.largest_message,
            login_seconds=float(said.login_seconds),
            failure_seconds=float(said.failure_seconds),
            idle_seconds=float(said.idle_seconds),
            send_seconds=float(said.send_seconds),
            grace_seconds=float(said.grace_seconds),
        )


def address(text: str) -> tuple[str, int]:
    """A host and a port.

    >>> address("127.0.0.1:5433"), address("[::1]:0")
    (('127.0.0.1', 5433), ('::1', 0))
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise ParameterError(
            "gate.no-address-write-host", "'{text}' is no address: write HOST:PORT", text=text
        )
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
