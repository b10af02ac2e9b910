"""Settings are checked before anything starts."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.service.settings import Limits, ServiceSettings


def test_the_settings_of_the_how_to_are_read() -> None:
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "service.md").read_text(encoding="utf-8")
    block = text.partition("```toml\n")[2].partition("```")[0]
    found = ServiceSettings.from_dict(tomllib.loads(block), Path("/etc/tarnkappe"))
    assert found.folder == Path("/var/lib/tarnkappe")
    assert found.certificate == Path("/etc/tarnkappe/tls/chain.pem")
    assert found.gates == {"clinic": Path("/etc/tarnkappe/gate.toml")}
    assert found.secure
    assert found.limits.jobs_at_once == 3


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"servise": {}}, "did you mean 'service'"),
        ({"service": {"prot": 1}}, "did you mean 'port'"),
        ({"service": {"port": "8080"}}, "port: a whole number is needed"),
        ({"service": {"port": True}}, "port: a whole number is needed"),
        ({"service": 5}, "service: a table is needed, not 5"),
        ({"limits": {"job_second": 1}}, "did you mean 'job_seconds'"),
        ({"limits": {"job_seconds": -1}}, "job_seconds: a number above 0 is needed"),
        ({"limits": {"job_memory": "8GB"}}, "job_memory: a whole number is needed"),
        ({"databases": {"clinic": "clinic.db"}}, "no address"),
        ({"service": {"host": "0.0.0.0"}}, "would read passwords"),
        ({"service": {"certificate": "x.pem"}}, "belong together"),
    ],
)
def test_wrong_settings_are_refused_with_what_to_do(content: dict[str, object], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        ServiceSettings.from_dict(content)


def test_by_default_nobody_else_reaches_the_service() -> None:
    settings = ServiceSettings()
    assert settings.host == "127.0.0.1"
    assert not settings.databases
    assert Limits().jobs_at_once >= 2, "one place stays free for others"


def test_every_relative_place_is_resolved_once_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the defaults, of flags and of a settings file: where the service is later does not matter."""
    said = {
        "folder": "house",
        "certificate": "chain.pem",
        "key": "key.pem",
        "database": "sqlite:///state/service.db",
    }
    parts = {name: {"a": "a.toml"} for name in ("gates", "sites", "federations")}
    databases = {
        "clinic": "sqlite:///clinic.db",
        "ward": "duckdb:///ward.duckdb",
        "far": "postgresql://reader@db/clinic",
    }
    (tmp_path / "start").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "start")
    here = Path.cwd()
    flags = ServiceSettings(
        folder=Path("house"),
        certificate=Path("chain.pem"),
        key=Path("key.pem"),
        database=said["database"],
        databases=databases,
        **{name: {"a": Path("a.toml")} for name in parts},
    )
    from_file = ServiceSettings.from_dict({"service": said, "databases": databases, **parts}, Path("etc"))
    default = ServiceSettings()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert default.folder == here / "tarnkappe-service"
    for found, place in ((flags, here), (from_file, here / "etc")):
        assert found.folder == place / "house"
        assert (found.certificate, found.key) == (place / "chain.pem", place / "key.pem")
        assert found.store == f"sqlite:///{place}/state/service.db"
        assert found.databases["clinic"] == f"sqlite:///{place}/clinic.db"
        assert found.databases["ward"] == f"duckdb:///{place}/ward.duckdb"
        assert found.databases["far"] == databases["far"]
        for files in (found.gates, found.sites, found.federations):
            assert files == {"a": place / "a.toml"}
