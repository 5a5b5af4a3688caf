"""What a run may ask for beside what its deployment has in the operator's file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from deployments.deployed import STRONGEST_FIRST, Deployed, faults_of, form_of, settings_of
from tasks.errors import UsageError
from tasks.settings import Settings

FREE = {"k", "l", "guarantee", "logs", "out"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a deployment, with logs that may be read and one that may not."""
    for name in ("logs/one.tsv", "logs/sub/two.tsv", "private/three.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("user\tquery\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def deployed(flow: str = "anonymise", **parameters: Any) -> Deployed:
    return Deployed(Path("prefect.yaml"), "mine", f"flows.anonymise.{flow}", parameters)


@pytest.fixture
def adhoc(place: Path) -> Deployed:
    return deployed(settings={"logs": ["logs"], "out": "released", "k": 7, "guarantee": "terms"})


@pytest.fixture
def inbox(place: Path) -> Deployed:
    settings = {"out": "published", "store": "store"}
    return deployed("anonymise_inbox", inbox="incoming", settings=settings)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"k": 8},
        {"k": 7, "l": 2},
        {"guarantee": "strict"},
        {"logs": ["logs/one.tsv", "logs/sub"], "out": "released/one"},
        {"logs": ["logs/../logs/sub/two.tsv"]},
    ],
)
def test_a_run_gets_what_it_says_and_else_what_the_file_says(
    adhoc: Deployed, asked: dict[str, Any]
) -> None:
    settings = adhoc.parameters_for({"settings": asked})["settings"]
    assert settings == settings_of({**adhoc.parameters["settings"], **asked})


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"k": 6}, "k must be at least 7, not 6"),
        ({"guarantee": "paper"}, "guarantee must be terms or stronger, not paper"),
        ({"logs": ["private/three.tsv"]}, "logs must lie in logs, not private/three.tsv"),
        ({"logs": ["logs", "logs/../private"]}, "logs must lie in logs, not logs/../private"),
        ({"logs": ["logs/link.tsv"]}, "logs must lie in logs"),
        ({"logs": ["logs/*"]}, "logs must lie in logs"),
        ({"logs": ["logs/missing.tsv"]}, "logs must lie in logs"),
        ({"logs": ["file:///etc/passwd"]}, "logs must lie in logs"),
        ({"logs": ["-"]}, "logs must lie in logs"),
        ({"out": "released/../elsewhere"}, "out must lie in released"),
        ({"out": "released-too"}, "out must lie in released"),
        ({"out": "/"}, "must be apart"),
        ({"store": "elsewhere"}, "store must be"),
        ({"columns": {"user": "query"}}, "columns must be {}"),
        ({"runner": "dask", "dask_address": "tcp://evil:1"}, "dask_address must be None"),
        ({"spacy_model": "theirs"}, "spacy_model must be None"),
        ({"hidden": 1}, "no such setting: hidden"),
        ({"k": "many"}, "k: "),
        ({"k": 1}, "k must be at least 2"),
    ],
)
def test_what_the_file_does_not_allow_is_refused(
    adhoc: Deployed, place: Path, asked: dict[str, Any], complaint: str
) -> None:
    (place / "logs" / "link.tsv").symlink_to(place / "private" / "three.tsv")
    with pytest.raises(UsageError) as refused:
        adhoc.parameters_for({"settings": asked})
    assert complaint in str(refused.value)


def test_all_faults_come_at_once(adhoc: Deployed) -> None:
    with pytest.raises(UsageError) as refused:
        adhoc.parameters_for({"settings": {"k": 2, "out": "/tmp/x"}, "other": 1})
    assert str(refused.value).splitlines() == [
        "refused: other must be as in the file, not 1",
        "k must be at least 7, not 2",
        "out must lie in released, not /tmp/x",
        "deployment mine of prefect.yaml decides",
    ]


@pytest.mark.parametrize("settings", ["k: 2", ["k"], 3])
def test_settings_that_are_none_are_refused(adhoc: Deployed, settings: Any) -> None:
    with pytest.raises(UsageError, match="names with values"):
        adhoc.parameters_for({"settings": settings})


@pytest.mark.parametrize(
    "asked",
    [
        {"inbox": "private"},
        {"edition": "new"},
        {"settle": 0},
        {"settings": {"out": "published/deeper"}},
        {"settings": {"logs": ["private"]}},
        {"settings": {"guarantee": "terms"}},
        {"settings": {"k": 4}},
    ],
)
def test_an_inbox_keeps_its_folders(inbox: Deployed, asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^refused: "):
        inbox.parameters_for(asked)


def test_a_run_may_say_what_holds_anyway(inbox: Deployed) -> None:
    asked = {"inbox": "incoming", "edition": "append", "settle": 2}
    got = inbox.parameters_for({**asked, "settings": {"k": 9}})
    assert got["inbox"] == "incoming"
    assert (got["settings"].k, got["settings"].out) == (9, "published")


def test_whatever_setting_there_is_stays_as_in_the_file_unless_it_is_named_here() -> None:
    """A new setting is closed until somebody has thought about it."""
    own = Settings()
    for name in (each.name for each in fields(Settings) if each.name not in FREE):
        wanted = Settings()
        object.__setattr__(wanted, name, object())
        assert any(fault.startswith(name) for fault in faults_of(wanted, own, has_inbox=False))


def test_the_strongest_guarantee_is_named_first() -> None:
    assert STRONGEST_FIRST == ("strict", "terms", "paper")


def test_the_form_asks_for_what_a_run_may_ask_for(adhoc: Deployed, inbox: Deployed) -> None:
    """Its bounds are the file's; what it offers is not refused, what it does not offer is."""
    for each, free in ((adhoc, FREE), (inbox, FREE - {"logs", "out"})):
        asked = form_of(each)["properties"]["settings"]["properties"]
        assert set(asked) == free
        assert all(field["description"] and field["title"] for field in asked.values())
        least = {name: field["default"] for name, field in asked.items()}
        assert each.parameters_for({"settings": least})["settings"] == each.settings
    assert form_of(adhoc)["properties"]["settings"]["properties"]["k"]["minimum"] == 7
    offered = form_of(adhoc)["properties"]["settings"]["properties"]["guarantee"]["enum"]
    assert offered == ["strict", "terms"]
