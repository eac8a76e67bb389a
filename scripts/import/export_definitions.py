"""Writes tasks and kernels as definitions, workloads, solutions and traces of FlashInfer-Bench (docs/definitions.md).

  export_definitions.py TASKS.json FOLDER VERSION     what `kernelrl runs export --format definitions` runs

TASKS.json holds task definitions, with "cases" in numbers, and "naive" and "best" kernels with their launch directives.
"""
import array
import datetime
import hashlib
import json
import math
import os
import pathlib
import random
import re
import sys

import launcher
from left_out import LeftOut

OP_TYPE = AUTHOR = "kernelrl"
LARGEST_BLOB = 1 << 22  # elements of an input in a file
STORED = {"int32": ("I32", "i"), "int64": ("I64", "q"), "bool": ("BOOL", "B"), "float32": ("F32", "f")}
OPERATORS = {"+": "_plus_", "-": "_minus_", "*": "_times_", "/": "_div_"}


# ---- definitions ----


class Axes:
    """The axes of a definition: those of the task that shapes use, and one for every other dimension."""

    def __init__(self, task):
        self.table, self.constraints = {}, []
        self.texts = {name: "" if size == "var" else str(size) for name, size in task["axes"].items()}
        self.names = {text: name for name, text in reversed(self.texts.items()) if text} | {name: name for name in self.texts}
        self.taken = {t["name"] for kind in ("input", "output", "scalar") for t in task.get(kind, ())} | self.texts.keys()
        for name, text in self.texts.items():
            if not text or text.isdigit():
                self.add(name)

    def spec(self, tensor):
        return {"shape": [self.name_of(str(size)) for size in tensor["shape"]], "dtype": tensor["dtype"]}

    def name_of(self, size):
        if size not in self.names:
            name = "size_" + re.sub(r"\W", lambda match: OPERATORS.get(match.group(), ""), size)
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.names[size], self.texts[name] = name, size
        name = self.names[size]
        if name not in self.table:
            self.add(name)
        return name

    def add(self, name):
        text = self.texts[name]
        self.table[name] = {"type": "const", "value": int(text)} if text.isdigit() else {"type": "var"}
        if text and not text.isdigit() and not re.search(r"[?<>=!,&|]", text):
            self.constraints.append(f"{name} == {text.replace('/', '//')}")


def reference_text(task):
    """Python that runs the task's TorchScript as the judge does, which computes in float32 what is shorter."""
    inputs, scalars = task["input"], [scalar["name"] for scalar in task.get("scalar", ())]
    parameters = [tensor["name"] for tensor in inputs] + scalars
    arguments = [t["name"] + (".float()" if t["dtype"] in ("float16", "bfloat16") else "") for t in inputs] + scalars
    several = len(task["output"]) > 1
    results = [f"results{f'[{i}]' if several else ''}.to(torch.{tensor['dtype']})" for i, tensor in enumerate(task["output"])]
    return (f"import torch\n\nTORCHSCRIPT = r'''\n{task['reference']}'''\n"
            "unit = torch._C.CompilationUnit()\n"
            "unit.define(TORCHSCRIPT, lambda name: torch.ops.aten if name == 'torch' else None)\n"
            "function = unit.find_function('run')\n\n\n"
            f"def run({', '.join(parameters)}):\n    results = function({', '.join(arguments)})\n"
            f"    return {', '.join(results)}\n")


def definition_of(task, name):
    if not task.get("input"):
        raise LeftOut("it has no inputs")
    if "'''" in task["reference"]:
        raise LeftOut("its reference holds \"'''\"")
    axes = Axes(task)
    inputs = {tensor["name"]: axes.spec(tensor) for tensor in task["input"]}
    found = {size for spec in inputs.values() for size in spec["shape"]}
    scalars = {scalar["name"]: {"shape": None, "dtype": scalar["dtype"]} for scalar in task.get("scalar", ())}
    outputs = {t["name"] + ("_out" if t["name"] in inputs else ""): axes.spec(t) for t in task["output"]}
    for axis, entry in axes.table.items():
        if entry["type"] == "var" and axis not in found:
            raise LeftOut(f"no input has the size {axis}; FlashInfer-Bench finds all sizes from the inputs")
    return {"name": name, "op_type": OP_TYPE, "description": f"{task['title']}. {task['prompt']}", "axes": axes.table,
            "constraints": axes.constraints, "inputs": inputs | scalars, "outputs": outputs, "reference": reference_text(task)}


# ---- workloads ----


