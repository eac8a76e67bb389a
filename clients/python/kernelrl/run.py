"""Reads the folder of a run, also while it is being written."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Table(list[Json]):
    """Rows by column. Rows may lack columns: a metric that an iteration did not measure is absent."""

    def to_arrow(self) -> Any:
        """A pyarrow.Table, with nulls for absent values."""
        import pyarrow

        names = dict.fromkeys(name for row in self for name in row)
        return pyarrow.table({name: [row.get(name) for row in self] for name in names})

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, with NaN for absent values."""
        import pandas

        return pandas.DataFrame(self)


class Run:
    """A run's folder, as docs/run.md describes it. Each part is read when it is first asked for."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not (self.folder / "run.json").exists():
            raise FileNotFoundError(f"{self.folder} is not the folder of a run: it has no run.json")

    @cached_property
    def status(self) -> Json:
        """Its state, stage and number of finished iterations."""
        status: Json = json.loads((self.folder / "status.json").read_text())
        return status

    @cached_property
    def metrics(self) -> Table:
        """A row for each iteration."""
        return Table(row for file in self.folder.glob("metrics.jsonl") for _, row in _lines(file))

    @cached_property
    def samples(self) -> Table:
        """A row for each answer in samples/: prompt, answer, verdict, score, …"""
        return Table(
            {"iteration": int(file.stem.rpartition("_")[2])} | row
            for file in sorted((self.folder / "samples").glob("iteration_*.jsonl"))
            for _, row in _lines(file)
            if "left_out" not in row
        )

    @cached_property
    def ledger(self) -> Table:
        """A row for each evaluation: iteration, key, task, verdict, speedup, and `evaluation` with all the rest.
        Lines that are not whole are left out; checksums are not compared."""
        return Table(
            {"iteration": int(iteration), "key": key} | row
            for file in sorted((self.folder / "ledger").glob("*.log"))
            for (_, iteration, key), row in _lines(file, words=3)
            if key != "resumed"  # marks where a process went on
        )

    @cached_property
    def best(self) -> Table:
        """A row for each task that has a right kernel: iteration, speedup, source, evaluation."""
        files = sorted((self.folder / "best").glob("*.json"))
        return Table(json.loads(file.read_text(), object_hook=_numbers) for file in files)


def read_run(folder: str | Path) -> Run:
    """Opens the folder of a run: `read_run("runs/quickstart").metrics.to_pandas()`."""
    return Run(folder)


def _lines(file: Path, words: int = 0) -> Iterator[tuple[list[str], Json]]:
    """The lines of a file: some words, then a JSON object. Those that are not whole are left out."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            parts = line.split(" ", words) if words else [line]
            with contextlib.suppress(ValueError):
                yield parts[:-1], json.loads(parts[-1], object_hook=_numbers)


def _numbers(row: Json) -> Json:
    """JSON has no infinities: kernelrl writes them as texts."""
    return {
        name: {"inf": math.inf, "-inf": -math.inf}.get(v, v) if isinstance(v, str) else v for name, v in row.items()
    }
