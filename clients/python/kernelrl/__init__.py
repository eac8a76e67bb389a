"""Verdicts on GPU kernels from a kernelrl server, reward functions made of them, and the folders of runs."""

from kernelrl.async_judge import AsyncJudge, Event, Request
from kernelrl.components import Candidate, Document, Example, Loss, Message, Optimizer, Pair, Sample, SampleRequest, Turn
from kernelrl.errors import DeadlinePassed, InfrastructureError, JudgeError, Refused, Unauthorized, Unavailable
from kernelrl.evaluation import Best, Case, Diagnostic, Evaluation, Info, Kernel, Task, Value
from kernelrl.judge import Judge
from kernelrl.run import Run, Table, read_run
from kernelrl.server import local

__all__ = [
    "AsyncJudge",
    "Best",
    "Candidate",
    "Case",
    "DeadlinePassed",
    "Diagnostic",
    "Document",
    "Evaluation",
    "Event",
    "Example",
    "Info",
    "InfrastructureError",
    "Judge",
    "JudgeError",
    "Kernel",
    "Loss",
    "Message",
    "Optimizer",
    "Pair",
    "Refused",
    "Request",
    "Run",
    "Sample",
    "SampleRequest",
    "Table",
    "Task",
    "Turn",
    "Unauthorized",
    "Unavailable",
    "Value",
    "local",
    "read_run",
]