def is_random(tensor):
    """True if the values that FlashInfer-Bench draws by itself are suitable."""
    normal = tensor["values"] == "normal" and (tensor["low"], tensor["high"]) == (0, 1)
    flags = tensor["values"] == "integers" and tensor["dtype"] == "bool"
    return tensor["structure"] == "general" and (normal or flags)


def drawn(tensor, draw):
    """Values of the tensor's kind, as numbers. draw: a random.Random."""
    kind, low, high, shape = (tensor[key] for key in ("values", "low", "high", "shape"))
    size, row = math.prod(shape), shape[-1] if shape else 1
    rows = range(size // row)
    if kind == "permutation":
        values = [value for _ in rows for value in draw.sample(range(row), row)]
    elif kind == "one_hot":
        values = [float(i == one) for one in (draw.randrange(row) for _ in rows) for i in range(row)]
    elif kind in ("sorted", "offsets"):
        values = []
        for _ in rows:
            line = sorted(draw.randrange(int(low), int(high) + (kind == "offsets")) for _ in range(row))
            if kind == "offsets":
                line[0], line[-1] = (low, high) if row > 1 else (low, low)
            values += line
    else:
        one = {"normal": lambda: draw.gauss(low, high), "uniform": lambda: draw.uniform(low, high),
               "uniform_signed": lambda: draw.uniform(-1, 1), "integers": lambda: draw.randrange(int(low), int(high)),
               "zeros": lambda: 0, "bernoulli": lambda: draw.random() < high, "flags": lambda: draw.random() < high}[kind]
        values = [one() for _ in range(size)]
    return structured(values, tensor["structure"], row)


def structured(values, structure, n):
    """Square matrices, mirrored or with zeros on one side of the diagonal."""
    if structure == "general":
        return values
    out = list(values)
    for i in range(len(out)):
        row, column = i // n % n, i % n
        if structure == "symmetric" and column < row:
            out[i] = values[i + (column - row) * n + row - column]
        elif (structure == "lower_triangular" and column > row) or (structure == "upper_triangular" and column < row):
            out[i] = 0
    return out


def blob_of(case, seed):
    """A safetensors file of the tensors that are not random; empty if there are none."""
    draw, header, data = random.Random(seed), {}, b""
    for name, tensor in case["inputs"].items():
        if not is_random(tensor):
            stored, code = STORED[tensor["dtype"]]
            values = drawn(tensor, draw)
            if code != "f":
                values = (int(value != 0) if code == "B" else int(value) for value in values)
            added = array.array(code, values).tobytes()
            header[name] = {"dtype": stored, "shape": tensor["shape"], "data_offsets": [len(data), len(data) + len(added)]}
            data += added
    if not header:
        return b""
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def check_storable(case):
    for name, tensor in case["inputs"].items():
        if not is_random(tensor):
            if math.prod(tensor["shape"]) > LARGEST_BLOB:
                raise LeftOut(f"{name} is too large for a file")
            if tensor["dtype"] not in STORED:
                raise LeftOut(f"{name} has a short type and values that are not normal")


def size_of_axis(case, definition, axis):
    if axis in case["axes"]:
        return case["axes"][axis]
    return next(tensor["shape"][definition["inputs"][name]["shape"].index(axis)]
                for name, tensor in case["inputs"].items() if axis in definition["inputs"][name]["shape"])


# ---- traces ----


def evaluation_of(record, case, version):
    evaluation = record["evaluation"]
    time = datetime.datetime.fromtimestamp(os.path.getmtime(record["file"]), datetime.timezone.utc)
    return {"status": "PASSED",
            "environment": {"hardware": evaluation["device"] or evaluation["backend"],
                            "libs": {"kernelrl": version, "toolchain": evaluation["toolchain"]}},
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "log": "times are estimated by a model, not measured" if case["estimated"] else "",
            "correctness": {"max_relative_error": case["max_rel_error"], "max_absolute_error": case["max_abs_error"]},
            "performance": {"latency_ms": case["time_ns"] / 1e6, "reference_latency_ms": case["baseline_ns"] / 1e6,
                            "speedup_factor": case["baseline_ns"] / case["time_ns"]}}


def is_timed(case):
    """A trace that passed must have a time."""
    figures = (case[key] for key in ("time_ns", "baseline_ns", "speedup_low", "max_abs_error", "max_rel_error"))
    return case["kind"] == "shown" and case["verdict"] == "ok" and all(isinstance(f, (int, float)) for f in figures)


# ---- files ----


class Writer:
    def __init__(self, folder, version):
        self.folder, self.version = folder, version
        self.notes, self.names = [], set()
        self.counts = dict.fromkeys(("definitions", "workloads", "solutions", "traces"), 0)

    def put(self, path, data):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(data)
        partial.replace(path)

    def put_json(self, path, value):
        self.put(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())

    def put_lines(self, path, rows):
        self.put(path, "".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in rows).encode())

    def attempt(self, what, function, *arguments):
        """The function's result, or None with a note."""
        try:
            return function(*arguments)
        except LeftOut as why:
            self.notes.append(f"{what}: left out: {why}")
            return None

    def write(self, task):
        self.attempt(task["id"], self.write_task, task)

    def write_task(self, task):
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", task["id"])
        if name in self.names:
            raise LeftOut(f"another task has the files of its name, {name}")
        self.names.add(name)
        definition = definition_of(task, name)
        self.put_json(f"definitions/{OP_TYPE}/{name}.json", definition)
        self.counts["definitions"] += 1
        workloads = {}
        for case in task["cases"]:
            workload = self.attempt(f"{task['id']}, {case['label']}", self.workload, task, definition, case)
            if workload:
                workloads[case["label"]] = workload
        self.put_lines(f"workloads/{OP_TYPE}/{name}.jsonl", [
            {"definition": name, "workload": w, "solution": None, "evaluation": None} for w in workloads.values()])
        self.counts["workloads"] += len(workloads)
        if "naive" in task:
            about = "The plain kernel of the task, over which speedups are."
            self.attempt(f"{name}_naive", self.write_solution, task, name, f"{name}_naive", "baseline", task["naive"], about)
        if best := task.get("best"):
            self.write_best(task, name, best, workloads)

    def workload(self, task, definition, case):
        check_storable(case)
        digest = hashlib.sha256(f"{definition['name']} {case['label']}".encode()).hexdigest()
        uuid = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
        blob = f"blob/workloads/{OP_TYPE}/{definition['name']}/{uuid}.safetensors"
        if data := blob_of(case, uuid):
            self.put(blob, data)
        inputs = {name: {"type": "random"} if is_random(tensor) else {"type": "safetensors", "path": blob, "tensor_key": name}
                  for name, tensor in case["inputs"].items()}
        inputs |= {name: {"type": "scalar", "value": value} for name, value in case["scalars"].items()}
        tolerance = task["tolerance"]
        return {"uuid": uuid,
                "axes": {axis: size_of_axis(case, definition, axis)
                         for axis, entry in definition["axes"].items() if entry["type"] == "var"},
                "inputs": inputs,
                "tolerance": {"max_atol": tolerance["atol"], "max_rtol": tolerance["rtol"], "required_matched_ratio": 1.0}}

    def write_solution(self, task, definition, name, author, kernel, description):
        source = launcher.source_with_launcher(task, kernel)
        self.put_json(f"solutions/{author}/{OP_TYPE}/{definition}/{name}.json", {
            "name": name, "definition": definition, "author": author, "description": description,
            "spec": {"language": "cuda", "target_hardware": ["cuda"], "entry_point": f"kernel.cu::{launcher.NAME}",
                     "dependencies": [], "destination_passing_style": True, "binding": "tvm-ffi"},
            "sources": [{"path": "kernel.cu", "content": source}]})
        self.counts["solutions"] += 1
        return True

    def write_best(self, task, name, best, workloads):
        solution = f"{name}_best"
        if best["evaluation"].get("contract") == "host":
            self.notes.append(f"{task['id']}, its best kernel: left out: it has host code of its own")
            return
        about = f"The best kernel of a run of kernelrl, from iteration {best['iteration']}."
        if not self.attempt(solution, self.write_solution, task, name, solution, AUTHOR, best, about):
            return
        rows = [{"definition": name, "workload": workloads[case["label"]], "solution": solution,
                 "evaluation": evaluation_of(best, case, self.version)}
                for case in best["evaluation"]["cases"] if case["label"] in workloads and is_timed(case)]
        if rows:
            self.put_lines(f"traces/{AUTHOR}/{OP_TYPE}/{name}.jsonl", rows)
            self.counts["traces"] += len(rows)
        else:
            self.notes.append(f"{solution}, its traces: left out: no case of its evaluation was timed")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tasks, folder, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    writer = Writer(folder, version)
    for task in json.loads(tasks.read_text()):
        writer.write(task)
    print(f"{folder}: {', '.join(f'{count} {kind}' for kind, count in writer.counts.items())}")
    for note in writer.notes:
        print(note)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"export_definitions.py: {error}")
