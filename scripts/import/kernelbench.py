#!/usr/bin/env python3
"""Turns the problems of a KernelBench checkout into task files of kernelrl (docs/tasks.md).

Writes OUT_FOLDER/level1/001_square_matrix_multiplication.toml and so on, and OUT_FOLDER/report.json, which says for
every problem whether and how it was imported, and which wrong kernels KernelBench itself would accept. Python and
PyTorch are needed here only: a task holds TorchScript text. A text is written only if it gave the outputs of the Python
model at several shapes, in float32 and in float64. Tasks whose output is always zero go to OUT_FOLDER/refused, since
kernelrl refuses tasks that accept zeros.

Needs Python 3.11 and: pip install torch==2.11.0 numpy setuptools einops
(einops is for two problems of level 3).
"""
import argparse
import hashlib
import json
import pathlib
import re
import time

import needs

PARSER = argparse.ArgumentParser(
    prog="kernelrl tasks import kernelbench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("checkout", type=pathlib.Path)
PARSER.add_argument("out", type=pathlib.Path)
PARSER.add_argument("--levels", default="1,2,3,4")
PARSER.add_argument("--only", help="problems, such as 1/5,2/3")
PARSER.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
PARSER.add_argument("--timeout", type=float, default=70, help="seconds of processor time for a problem (70)")
OPTIONS = PARSER.parse_args() if __name__ == "__main__" else None  # --help needs no torch
needs.check("einops")

import torch

import task_file
from importer import commit_of, import_all, warm_up
from left_out import LeftOut
from module_importer import ModuleImporter
from problem import Problem


def sibling(name):
    """The name of the weight that a bias goes with."""
    return re.sub(r"bias$", "weight", name)


def published_values(tensor, shape, weight_shapes):
    """(kind, bounds) of a tensor as KernelBench draws it, from one draw; None if it is drawn in no way that tasks know.

    Parameters of linear layers and convolutions are uniform, within 1 / sqrt(terms) of the layer's sums. shape,
    weight_shapes: expressions, of the tensor and of the weight that it is the bias of.
    """
    if not tensor.is_floating_point():
        return None
    of = shape if len(shape) > 1 else weight_shapes[0] if weight_shapes else []
    terms = task_file.product(list(of[1:])) if len(of) > 1 else ""
    scaled = ("uniform", [f"-1.0 / sqrt({terms})", f"1.0 / sqrt({terms})"]) if terms else None
    if tensor.numel() == 1:
        return scaled
    low, high, mean, std = (float(f(tensor)) for f in (torch.min, torch.max, torch.mean, torch.std))
    if low == high:
        # bounds of a task differ, by less here than anything tells
        return ("zeros", []) if low == 0 else ("uniform", [f"{low:.9g}", f"{low + 1e-6 * abs(low):.9g}"])
    flat = abs(std * 3 ** 0.5 / ((high - low) / 2) - 1) < 0.25 or tensor.numel() < 32
    if low >= 0 and high <= 1 and flat:
        return "uniform", ["0", "1"]
    if flat and abs(mean) < std and terms and high < 1:
        return scaled
    if low >= 0 or len(tensor.unique()) <= 2:
        return None
    if abs(std - 1) < 0.25 and abs(mean) < 0.25 and not flat:
        return "normal", []
    if abs(mean) < std:
        bound = std * 3 ** 0.5
        return "uniform", [f"-{bound:.3g}", f"{bound:.3g}"]
    return None


class KernelBenchImporter(ModuleImporter):
    project = "KernelBench"

    def __init__(self, path, origin):
        self.path, self.level = path, int(path.parent.name.removeprefix("level"))
        number, _, name = path.stem.partition("_")
        self.number, self.name = int(number), name.strip("_")
        self.project_lines = origin
        super().__init__(Problem(path.read_text(), path, key_of(path)), report_of(path))

    @property
    def title(self):
        return self.name.replace("_", " ").strip()

    def task_id(self):
        return f"kernelbench/{self.problem.key}"

    def task_path(self):
        name = re.sub(r"\W+", "_", self.name.lower()).strip("_")
        return f"level{self.level}/{self.number:03d}_{name}.toml"

    def write(self, folder):
        """The task, and beside it one with the inputs and parameters that KernelBench draws, for --protocol kernelbench."""
        super().write(folder)
        drawn = self.problem.instance(self.case)
        given = list(zip(self.input_names, drawn.inputs)) + list(zip(self.weight_names, drawn.weights.values()))
        inputs, outputs = self.tensors()
        others = []
        for tensor, (name, values) in zip(inputs, given):
            if tensor.structure == "symmetric":
                values = values.diagonal(dim1=-2, dim2=-1)  # elsewhere it is the mean of two draws
            elif tensor.structure:
                values = values[values != 0]
            kind = published_values(values, tensor.shape, [t.shape for t in inputs if t.name == sibling(tensor.name)])
            if kind is None:
                others.append(tensor.name)
            else:
                tensor.values, tensor.bounds = kind
        comments = ["KernelBench's own inputs and parameters, for --protocol kernelbench; see the .toml beside it."]
        comments += [f"not as KernelBench draws them: {', '.join(others)}"] if others else []
        text = task_file.task_text(comments, {
            "id": task_file.quoted(self.task_id()),
            "prompt": task_file.block(self.prompt()),
            "axes": task_file.table(self.axis_table()),
            "reference": task_file.block(self.text),
            "cases": task_file.tables([self.at(self.case)]),
            "real": task_file.tables(self.report["real"]),
        }, inputs, outputs, self.scalar_tables())
        (folder / self.report["task"]).with_suffix(".kernelbench").write_text(text)

    def tier(self):
        return min(self.level, 3) if self.level > 1 else super().tier()

    def origin(self):
        file = f"KernelBench/level{self.level}/{self.path.name}"
        return [*self.project_lines, file, "Converted by scripts/import/kernelbench.py."]

    def run(self, folder):
        if "from_pretrained" in self.problem.source:
            raise LeftOut("it downloads a pretrained model of the transformers library")
        super().run(folder)


def origin_of(checkout):
    """What a file says of where it is from: KernelBench's licence where the checkout has it, as its own files do."""
    licence = checkout / "LICENSE"
    if not licence.exists() or "Anne Ouyang" not in licence.read_text():
        return [f"From {checkout.resolve().name}:"]
    commit = commit_of(checkout)
    return [f"From KernelBench (https://github.com/ScalingIntelligence/KernelBench{f', commit {commit}' if commit else ''}):",
            "MIT License, Copyright (c) 2023 Anne Ouyang, Simon Guo, Azalia Mirhoseini."]


def key_of(path):
    return f"{path.parent.name.removeprefix('level')}/{int(path.name.split('_')[0])}"


def source_digest(source):
    """SHA-256 of a problem's source, by which `kernelrl serve` finds its task; blanks at the ends of lines do not matter."""
    lines = [line.rstrip(" \t\r") for line in source.split("\n")]
    return hashlib.sha256("".join(line + "\n" for line in lines if line).encode()).hexdigest()


def report_of(path):
    return {"problem": key_of(path), "file": path.name, "sha256": source_digest(path.read_text())}


def print_summary(reports):
    print("\nlevel  problems  imported  export  trace  with ranges  degenerate  contract host")
    for level in sorted({r["problem"].split("/")[0] for r in reports}):
        of_level = [r for r in reports if r["problem"].split("/")[0] == level]
        imported = [r for r in of_level if r["imported"]]
        count = lambda condition: sum(map(bool, map(condition, imported)))
        print(f"{level:>5}  {len(of_level):8}  {len(imported):8}  {count(lambda r: r['way'] == 'export'):6}  "
              f"{count(lambda r: r['way'] == 'trace'):5}  {count(lambda r: r['ranges']):11}  "
              f"{count(lambda r: r['degenerate']):10}  {count(lambda r: r['contract'] == 'host'):13}")
    reasons = [r for r in reports if "reason" in r]
    if reasons:
        print("\nLeft out or refused:")
    for report in reasons:
        print(f"  {report['problem']:>5} {report['file'].removesuffix('.py')}: {report['reason']}")


def main(options):
    problems = options.checkout / "KernelBench"
    paths = []
    for level in options.levels.split(","):
        paths += sorted((problems / f"level{level}").glob("[0-9]*_*.py"), key=lambda p: int(p.name.split("_")[0]))
    if options.only:
        paths = [p for p in paths if key_of(p) in options.only.split(",")]
    if not paths:
        PARSER.error(f"no problems in {problems}: it has to hold level1/*.py and so on")
    began = time.monotonic()
    torch.set_num_threads(1)
    warm_up()
    origin = origin_of(options.checkout)
    problems = [(lambda path=path: KernelBenchImporter(path, origin), report_of(path)) for path in paths]
    reports = import_all(problems, options.out, options.jobs, options.timeout)
    (options.out / "report.json").write_text(json.dumps(reports, indent=1) + "\n")
    print_summary(reports)
    print(f"\n{len(reports)} problems in {time.monotonic() - began:.0f} s; details in {options.out / 'report.json'}")


if __name__ == "__main__":
    main(OPTIONS)
