"""The Python client: a thin way to the REST API of a service.

service = ServiceClient("https://tarn.example.org", token)
file = service.upload("patients.csv")
result = service.run("anonymize", {"input": {"file": file}, ...})
service.download(result["job"], "release", "release.parquet")
"""

from __future__ import annotations

import json
import os
import secrets
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from tarnkappe.errors import AccessError, GuaranteeError, InputError, ParameterError, Reason, TarnkappeError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import replace_atomically

TOKEN = "TARN_TOKEN"  # noqa: S105 - the name of a variable
LOCAL = ("127.0.0.1", "localhost", "::1")
PATIENCE = 60.0
LONGEST_ERROR = 100_000


class ServiceClient:
    """A service somewhere.

    Args:
        url: where it is; beyond this machine it must be https.
        token: an API token; without it, the one in the environment variable TARN_TOKEN.
        patience: seconds without a word after which the service is given up.
    """

    def __init__(self, url: str, token: str | None = None, *, patience: float = PATIENCE) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(
                "service.no-address-service-write",
                "'{url}' is no address of a service: write https://host[:port]",
                url=url,
            )
        if parts.scheme == "http" and parts.hostname not in LOCAL:
            raise ParameterError(
                "service.token-data-go-over",
                "{url}: a token and data go over https only: write https://",
                url=url,
            )
        self._token = token or os.environ.get(TOKEN)
        if not self._token:
            raise AccessError(
                "service.service-needs-token-set", "the service needs a token: set {token}", token=TOKEN
            )
        self._url = f"{parts.scheme}://{parts.netloc}/api/v1"
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {self._token}", "Accept-Encoding": "identity"},
            follow_redirects=False,  # a token is for one service: nobody sends it elsewhere
            limits=httpx.Limits(max_keepalive_connections=0),  # nothing is open that somebody had to close
            timeout=patience,
            verify=ssl.create_default_context(),  # whom the machine trusts
        )

    def upload(self, path: str | Path) -> str:
        """Send a file, piece by piece; the id by which documents name it."""
        path = Path(path)
        try:
            with path.open("rb") as file:
                headers = {
                    "Content-Length": str(path.stat().st_size),
                    "Content-Type": "application/octet-stream",
                }
                found = self._json("POST", "/files", {"name": path.name}, file, headers)
        except OSError as error:
            raise InputError(
                "service.file-cannot-read",
                "{path}: the file cannot be read: {strerror}",
                path=path,
                strerror=error.strerror,
            ) from None
        return str(found["id"])

    def start(self, kind: str, document: Mapping[str, Any]) -> str:
        """Ask for a job; its id."""
        body = json.dumps({"kind": kind, "document": document}).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": secrets.token_hex(16)}
        return str(self._json("POST", "/jobs", body=body, headers=headers)["id"])

    def job(self, job_id: str) -> dict[str, Any]:
        """Where a job stands."""
        found: dict[str, Any] = self._json("GET", f"/jobs/{job_id}")
        return found

    def events(self, job_id: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """What happens to a job until it ends; if the line is cut, it is taken up again."""
        while True:
            with self._open("GET", f"/jobs/{job_id}/events", {"after": after}) as stream:
                try:
                    for line in stream.iter_lines():
                        if line.startswith("data: "):
                            event = json.loads(line[6:])
                            after = event["n"]
                            yield event
                            if event.get("state") in ("done", "failed", "cancelled"):
                                return
                except httpx.TransportError:
                    continue

    def cancel(self, job_id: str) -> None:
        """End a job without a result."""
        self._json("POST", f"/jobs/{job_id}/cancel", body=b"")

    def remove(self, job_id: str) -> None:
        """Forget a job and what it has made."""
        self._json("DELETE", f"/jobs/{job_id}")

    def remove_file(self, file_id: str) -> None:
        """Delete an upload."""
        self._json("DELETE", f"/files/{file_id}")

    def result(self, job_id: str) -> dict[str, Any]:
        """What a job has found: `figures`, `text`, `exit_code`, `files`."""
        found: dict[str, Any] = self._json("GET", f"/jobs/{job_id}/result")
        return found

    def run(self, kind: str, document: Mapping[str, Any], progress: Progress | None = None) -> dict[str, Any]:
        """Ask for a job, wait for its end, and return its result with its id as `job`.

        Raises:
            TarnkappeError: the job failed; a `GuaranteeError` if for want of a solution.
        """
        job_id = self.start(kind, document)
        try:
            for event in self.events(job_id):
                if progress is not None and "stage" in event:
                    progress(event["stage"], event["done"], event["total"], event["note"])
        except KeyboardInterrupt:
            self.cancel(job_id)
            raise
        job = self.job(job_id)
        if job["state"] != "done":
            kind_of = GuaranteeError if job["exit_code"] == 1 else TarnkappeError
            if job["error"]:
                raise kind_of.because(Reason.again(job.get("reason") or {"text": job["error"]}))
            raise kind_of.because(Reason("service.job-was", "the job was {state}", state=job["state"]))
        return {**self.result(job_id), "job": job_id}

    def download(
        self,
        job_id: str,
        what: str,
        path: str | Path,
        *,
        form: str = "parquet",
        formulas: str = "keep",
        replace: bool = False,
    ) -> None:
        """Write something that a job has made to a file, which appears whole or not at all.

        A file that is there and is not ours is replaced only if it is said so.
        """
        asked = {"format": form, "formulas": formulas}
        with (
            self._open("GET", f"/jobs/{job_id}/files/{quote(what, safe='')}", asked) as stream,
            replace_atomically(Path(path), replace=replace) as partial,
            partial.open("xb") as file,
        ):
            for piece in stream.iter_bytes():
                file.write(piece)

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        with self._open(method, path, query, body, headers) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    @contextmanager
    def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[httpx.Response]:
        headers = headers or {"Content-Type": "application/json"}
        try:
            with self._client.stream(
                method, f"{self._url}{path}", params=query, content=body, headers=headers
            ) as answer:
                if not answer.is_success:
                    raise _told(answer)
                yield answer
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise InputError(
                "service.service-cannot-reached",
                "{url}: the service cannot be reached: {reason}",
                url=self._url,
                reason=reason,
            ) from None


def _told(answer: httpx.Response) -> TarnkappeError:
    """The error of the service, of the same class as it would be here."""
    try:
        said = json.loads(next(answer.iter_bytes(LONGEST_ERROR), b""))
        return TarnkappeError.again({"code": "", "args": {}, **said, "text": said["error"]})
    except (ValueError, KeyError, TypeError):
        return TarnkappeError(
            "service.service-answered", "the service answered {status_code}", status_code=answer.status_code
        )
