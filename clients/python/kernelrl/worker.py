"""The process in which a component in Python runs. kernelrl starts it and asks it; nobody else does.

Messages in both directions are a length of 32 bits in the machine's byte order, and as many bytes of JSON. The first one
names the file and the component in it; each later one is a call, whose answer holds its value or an error.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import enum
import functools
import importlib.util
import inspect
import json
import math
import os
import select
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, BinaryIO

from kernelrl.components import Candidate, Document, Example, Item, Loss, Message, Optimizer, Pair, Sample, SampleRequest, Turn
from kernelrl.errors import Unavailable
from kernelrl.evaluation import Evaluation, Json, Record, Task

INVALID_ARGUMENT, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = 3, 12, 13, 14  # codes of abi.h


class Refusal(Exception):
    """The file does not hold what the plan says."""


# ---- the component ---------------------------------------------------------------------------------------------------


def load(path: str) -> ModuleType:
    """Imports the user's file; its folder comes first where it looks for modules."""
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.stdlib_module_names or name == "kernelrl":
        raise Refusal(f"file: a module called '{name}' would hide Python's own or kernelrl's: rename the file")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Refusal(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def chosen(module: ModuleType, name: str, calls: tuple[str, ...]) -> Any:
    """The function or class of a file that is the component: the named one, or the only one that can be."""
    public = {key: value for key, value in vars(module).items() if not key.startswith("_") and callable(value)}
    own = {key: value for key, value in public.items() if getattr(value, "__module__", None) == module.__name__}
    if name:
        if name in public:
            return public[name]
        raise Refusal(f"object: the file has no function or class '{name}'; it has {listed(own)}")
    classes = {key: value for key, value in own.items() if inspect.isclass(value) and any(hasattr(value, c) for c in calls)}
    classes = {key: value for key, value in classes.items() if not issubclass(value, (tuple, enum.Enum))}
    functions = {key: value for key, value in own.items() if inspect.isfunction(value)}
    for among in ({key: value for key, value in functions.items() if key in calls}, classes, functions):
        if len(among) == 1:
            return next(iter(among.values()))
    raise Refusal(f"set `object`: the file has {listed(classes or functions)}")


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "neither a function nor a class with the methods of its kind"


def instance(component: Any, arguments: int, options: Mapping[str, Any]) -> Any:
    """A class is constructed with the options; a function gets them with each call, after its arguments."""
    is_class = inspect.isclass(component)
    try:
        inspect.signature(component).bind(*([] if is_class else [None] * arguments), **options)
    except TypeError as error:
        name = getattr(component, "__name__", "the object")
        raise Refusal(f"options: {name}: {error}") from None
    return component(**options) if is_class else functools.partial(component, **options)


def method(component: Any, name: str) -> Callable[..., Any]:
    """A method of a class; a function stands for the only one that its kind needs."""
    if isinstance(component, functools.partial):
        return component
    found = getattr(component, name, None)
    if found is None:
        raise NotImplementedError(f"{type(component).__name__} has no {name}()")
    return found  # type: ignore[no-any-return]


class Reward:
    calls, arguments = ("score", "score_all"), 1

    def __init__(self, component: Any) -> None:
        self._component = component

    def describe(self) -> Json:
        return {}

    def score(self, turns: list[Json]) -> list[float]:
        values = [Turn.from_json(turn) for turn in turns]
        if hasattr(self._component, "score_all"):
            scores = [float(score) for score in self._component.score_all(values)]
        else:
            score = method(self._component, "score")
            scores = [float(score(turn)) for turn in values]
        for turn, value in zip(values, scores):
            if not math.isfinite(value):
                raise ArithmeticError(f"it gave {value} for a turn of task '{turn.task.id}'; scores must be finite")
        return scores


class Dataset:
    calls, arguments = ("__getitem__", "__iter__", "items"), 0

    def __init__(self, component: Any) -> None:
        items = component() if callable(component) else component
        self._items = items if hasattr(items, "__getitem__") and hasattr(items, "__len__") else list(items)

    def describe(self) -> Json:
        return {"size": len(self._items)}

    def read(self, index: int) -> str:
        return json.dumps(plain(item_json(self._items[index])))  # a text, in which axes keep their order


def item_json(item: Item) -> Json:
    if isinstance(item, Pair):
        return {"pair": {**dataclasses.asdict(item), "earlier": list(item.earlier)}}
    if isinstance(item, Document):
        return {"document": dataclasses.asdict(item)}
    if isinstance(item, dict):
        return {"task": item}
    raise TypeError(f"an item is a dict as in a task file, a Pair or a Document, not {type(item).__name__}")


class Backend:
    calls, arguments = ("evaluate",), 1

    def __init__(self, component: Any) -> None:
        self._component = component

    def describe(self) -> Json:
        return {
            "signals": list(getattr(self._component, "signals", ("compile", "correctness"))),
            "toolchain": getattr(self._component, "toolchain", ""),
            "device": getattr(self._component, "device", ""),
        }

    def prepare(self, task: Json) -> None:
        if hasattr(self._component, "prepare"):
            self._component.prepare(Task.from_json(task))

    def evaluate(self, candidate: Json) -> Json:
        result = method(self._component, "evaluate")(Candidate.from_json(candidate))
        if not isinstance(result, (Evaluation, Mapping)):
            raise TypeError(f"evaluate() gives an Evaluation or a dict, not {type(result).__name__}")
        return dict(plain(result))


class Policy:
    calls, arguments = ("sample",), 1

    def __init__(self, component: Any) -> None:
        self._component = component

    def describe(self) -> Json:
        of = functools.partial(getattr, self._component)
        return {
            "trainable": hasattr(self._component, "forward_backward"),
            "has_tokens": hasattr(self._component, "tokenize"),
            "has_logprobs": hasattr(self._component, "logprobs"),
            "needs_corpus": hasattr(self._component, "fit"),
            "description": of("description", type(self._component).__name__),
            "context_tokens": of("context_tokens", 0),
            "vocabulary": of("vocabulary", 0),
            "version": of("version", 0),
        }

    def sample(self, requests: list[Json]) -> list[Json]:
        return [sample_json(s) for s in method(self._component, "sample")([SampleRequest.from_json(r) for r in requests])]

    def tokenize(self, messages: list[Json], answer: str) -> Json:
        return sample_json(method(self._component, "tokenize")([Message(**m) for m in messages], answer))

    def fit(self, texts: list[str], seed: int) -> None:
        method(self._component, "fit")(texts, seed)

    def logprobs(self, temperature: float, examples: list[Json]) -> list[list[float]]:
        of_each = method(self._component, "logprobs")(temperature, [Example(**e) for e in examples])
        return [[float(value) for value in of_one] for of_one in of_each]

    def forward_backward(self, loss: Json, examples: list[Json]) -> Json:
        return metrics(method(self._component, "forward_backward")(Loss(**loss), [Example(**e) for e in examples]))

    def optimizer_step(self, optimizer: Json) -> Json:
        return metrics(method(self._component, "optimizer_step")(Optimizer(**optimizer)))

    def save(self, directory: str) -> None:
        method(self._component, "save")(directory)

    def load(self, directory: str) -> None:
        method(self._component, "load")(directory)

    def export_weights(self, directory: str, format: str) -> None:
        method(self._component, "export_weights")(directory, format)


def metrics(result: Any) -> Json:
    return {name: float(value) for name, value in (result or {}).items()}


def sample_json(sample: Sample) -> Json:
    values = {f.name: getattr(sample, f.name) for f in dataclasses.fields(sample)}
    lists = {name: [kind(v) for v in values[name]] for name, kind in (("prompt_tokens", int), ("tokens", int), ("logprobs", float))}
    return {**values, **lists}


KINDS = {"reward": Reward, "dataset": Dataset, "backend": Backend, "policy": Policy}


# ---- messages --------------------------------------------------------------------------------------------------------


class Worker:
    """Answers one request after the other."""

    def __init__(self) -> None:
        self._component: Any = None
        self._file = ""

    def answer(self, request: Json) -> Json:
        try:
            name = request.pop("call")
            if name == "start":
                return {"value": self._start(**request)}
            return {"value": getattr(self._component, name)(**request), "description": self._component.describe()}
        except Exception as error:
            return {"error": {"code": code_of(error), "message": message_of(error, self._file)}}

    def _start(self, kind: str, file: str, object: str, options: Json) -> Json:
        self._file = file
        wrapper: Any = KINDS[kind]
        component = chosen(load(file), object, wrapper.calls)
        self._component = wrapper(instance(component, wrapper.arguments, options))
        return dict(self._component.describe())


def code_of(error: Exception) -> int:
    if isinstance(error, (Unavailable, ConnectionError)):
        return UNAVAILABLE
    if isinstance(error, (Refusal, ValueError, SyntaxError, ImportError)):
        return INVALID_ARGUMENT
    return UNIMPLEMENTED if isinstance(error, NotImplementedError) else INTERNAL


def message_of(error: Exception, file: str) -> str:
    """The error with its place in the user's file, and the lines that led there."""
    if isinstance(error, Refusal):
        return str(error)
    what = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, SyntaxError):
        return what
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == file), None)
    if first is None:
        return what
    own = frames[first:]
    place = next(frame for frame in reversed(own) if frame.filename == file)
    trace = "".join(traceback.format_list(own)).rstrip()
    return f"{place.filename}:{place.lineno}: in {place.name}: {what}\n{trace}"


