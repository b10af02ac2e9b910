"""The variables of a session, as SET, SHOW and the connection's first messages have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tarnkappe.gate.sql.errors import NO_SETTING, NOT_ALLOWED, StatementError

VERSION = "16.0"
FIXED = {
    "server_version": VERSION,
    "server_version_num": "160000",
    "server_encoding": "UTF8",
    "integer_datetimes": "on",
    "is_superuser": "off",
    "in_hot_standby": "off",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "standard_conforming_strings": "on",
    "default_transaction_read_only": "on",
    "transaction_read_only": "on",
    "lc_collate": "C",
    "lc_ctype": "C",
    "lc_messages": "C",
    "ssl": "on",
}
"""What no client can change."""
CHANGEABLE = {
    "application_name": "",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "datestyle": "ISO, YMD",
    "default_transaction_isolation": "serializable",
    "escape_string_warning": "on",
    "extra_float_digits": "1",
    "idle_in_transaction_session_timeout": "0",
    "intervalstyle": "postgres",
    "jit": "off",
    "lock_timeout": "0",
    "row_security": "on",
    "search_path": '"$user", public',
    "session_replication_role": "origin",
    "statement_timeout": "0",
    "synchronize_seqscans": "on",
    "timezone": "UTC",
    "transaction_isolation": "serializable",
    "xmloption": "content",
}
"""What clients like to set; it changes nothing about answers."""
REPORTED = {
    "application_name": "application_name",
    "client_encoding": "client_encoding",
    "datestyle": "DateStyle",
    "default_transaction_read_only": "default_transaction_read_only",
    "in_hot_standby": "in_hot_standby",
    "integer_datetimes": "integer_datetimes",
    "intervalstyle": "IntervalStyle",
    "is_superuser": "is_superuser",
    "search_path": "search_path",
    "server_encoding": "server_encoding",
    "server_version": "server_version",
    "session_authorization": "session_authorization",
    "standard_conforming_strings": "standard_conforming_strings",
    "timezone": "TimeZone",
}
"""What clients are told of without asking, and how it is spelled then."""
LOUDNESS = (
    "debug5",
    "debug4",
    "debug3",
    "debug2",
    "debug1",
    "debug",
    "log",
    "info",
    "notice",
    "warning",
    "error",
)
LONGEST = 256


class Variables:
    """The variables of one session."""

    def __init__(self, user: str, given: Mapping[str, str]) -> None:
        self._fixed = {**FIXED, "session_authorization": user}
        self._values = dict(CHANGEABLE)
        for name, value in given.items():
            if name.lower() in (
                "application_name",
                "datestyle",
                "timezone",
                "extra_float_digits",
                "search_path",
            ):
                try:
                    self.set(name.lower(), value)
                except StatementError:  # a client that asks for what is not offered gets the default
                    continue

    def show(self, name: str) -> str:
        """The value of a variable."""
        found = self._fixed.get(name.lower(), self._values.get(name.lower()))
        if found is None:
            raise StatementError(
                NO_SETTING,
                "gate.unrecognized-configuration-parameter",
                "unrecognized configuration parameter",
            )
        return found

    def set(self, name: str, value: str | None) -> tuple[str, str] | None:
        """Change a variable, None for its default; returns what the client is to be told of it."""
        name = name.lower()
        if name == "all" and value is None:
            self._values = dict(CHANGEABLE)
            return None
        if name in self._fixed:
            if name.endswith("read_only") or (value or "").lower() in (self._fixed[name], ""):
                return None
            raise StatementError(
                NOT_ALLOWED, "gate.parameter-cannot-changed", "this parameter cannot be changed"
            )
        if name not in CHANGEABLE:
            raise StatementError(
                NO_SETTING,
                "gate.unrecognized-configuration-parameter",
                "unrecognized configuration parameter",
            )
        self._values[name] = CHANGEABLE[name] if value is None else _checked(name, value)
        return (REPORTED[name], self._values[name]) if name in REPORTED else None

    def reported(self) -> Iterator[tuple[str, str]]:
        """What the client is told at the beginning."""
        for name, spelled in REPORTED.items():
            yield spelled, self.show(name)

    def all(self) -> list[tuple[str, str]]:
        """Everything, by name."""
        return sorted({**self._values, **self._fixed}.items())

    @property
    def hears_notices(self) -> bool:
        """Whether the client wants to be told more than errors."""
        level = self._values["client_min_messages"].lower()
        return level in LOUDNESS and LOUDNESS.index(level) <= LOUDNESS.index("notice")


def _checked(name: str, value: str) -> str:
    if len(value) > LONGEST or any(not letter.isprintable() for letter in value):
        raise StatementError("22023", "gate.invalid-value-parameter", "invalid value for parameter")
    if name == "client_encoding":
        if value.upper().replace("-", "") not in ("UTF8", "UNICODE"):
            raise StatementError("22023", "gate.gate-speaks-utf8", "the gate speaks UTF8 only")
        return "UTF8"
    if name == "datestyle":
        if not value.upper().startswith("ISO"):
            raise StatementError("22023", "gate.gate-writes-dates-iso", "the gate writes dates as ISO does")
        return CHANGEABLE[name]
    if name == "intervalstyle":
        return CHANGEABLE[name]
    return value
