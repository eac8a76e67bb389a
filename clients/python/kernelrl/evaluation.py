"""An evaluation: what a judge found out about a kernel. Figures that nobody measured are None.

Fields that a newer server sends and this version does not know are kept in `extra`.
"""

from __future__ import annotations

import dataclasses
import functools
import json as json_text
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

Json = dict[str, Any]
T = TypeVar("T", bound="Record")


@dataclass(frozen=True, kw_only=True)
class Record:
    """A JSON object with known fields."""

    extra: Json = field(default_factory=dict, repr=False)

    @classmethod
    def from_json(cls: type[T], json: Mapping[str, Any]) -> T:
        readers = _readers(cast(Any, cls))
        known: Json = {}
        extra: Json = {}
        for name, value in json.items():
            if read := readers.get(name):
                known[name] = read(value)
            else:
                extra[name] = value
        return cls(**known, extra=extra)

    def to_json(self) -> Json:
        """The fields that are known, under the names that kernelrl reads."""
        json: Json = {}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if f.name == "extra" or value is None:
                continue
            json[f.name] = [row.to_json() if isinstance(row, Record) else row for row in value] if isinstance(value, list) else value
        return json


@functools.cache
def _readers(cls: type[Record]) -> dict[str, Callable[[Any], Any]]:
    """For each field a function that reads its value in JSON."""
    by_type = {"int | None": _count, "float": _number, "float | None": _number}
    return {f.name: by_type.get(str(f.type), _same) for f in dataclasses.fields(cls) if f.name != "extra"}


def _same(value: Any) -> Any:
    return value


def _count(value: Any) -> Any:
    return None if value == -1 else value  # kernelrl writes counts that nobody knows as -1


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) else value  # and infinities as texts, which JSON has no numbers for


@dataclass(frozen=True, kw_only=True)
class Diagnostic(Record):
    """A message of the compiler, or of the emulated GPU."""

    severity: int = 2  # 0: a note, 1: a warning, 2: an error
    line: int = 0  # in the candidate's source, from 1; 0 where it is unknown
    column: int = 0
    code: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Kernel(Record):
    """A compiled kernel."""

    name: str = ""
    arch: str = ""
    registers: int | None = None  # per thread
    spill_bytes: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None  # per block
    max_threads: int | None = None
    blocks_per_sm: int | None = None
    occupancy: float | None = None  # theoretical, 0 to 1
    occupancy_limiter: str = ""


@dataclass(frozen=True, kw_only=True)
class Case(Record):
    """A shape on which the kernel ran."""

    label: str = ""
    verdict: str = ""
    kind: str = ""  # "shown", "real", "fresh" or "holdout"
    estimated: bool = False  # the times come from a model, not from a clock
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    speedup: float | None = None  # over the naive kernel: the median, then the ends of its 95 % interval
    speedup_low: float | None = None
    speedup_high: float | None = None
    time_ns: float | None = None
    baseline_ns: float | None = None
    samples_ns: list[float] = field(default_factory=list, repr=False)
    baseline_samples_ns: list[float] = field(default_factory=list, repr=False)
    detail: str = ""  # the first wrong elements, or the fault


@dataclass(frozen=True, kw_only=True)
class Value(Record):
    """A figure by name, such as "dram_bytes"; docs/values.md lists them. `case` is -1 for the code as a whole."""

    case: int = -1
    name: str = ""
    unit: str = ""
    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Evaluation(Record):
    """A verdict with all its figures. The last group of fields is known only for answers of a server."""

    verdict: str  # "ok", "compile_error", "wrong_result", …
    why: str = ""  # the reason of a verdict that is not ok, in a line
    contract: str = "device"
    backend: str = ""
    toolchain: str = ""
    device: str = ""
    compile_log: str = field(default="", repr=False)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    values: list[Value] = field(default_factory=list, repr=False)

    id: str = ""
    task: str = ""
    digest: str = ""  # names the task's definition in later requests
    headline: str = ""  # "ok: 2.1 x the naive kernel"
    feedback: str = field(default="", repr=False)  # what a training prompt shows of it
    kept: bool | None = None  # the server knew the result
    queued_ms: float | None = None
    judged_ms: float | None = None

    @classmethod
    def from_json(cls: type[Evaluation], json: Mapping[str, Any]) -> Evaluation:
        """Reads the JSON of an evaluation, or a server's answer with one in it."""
        fields = {**json, **json.get("evaluation", {})}
        fields.pop("evaluation", None)
        for name, kind in _ROWS.items():
            fields[name] = [kind.from_json(row) for row in fields.get(name, [])]
        return super().from_json(fields)

    @property
    def ok(self) -> bool:
        return self.verdict == "ok"

    @property
    def compiled(self) -> bool:
        return self.verdict not in ("format_error", "rejected", "compile_error")

    @property
    def speedup(self) -> float | None:
        """The geometric mean over the timed shown cases of the lower end of the interval: noise earns nothing."""
        lows = [c.speedup_low for c in self.cases if c.kind == "shown" and c.speedup_low is not None]
        timed = [low for low in lows if math.isfinite(low)]
        return math.prod(timed) ** (1 / len(timed)) if timed else None

    @property
    def pass_rate(self) -> float:
        """The share of the cases, hold-outs aside, that passed; 0 where none ran."""
        verdicts = [c.verdict for c in self.cases if c.kind != "holdout"]
        return verdicts.count("ok") / len(verdicts) if verdicts else 0.0

    def value(self, name: str) -> float | None:
        """The mean over the cases of the value of this name, or that of the code as a whole."""
        found = [v.value for v in self.values if v.name == name]
        return math.fsum(found) / len(found) if found else None


_ROWS: dict[str, type[Record]] = {"diagnostics": Diagnostic, "kernels": Kernel, "cases": Case, "values": Value}


@dataclass(frozen=True, kw_only=True)
class Task(Record):
    """A task. A list of a server's tasks has only the first three fields."""

    id: str
    title: str = ""
    tier: int | None = None
    prompt: str | None = None  # the text that training prompts show
    naive: str | None = None  # the source that speedups are measured against
    signature: str | None = None
    definition_json: str | None = field(default=None, repr=False)  # in components alone

    @functools.cached_property
    def definition(self) -> Json:
        """The whole task as in a task file: axes, input, output, reference, naive, cases, …"""
        return dict(json_text.loads(self.definition_json or "{}"))


@dataclass(frozen=True)
class Best:
    """The fastest right kernel that a server has judged for a task."""

    task: str
    source: str
    evaluation: Evaluation


@dataclass(frozen=True, kw_only=True)
class Info(Record):
    """A server. Verdicts and times of two servers are comparable if their `identity` is the same."""

    version: str = ""
    backend: str = ""
    device: str = ""
    toolchain: str = ""
    identity: str = ""
    concurrency: int | None = None
    waiting: int | None = None  # kernels in the queue
    real_sizes: bool | None = None  # kernels are also timed at realistic sizes
