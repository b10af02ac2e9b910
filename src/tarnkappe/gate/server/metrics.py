"""Figures for Prometheus. They say how busy the gate is, and nothing that clients do not see anyway."""

from __future__ import annotations

from threading import Thread
from wsgiref.simple_server import WSGIServer

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge

COUNTED: dict[str, tuple[type[Counter | Gauge], str, tuple[str, ...]]] = {
    "tarn_gate_clients": (Gauge, "Clients that are connected.", ()),
    "tarn_gate_connections_total": (Counter, "Clients that have connected.", ()),
    "tarn_gate_logins_total": (Counter, "Logins, by outcome.", ("outcome",)),
    "tarn_gate_statements_total": (Counter, "Statements, by kind and outcome.", ("kind", "outcome")),
    "tarn_gate_released_total": (Counter, "Answers, by the seconds after which they left.", ("after",)),
    "tarn_gate_late_total": (Counter, "Questions that took longer than their slot.", ()),
    "tarn_gate_protocol_errors_total": (Counter, "Connections that did not speak the protocol.", ()),
}


class Metrics:
    """Counts what happens."""

    def __init__(self) -> None:
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]  # when somebody was refused first is nobody's business
        self.registry = CollectorRegistry()
        self._counted = {
            name: kind(name, meaning, labels, registry=self.registry)
            for name, (kind, meaning, labels) in COUNTED.items()
        }
        self._server: WSGIServer | None = None
        self._thread: Thread | None = None

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        """Add to a figure."""
        counted = self._counted[name]
        (counted.labels(**labels) if labels else counted).inc(by)

    def serve(self, host: str, port: int) -> None:
        """Answer who asks for them, in a thread, until `close`."""
        self._server, self._thread = prometheus_client.start_http_server(port, host, self.registry)

    def close(self) -> None:
        """Stop answering, if anybody was answered."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
