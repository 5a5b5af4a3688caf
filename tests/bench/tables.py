"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tests.bench.ratios import PHASES

GROWING: Final = ("total", "compute", *PHASES)


def rendered(content: Mapping[str, Any], title: str = "# Benchmark") -> str:
    """All that was measured by one command, below a title of any level, with its notes."""
    level = title.partition(" ")[0] + "#"
    parts = [title, _machine(content)]
    for name, (heading, table) in SECTIONS.items():
        if content.get(name):
            parts.append(f"{level} {heading}\n\n{table(content[name])}")
    notes = [f"{level} Notes", content["notes"]] if content.get("notes") else []
    return "\n\n".join([*parts, *notes]) + "\n"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value).replace("|", "\\|")


def _machine(content: Mapping[str, Any]) -> str:
    machine = content["machine"]
    memory = f"{machine['memory_mb'] / 1024:.0f} GB"
    compiled = content.get("wordnet_seconds", {})
    spent = (
        f"To compile WordNet and the lists takes {sum(compiled.values()):.1f} s of"
        if compiled
        else ""
    )
    return (
        f"{machine['cores']} cores ({machine['cpu']}), {memory}, Python {machine['python']}, "
        f"commit {machine['commit']}, {machine['date'][:10]}:\n\n    {content['command']}\n\n"
        f"{spent or 'WordNet is ready in'} a cold run. Memory is the "
        "greatest sum of resident sets of the process and its children, every 50 ms."
    )


def _runs(runs: Sequence[Mapping[str, Any]]) -> str:
    header = ("queries", "scope", "run", *PHASES, "total s", "wall s", "peak MB", "store MB")
    rows = (
        (
            *(run[name] for name in ("size", "scope", "kind")),
            *(run["seconds"][name] for name in (*PHASES, "total")),
            *(run[name] for name in ("wall_seconds", "peak_memory_mb", "store_mb")),
        )
        for run in runs
    )
    return markdown_table(header, rows)


def _growth(by_scope: Mapping[str, Any]) -> str:
    """Factor and exponent of each phase, without WordNet's compilation."""
    header = ("scope", "queries", *GROWING, "limit")
    rows = [
        (
            scope,
            f"{step['from']:,} → {step['to']:,}",
            *(_factor(step["phases"][name]) for name in GROWING),
            f"{step['limit']:.3g}×",
        )
        for scope, found in by_scope.items()
        for step in found["cold_less_wordnet"]
    ]
    return markdown_table(header, rows) if rows else "One size only."


def _factor(found: Mapping[str, float | None]) -> str | None:
    if found["factor"] is None:
        return None
    return f"{found['factor']:.3g}× ({found['exponent']:.2f})"


COLD: Final = {"on a fresh store": "ratios", "less WordNet": "ratios_less_wordnet"}


def _batch(batches: Sequence[Mapping[str, Any]]) -> str:
    names = ("attributes_pairs", "records_pairs", "analyse_and_compare", "total")
    shown = (name.replace("_", " ") for name in names)
    header = ("queries", "scope", "the cold run", *shown, "same bytes")
    rows = (
        (
            *(batch[name] for name in ("size", "scope")),
            cold,
            *(batch[ratios][name] for name in names),
            batch["same_bytes"],
        )
        for batch in batches
        for cold, ratios in COLD.items()
    )
    return markdown_table(header, rows)


def _workers(found: Sequence[Mapping[str, Any]]) -> str:
    header = ("queries", "scope", "analyse", "cluster", "both", "total", "same bytes")
    rows = (
        (
            *(each[name] for name in ("size", "scope")),
            *(each["ratios"][name] for name in ("analyse", "cluster", "together")),
            *(each[name] for name in ("total", "same_bytes")),
        )
        for each in found
    )
    return markdown_table(header, rows)


def _dask(found: Sequence[Mapping[str, Any]]) -> str:
    times = ("analyse", "cluster", "wall", "CPU")
    header = ("queries", "scope", *times, "peak MB of a worker", "same bytes")
    rows = (
        (
            *(each[name] for name in ("size", "scope")),
            *(each["phases"][name] for name in ("analyse", "cluster")),
            *(each[name] for name in ("wall", "cpu", "worker_peak_mb", "same_bytes")),
        )
        for each in found
    )
    return markdown_table(header, rows)


def _nltk(found: Mapping[str, Any]) -> str:
    header = ("step", "pairs", "ours s", "theirs s", "ratio", "equal")
    return markdown_table(header, [*_attribute_rows(found["attributes"]), *_record_rows(found)])


def _attribute_rows(found: Mapping[str, Any]) -> Iterator[Sequence[object]]:
    for loop in ("straight_pair_loop", "loop_with_cached_ancestors"):
        other = found[loop]
        step = f"{found['concepts']:,} concepts; {other['what']}"
        times = found["our_seconds"], other["seconds"], other["ratio"]
        yield step, found["pairs"], *times, found["equal"]


def _record_rows(found: Mapping[str, Any]) -> Iterator[Sequence[object]]:
    for kind in ("records", "records_of_different_sets"):
        each = found[kind]
        step = f"{each['records']:,} records of {each['distinct_sets']:,} sets; Python sets"
        times = each["our_seconds"], each["python_set_loop_seconds"], each["ratio"]
        yield step, each["pairs"], *times, each["equal"]


def _peers(peers: Sequence[Mapping[str, Any]]) -> str:
    header = ("peer", "step", "ours s", "theirs s", "ratio", "remark")
    names = ("peer", "step", "our_seconds", "peer_seconds", "ratio", "remark")
    return markdown_table(header, ([peer.get(name) for name in names] for peer in peers))


def _sample(found: Mapping[str, Any]) -> str:
    names = {
        "`--bare`": "bare_seconds",
        "under Prefect": "prefect_seconds",
        "an empty Prefect flow": "empty_flow_seconds",
        "difference of the two": "prefect_less_empty_flow_seconds",
    }
    rows = ((shown, found[name]) for shown, name in names.items())
    return markdown_table(("the shipped sample, warm store", "wall s"), rows)


def _limits(limits: Sequence[Mapping[str, Any]]) -> str:
    header = ("what", "measured", "limit", "holds")
    rows = ((each["what"], each["value"], each["limit"], each["holds"]) for each in limits)
    return markdown_table(header, rows)


def _failures(failures: Sequence[Mapping[str, Any]]) -> str:
    rows = ((each["step"], each["message"].replace("\n", " ")) for each in failures)
    return markdown_table(("step", "what happened"), rows)


SECTIONS: Final[Mapping[str, tuple[str, Callable[[Any], str]]]] = {
    "runs": ("Runs: seconds per phase", _runs),
    "growth": ("Growth of cold runs, less WordNet: factor (exponent)", _growth),
    "batch": ("A batch of 5 %, as part of the cold run of the whole", _batch),
    "workers": ("Two workers, as part of one worker's time", _workers),
    "dask": ("Dask on one machine, as part of the plain run's time under Prefect", _dask),
    "nltk": ("Against straight implementations", _nltk),
    "peers": ("Peers", _peers),
    "sample": ("Start-up", _sample),
    "limits": ("Limits", _limits),
    "failures": ("Failures", _failures),
}
