import os

from kernelrl import Case, Diagnostic, Evaluation


class Brackets:
    """Refuses kernels whose brackets do not match."""

    signals = ("compile", "correctness")
    toolchain = "brackets 1.0"
    device = "none"

    def prepare(self, task):
        if task.definition["axes"] == ["forbidden"]:
            raise ValueError("this backend cannot judge it")

    def evaluate(self, candidate):
        if "exit" in candidate.source:
            os._exit(1)
        assert candidate.stages == ["compile", "check"] and candidate.seed == 7, candidate
        if candidate.source.count("(") != candidate.source.count(")"):
            why = "brackets do not match"
            return Evaluation(verdict="compile_error", why=why, diagnostics=[Diagnostic(line=1, text=why)])
        return {"verdict": "ok", "cases": [Case(label="n=1", verdict="ok", kind="shown", speedup=2.0).to_json()]}


def unknown_verdict(candidate):
    return Evaluation(verdict="splendid")


class Prepares:
    """Judges only what its process has prepared."""

    def __init__(self):
        self.tasks = set()

    def prepare(self, task):
        self.tasks.add(task.id)

    def evaluate(self, candidate):
        if candidate.source == "exit":
            os._exit(1)
        return Evaluation(verdict="ok" if candidate.task.id in self.tasks else "rejected")


class UnknownSignal(Brackets):
    signals = ("tiem",)
