"""Solutions of definitions as answers that kernelrl can judge: what kernelrl wrote itself as device code, and torch
extensions in CUDA under the contract host (docs/nvcc.md).
"""
import re
import statistics

from left_out import LeftOut
from launcher import MARK

LIBRARIES = re.compile(r'#\s*include\s*[<"](cublas|cudnn|cutlass|cute/|cufft|curand|nccl|flashinfer|ATen/native)')


def answer_of(solution, problem):
    """(contract, source). problem: the DefinitionProblem. LeftOut says why there is none."""
    spec = solution["spec"]
    languages = spec.get("languages") or [spec.get("language")]
    files = {s["path"]: s["content"] for s in solution["sources"]}
    entry, _, function = spec["entry_point"].partition("::")
    if entry not in files:
        raise LeftOut(f"its entry file {entry} is not among its sources")
    if MARK in files[entry]:
        return "device", files[entry].partition(MARK)[0].rstrip() + "\n"
    if not {"cuda", "cuda_cpp"} & set(languages):
        raise LeftOut(f"it is written in {', '.join(map(str, languages))}, not in CUDA")
    binding = spec.get("binding") or ("torch" if "PYBIND11_MODULE" in "".join(files.values()) else "tvm-ffi")
    if binding != "torch":
        raise LeftOut(f"its binding is {binding}; host code that is judged is plain CUDA or a torch extension")
    source = joined(files, entry)
    if used := LIBRARIES.search(source):
        raise LeftOut(f"it uses {used.group(1).strip('/_')}, which is not linked")
    check_order(problem)
    bound, count = re.subn(rf'(\.def\(\s*)"{re.escape(function)}"', r'\1"forward"', source)
    if not count:
        raise LeftOut(f"nothing is bound to its entry point '{function}'")
    return "host", bound


def joined(files, entry):
    """One file: local headers in the places of their includes, other units before the one with the binding."""
    seen = set()

    def inlined(path):
        seen.add(path)
        folder = path.rpartition("/")[0]

        def header(match):
            name = match.group(1)
            for candidate in (f"{folder}/{name}" if folder else name, name):
                if candidate in files:
                    return "" if candidate in seen else inlined(candidate)
            return match.group(0)
        text = re.sub(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)".*$', header, files[path], flags=re.M)
        return text.replace("#pragma once\n", "")
    units = [p for p in files if p.endswith((".cu", ".cpp", ".cc", ".cxx", ".c"))]
    if entry not in units:
        raise LeftOut(f"its entry file {entry} is no CUDA or C++")
    last = next((p for p in units if "PYBIND11_MODULE" in files[p]), entry)
    return "\n".join(inlined(p) for p in [u for u in units if u != last] + [last])


def check_order(problem):
    """Host code gets the tensors first and then the scalars."""
    names = list(problem.input_specs)
    kinds = [n in problem.scalars for n in names]
    if sorted(kinds) != kinds:
        raise LeftOut(f"its scalar {names[kinds.index(True)]} stands before a tensor; host code gets the tensors first")
    for name, value in problem.scalars.items():
        if type(value) not in (int, float):
            raise LeftOut(f"its scalar {name} is {value}, which tasks do not pass")


def claim_of(solution, traces):
    """What traces say of a solution: whether it passed in all of its traces, and the geometric mean of its speedups
    over the reference. None where there are no traces of it. A reference that is wrong says nothing of it.
    """
    seen = [t["evaluation"] for t in traces if t.get("solution") == solution["name"]]
    seen = [e for e in seen if e.get("status") != "INVALID_REFERENCE"]
    if not seen:
        return None
    speedups = [(e.get("performance") or {}).get("speedup_factor") or 0 for e in seen]
    correct = all(e.get("status") == "PASSED" for e in seen)
    timed = correct and min(speedups) > 0
    return {"correct": correct, "speedup": statistics.geometric_mean(speedups) if timed else None}


def answers(definition, problem, task):
    """A row for each solution: an answer, or the reason why there is none. task: what the task file holds."""
    for solution in definition.solutions:
        row = {"definition": definition.name, "task": task["id"], "solution": solution["name"],
               "author": solution.get("author", "")}
        if claim := claim_of(solution, definition.traces):
            row["claim"] = claim
        try:
            contract, source = answer_of(solution, problem)
            yield {**row, "contract": contract, "prompt": task["prompt"],
                   "answer": f"<KERNEL>\n```cuda\n{source.rstrip()}\n```\n</KERNEL>", "source": source}
        except LeftOut as why:
            yield {**row, "reason": str(why)}
