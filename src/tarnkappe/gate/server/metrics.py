"""Figures for Prometheus. They say how busy the gate is, and nothing that clients do not see anyway."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

HELP = {
    "tarn_gate_connections": ("gauge", "Clients that are connected."),
    "tarn_gate_connections_total": ("counter", "Clients that have connected."),
    "tarn_gate_logins_total": ("counter", "Logins, by outcome."),
    "tarn_gate_statements_total": ("counter", "Statements, by kind and outcome."),
    "tarn_gate_released_total": ("counter", "Questions, by the seconds after which their answer left."),
    "tarn_gate_protocol_errors_total": ("counter", "Connections that ended for not speaking the protocol."),
}
LONGEST_REQUEST = 8_192


class Metrics:
    """Counts what happens."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
        self._lock = threading.Lock()

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        """Add to a figure."""
        with self._lock:
            self._counts[name, tuple(sorted(labels.items()))] += by

    def value(self, name: str, **labels: str) -> int:
        """A figure, over all labels that are not given."""
        wanted = set(labels.items())
        with self._lock:
            return sum(
                n for (known, said), n in self._counts.items() if known == name and wanted <= set(said)
            )

    def text(self) -> str:
        """All figures as Prometheus reads them."""
        with self._lock:
            counts = dict(self._counts)
        lines = []
        for name, (kind, meaning) in HELP.items():
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
            for (known, labels), number in sorted(counts.items()):
                if known == name:
                    said = ",".join(f'{key}="{value}"' for key, value in labels)
                    lines.append(f"{name}{{{said}}} {number}" if said else f"{name} {number}")
        return "\n".join(lines) + "\n"


async def serve_metrics(metrics: Metrics, host: str, port: int) -> asyncio.Server:
    """Answer `GET /metrics`, and nothing else."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            found = request.split(b"\r\n", 1)[0].split(b" ")[:2] == [b"GET", b"/metrics"]
            body = metrics.text().encode() if found else b"only /metrics is here\n"
            status = "200 OK" if found else "404 Not Found"
            lines = (
                f"HTTP/1.1 {status}",
                "Content-Type: text/plain; version=0.0.4",
                f"Content-Length: {len(body)}",
            )
            writer.write("\r\n".join((*lines, "Connection: close", "", "")).encode() + body)
            await asyncio.wait_for(writer.drain(), 5)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(answer, host, port, limit=LONGEST_REQUEST)
