"""The values that a component in Python gets and gives. docs/python_components.md shows a component of each kind.

A component is a function or a class in a file that a plan names: `use = "python"`. It runs in a process of its own. Of
exceptions, `kernelrl.Unavailable` means that the same call may work later, for instance because a server is away: kernelrl
repeats it, and then drops the turn without a score. Any other ends the run with its traceback; in a backend it costs the turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelrl.evaluation import Evaluation, Json, Task


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A turn of an episode, which a reward scores."""

    index: int  # 0 for the first of its episode
    task: Task
    prompt: str
    answer: str
    thinking: str  # parts of the answer, empty where it has none
    source: str
    format: str  # "exact", "tolerated", "missing" or "truncated": how the kernel stood in the answer
    stop: str  # "end", "length" or "aborted"
    tokens: list[int] = field(repr=False)
    logprobs: list[float] = field(repr=False)  # one for each token, or none
    evaluation: Evaluation
    previous: Turn | None

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Turn:
        previous = json["previous"]
        nested = {
            "task": Task.from_json(json["task"]),
            "evaluation": Evaluation.from_json(json["evaluation"]),
            "previous": cls.from_json(previous) if previous else None,
        }
        return cls(**{**json, **nested})


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A kernel that a backend evaluates."""

    task: Task
    source: str
    contract: str  # "device": kernels and launch directives; "host": with host code of its own
    stages: list[str]  # in this order up to the first failure: "compile", "check", "time", "counters", "holdout", "pool"
    seed: int  # all inputs follow from it

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Candidate:
        return cls(**{**json, "task": Task.from_json(json["task"])})


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A supervised example of a dataset: a task, as in a task file, and an answer to learn."""

    task: Mapping[str, Any]
    answer: str
    earlier: Sequence[str] = ()  # answers of the turns before it, oldest first
    shows: str = ""  # words for how its kernels work, separated by commas


@dataclass(frozen=True, kw_only=True)
class Document:
    """A text of a dataset for retrieval."""

    id: str
    text: str
    task_hint: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Message:
    role: str  # "system", "user" or "assistant"
    text: str


@dataclass(frozen=True, kw_only=True)
class SampleRequest:
    """A prompt of which a policy samples `n_samples` answers."""

    messages: list[Message]
    n_samples: int
    seed: int  # sample k draws from the stream (seed, k), whatever shares its batch
    max_tokens: int
    temperature: float  # 0: greedy
    top_p: float
    top_k: int  # -1: off
    stop: list[str]
    session: str  # the same for all requests of an episode

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> SampleRequest:
        return cls(**{**json, "messages": [Message(**each) for each in json["messages"]]})


@dataclass(frozen=True, kw_only=True)
class Sample:
    """An answer of a policy. One without tokens cannot be learned from."""

    text: str  # without the end token
    request: int = 0  # which of the call's requests, and which of its samples
    index: int = 0
    stop: str = "end"  # "end", "length" or "aborted"
    prompt_tokens: Sequence[int] = ()
    tokens: Sequence[int] = ()  # as sampled, the end token included
    logprobs: Sequence[float] = ()  # one for each token
    version: int = 0  # of the weights that sampled it


@dataclass(frozen=True, kw_only=True)
class Example:
    """A turn to learn from. The lists have an item for each of `tokens`, or none."""

    prompt_tokens: list[int]
    tokens: list[int]
    logprobs: list[float]  # when sampled
    advantages: list[float]
    weights: list[float]  # 0 masks a token; none: all are 1
    old_logprobs: list[float]  # under the weights at the start of the update
    reference_logprobs: list[float]
    version: int


@dataclass(frozen=True, kw_only=True)
class Loss:
    name: str  # "cross_entropy", "importance_sampling", "ppo", "gspo" or "cispo"
    aggregation: str  # "token_mean", "sequence_mean" or "token_sum"
    normaliser: float  # of the whole optimiser step
    temperature: float  # at which the examples were sampled
    parameters: dict[str, float]  # "clip_low", "clip_high", "kl", …
    last_of_step: bool


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """A step of AdamW."""

    lr: float
    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    grad_clip: float  # the largest global norm; 0: off


Item = Json | Pair | Document  # of a dataset; a dict is a task, as in a task file
