"""What goes in and out of the REST API."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from tarnkappe.service.people import Account, ServiceRole, Token

Name = Annotated[str, Field(min_length=1, max_length=64, examples=["ann"])]
Password = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1000,
        examples=["correct horse battery"],
        json_schema_extra={"format": "password"},
    ),
]
Roles = Annotated[list[ServiceRole], Field(examples=[["steward"]])]
Time = Annotated[float, Field(description="Seconds since 1970.", examples=[1_794_820_000.0])]


class Given(BaseModel):
    """What a client sends: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid")


class ErrorOut(BaseModel):
    """What is wrong, for people, and of what kind, for programs."""

    error: str = Field(examples=["the table has no column 'agee': did you mean 'age'?"])
    kind: str = Field(examples=["ColumnError"])
    code: str = Field("", description="What is wrong, for programs.", examples=["table.table-no-column"])
    args: dict[str, Any] = Field({}, description="What the sentence names.", examples=[{"name": "agee"}])


class Login(Given):
    """A name and a password."""

    name: Name
    password: Password


class SessionOut(BaseModel):
    """Who is logged in."""

    name: Name
    roles: Roles
    rights: list[str] = Field(examples=[["publish", "review", "federate"]])
    csrf: str | None = Field(
        None,
        description="To be shown as X-CSRF-Token with every change; a token needs none.",
        examples=["9f86d0..."],
    )


class PersonIn(Given):
    """Somebody new; without a password she logs in by a link."""

    name: Name
    roles: Roles
    password: Password | None = None


class PersonChange(Given):
    """What changes of somebody."""

    roles: Roles | None = None
    password: Password | None = None


class PersonOut(BaseModel):
    """Somebody who uses the service."""

    name: Name
    roles: Roles

    @classmethod
    def of(cls, person: Account) -> PersonOut:
        """What is told of a person."""
        return cls(name=person.name, roles=sorted(person.roles))


class InvitationIn(Given):
    """Somebody who chooses her password by herself."""

    name: Name
    roles: Roles


class PasswordIn(Given):
    """Another password for oneself; who has none yet shows no old one."""

    old: str = Field("", max_length=1000, json_schema_extra={"format": "password"})
    new: Password


class LinkOut(BaseModel):
    """A way in that works once."""

    path: str = Field(examples=["/login/link?secret=..."])


class TokenIn(Given):
    """A token for a program."""

    label: str = Field(max_length=100, examples=["nightly release"])
    roles: Roles | None = None
    days: float = Field(90.0, gt=0, le=366)


class TokenOut(BaseModel):
    """What is known of a token."""

    id: str = Field(examples=["1f3870be274f6c49"])
    label: str
    roles: Roles
    expires: Time

    @classmethod
    def of(cls, token: Token) -> TokenOut:
        """What is told of a token."""
        return cls(id=token.id, label=token.label, roles=sorted(token.roles), expires=token.expires)


class TokenMade(TokenOut):
    """A new token; its secret is told now and never again."""

    secret: str = Field(examples=["tarn_..."])


class FileOut(BaseModel):
    """An upload."""

    model_config = ConfigDict(from_attributes=True)

    id: str = Field(examples=["0f8fad5bd9cb469fa16570867728950e"])
    name: str = Field(examples=["patients.csv"])
    bytes: int = Field(examples=[39_173])
    sha256: str
    created: Time


class KeptOut(BaseModel):
    """One thing that is kept about an upload."""

    model_config = ConfigDict(from_attributes=True)

    what: str = Field(description="upload, draft, or the kind of a job", examples=["anonymize"])
    id: str
    bytes: int
    created: Time
    until: float | None = Field(
        None, description="When it is removed if nobody uses it, in seconds since 1970."
    )
    shows: str = Field(description="raw, internal, released or none", examples=["released"])


class Preview(Given):
    """A column and how it should generalize: a builder with its parameters, or nothing for a proposal."""

    column: str = Field(examples=["age"])
    hierarchy: dict[str, Any] = Field(
        default_factory=dict, examples=[{"builder": "intervals", "width": [5, 10]}]
    )


class ProposalIn(Given):
    """What you know better than it can be found; without anything, everything is proposed."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    audience: str = Field("partner", alias="for", description="internal, partner or public.")
    k: int | None = Field(None, ge=1, description="How many rows look alike at least.", examples=[5])
    identifiers: list[str] = Field(default_factory=list, examples=[["name"]])
    quasi_identifiers: list[str] = Field(default_factory=list, examples=[["age", "sex"]])
    sensitive: list[str] = Field(default_factory=list, examples=[["diagnosis"]])
    publish: list[str] = Field(default_factory=list, description="Released as they are.", examples=[[]])
    hierarchies: dict[str, dict[str, Any]] = Field(
        default_factory=dict, examples=[{"age": {"builder": "intervals", "width": [5, 10]}}]
    )
    weights: dict[str, float] = Field(default_factory=dict, examples=[{"age": 2.0}])
    accept: dict[str, list[str]] = Field(
        default_factory=dict, description="Detectors that are wrong about a column.", examples=[{}]
    )
    uniform: bool = Field(False, description="One level for a column, in all rows.")
    reading: dict[str, Any] = Field(
        default_factory=dict,
        description="How the file is written, if it was read wrongly: as keys of [input].",
        examples=[{"dates": "dmy"}],
    )


class JobIn(Given):
    """What is asked for."""

    kind: str = Field(examples=["anonymize"])
    document: dict[str, Any] = Field(description="A job file, in which tables are named by ids.")


class JobOut(BaseModel):
    """Where a job stands."""

    id: str = Field(examples=["7c9e6679742540de944be07fc1f90ae7"])
    kind: str = Field(examples=["anonymize"])
    state: str = Field(description="waiting, running, done, failed or cancelled", examples=["done"])
    created: Time
    started: float | None = None
    finished: float | None = None
    attempts: int = Field(description="How often it began: again if its process was killed.", examples=[1])
    exit_code: int | None = Field(None, description="0; 1 if a guarantee does not hold; 2 if it failed.")
    error: str = Field("", description="Why it failed, or why it began anew.")
    reason: dict[str, Any] | None = Field(None, description="The same with its code and arguments.")


class ResultOut(BaseModel):
    """What a job has found."""

    figures: dict[str, Any] = Field(description="As the command of the same name prints them with --json.")
    text: str = Field(description="The same in words.")
    exit_code: int
    files: dict[str, str] = Field(examples=[{"release": "release.parquet", "report": "report.html"}])


class DecisionIn(Given):
    """What somebody decides about a request."""

    accepts: bool
    reason: str = Field(min_length=1, max_length=10_000, examples=["the groups are large enough"])


class Signed(Given):
    """A decision and the signature of who decides."""

    content: dict[str, Any]
    signature: str = Field(max_length=10_000)


class StateOut(BaseModel):
    """Where something stands now."""

    state: str = Field(examples=["answered"])


class LogOut(BaseModel):
    """An audit log, whole and verified."""

    number: int
    head: str
    entries: list[dict[str, Any]]
