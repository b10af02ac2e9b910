"""The users file: names and SCRAM verifiers, readable by its owner alone."""

from __future__ import annotations

import base64
import binascii
import os
import re
import secrets
import tempfile
from pathlib import Path

from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.gate.server.scram import Verifier
from tarnkappe.schema.written import UnreadableError, read_toml
from tarnkappe.state.passwords import require_password

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,62}")
LEAST_PASSWORD = 8


class Users:
    """Who may log in.

    The file is read anew for every login, so that who is added or removed is so at once.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def names(self) -> list[str]:
        """Everybody in the file."""
        return sorted(self._read()[1])

    def verifier(self, name: str) -> Verifier:
        """The verifier of a user; of somebody who is not there, one that no password fits."""
        secret, verifiers = self._read()
        return verifiers.get(name) or Verifier.of_nobody(name, secret)

    def put(self, name: str, password: str) -> None:
        """Add a user, or give one another password."""
        if NAME.fullmatch(name) is None:
            raise ParameterError(
                "gate.user-name-1-63", "a user name has 1 to 63 letters, digits, and _ . @ - inside"
            )
        require_password(password, name, LEAST_PASSWORD)
        secret, verifiers = self._read() if self.path.exists() else (secrets.token_bytes(32), {})
        self._write(secret, verifiers | {name: Verifier.of(password)})

    def remove(self, name: str) -> None:
        """Take a user out."""
        secret, verifiers = self._read()
        if name not in verifiers:
            raise ParameterError("gate.no-user-name", "{path}: there is no user of this name", path=self.path)
        self._write(secret, {known: verifier for known, verifier in verifiers.items() if known != name})

    def _read(self) -> tuple[bytes, dict[str, Verifier]]:
        try:
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                raise InputError(
                    "gate.others-can-read-users",
                    "{path}: others can read this users file: chmod 600 it",
                    path=self.path,
                )
            content = read_toml(self.path, "users file")
            secret = base64.b64decode(content["secret"], validate=True)
            users = {name: Verifier.read(text) for name, text in content.get("users", {}).items()}
        except OSError as error:
            raise InputError(
                "gate.users-file-cannot-read",
                "{path}: the users file cannot be read: {strerror} (tarn gate user add makes one)",
                path=self.path,
                strerror=error.strerror,
            ) from None
        except (UnreadableError, binascii.Error, KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                "gate.no-users-file-tarn",
                "{path}: this is no users file of `tarn gate user add`",
                path=self.path,
            ) from None
        return secret, users

    def _write(self, secret: bytes, verifiers: dict[str, Verifier]) -> None:
        lines = [f'secret = "{base64.b64encode(secret).decode()}"', "", "[users]"]
        lines += [f'"{name}" = "{verifier.written}"' for name, verifier in sorted(verifiers.items())]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, draft = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(self.path)
        except OSError as error:
            raise OutputError(
                "gate.users-file-cannot-written",
                "{path}: the users file cannot be written: {strerror}",
                path=self.path,
                strerror=error.strerror,
            ) from None