def requests(stream: BinaryIO) -> Iterator[Json]:
    while header := stream.read(4):
        yield json.loads(stream.read(*struct.unpack("=I", header)))


def send(stream: BinaryIO, message: Json) -> None:
    body = json.dumps(plain(message), ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    stream.write(struct.pack("=I", len(body)) + body)
    stream.flush()


def plain(value: Any) -> Any:
    """A value as JSON has it. NaN becomes null, infinities texts, as kernelrl writes them; arrays become lists."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Record):
        return plain(value.to_json())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # NumPy's and PyTorch's
        return plain(value.tolist())
    if isinstance(value, (bytes, bytearray)):
        raise TypeError("bytes are no text: decode them")
    return [plain(item) for item in value]


def end_with(input_stream: BinaryIO) -> None:
    """Ends the process and its children, whatever they do, when kernelrl is gone."""
    gone = select.poll()
    gone.register(input_stream, 0)  # only the end of the other side is reported
    gone.poll()
    os.killpg(0, signal.SIGKILL)


def die_with_parent() -> None:
    """Has Linux end the process, even one that never comes back from C, with the thread that started it."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, int(signal.SIGKILL))


def main() -> None:
    ours_in, ours_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what the component prints goes to kernelrl's log
    os.dup2(2, 1)
    die_with_parent()
    threading.Thread(target=end_with, args=(ours_in,), daemon=True).start()
    worker = Worker()
    for request in requests(ours_in):
        answer = worker.answer(request)
        with contextlib.suppress(Exception):  # the component may have closed it
            sys.stdout.flush()
        try:
            send(ours_out, answer)
        except BrokenPipeError:
            return
        except Exception as error:
            send(ours_out, {"error": {"code": INTERNAL, "message": f"the result is no JSON: {type(error).__name__}: {error}"}})


if __name__ == "__main__":
    main()
