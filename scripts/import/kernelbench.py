#!/usr/bin/env python3
"""Turns the problems of a KernelBench checkout into task files of kernelrl (docs/tasks.md).

  kernelbench.py CHECKOUT OUT_FOLDER [--levels 1,2,3] [--only 1/5,2/3] [--jobs 2] [--timeout 70]

Writes OUT_FOLDER/level1/001_square_matrix_multiplication.toml and so on, and OUT_FOLDER/report.json, which says for
every problem whether and how it was imported, and which wrong kernels KernelBench itself would accept. Python and
PyTorch are needed here only: a task holds TorchScript text. A text is written only if it gave the outputs of the Python
model at several shapes, in float32 and in float64. Tasks whose output is always zero go to OUT_FOLDER/refused, since
kernelrl refuses tasks that accept zeros.

Needs Python 3.11 and: pip install torch==2.11.0 numpy setuptools einops
(einops is for two problems of level 3).
"""
import argparse
import ast
import inspect
import json
import pathlib
import re
import sys
import time

try:
    import numpy  # noqa: F401: task_file needs it
    import torch
except ImportError as error:
    sys.exit(f"kernelbench.py: {error.name or error} is missing: pip install torch==2.11.0 numpy setuptools einops")

import task_file
from importer import MOST_LAUNCHES, Importer, commit_of, import_all, warm_up
from problem import Problem

LINEAR = {
    "convolution", "mm", "bmm", "addmm", "mul", "add", "t", "transpose", "permute", "view", "_unsafe_view", "reshape",
    "expand", "unsqueeze", "squeeze", "clone", "detach", "triu", "tril"}


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


class KernelBenchImporter(Importer):
    project = "KernelBench"

    def __init__(self, path, commit):
        super().__init__(Problem(path), report_of(path))
        self.commit = commit
        self.report["title"] = self.title

    @property
    def title(self):
        return self.problem.name.replace("_", " ").strip()

    def examine(self):
        problem = self.problem
        self.published = problem.published = problem.survey(problem.sizes, flops=True)
        self.quick = problem.faster(dict(problem.sizes))
        self.kinds = problem.kinds(self.quick)
        while problem.tie_stuck_sizes(self.quick, self.kinds):
            self.quick = {name: self.quick[name] for name in problem.sizes}
            self.kinds = problem.kinds(self.quick)
        if problem.has_other_tensors(self.quick):
            problem.find_constants(self.quick)
            for name in problem.constant:
                self.published.weights.pop(name, None)
            self.kinds = problem.kinds(self.quick)
        self.report.update(
            published=problem.sizes, heavy_operations=self.published.heavy,
            contract="device" if self.published.heavy <= MOST_LAUNCHES else "host")
        self.report["seconds_sizes"] = self.elapsed()

    def tensor_shapes(self, fit):
        groups = []
        for get in (lambda s: s.inputs, lambda s: list(s.weights.values()), lambda s: s.outputs):
            groups.append([])
            for i, shape in enumerate(get(self.case_survey)):
                groups[-1].append([fit(lambda s: get(s)[i][d]) for d in range(len(shape))])
                if None in groups[-1][-1]:
                    return None
        return groups

    def choose_weight_values(self):
        names = self.case_survey.names
        gain = 0 if names <= LINEAR else 6 if any("relu" in n for n in names) else 3
        instance = self.problem.instance(self.case)
        self.weight_values = [
            task_file.weight_values(instance.model, name, list(tensor.shape), self.weight_shapes[i], gain)
            if tensor.is_floating_point() else task_file.indices(tensor)
            for i, (name, tensor) in enumerate(instance.weights.items())]

    def choose_input_values(self):
        """Normal inputs where the outputs are finite then, else uniform ones."""
        if self.case_survey.names & {"cumprod", "prod"}:  # products of many other numbers vanish or overflow
            floating = [task_file.Values("uniform", 0.99, 1.01, ("0.99", "1.01"))]
        else:
            floating = [task_file.Values("normal"), task_file.Values("uniform", 0.05, 1.0, ("0.05", "1.0"))]
        instance = self.problem.instance(self.case)
        self.structures = [task_file.structure_of(t, shape) for t, shape in zip(instance.inputs, self.input_shapes)]
        for values in floating:
            self.floating_values = values
            self.outputs = self.eager(instance, *self.draw(instance))
            if all(bool(torch.isfinite(t).all()) for t in self.outputs):
                return
        self.floating_values = floating[0]

    def draw(self, instance, seed=0):
        generator = torch.Generator().manual_seed(seed)
        inputs = []
        for i, tensor in enumerate(instance.inputs):
            values = self.floating_values
            if not tensor.is_floating_point():
                values = task_file.Values("integers", *instance.bounds[i])
            drawn = values.draw(tensor.shape, tensor.dtype, generator)
            structure = self.structures[i]
            inputs.append(task_file.STRUCTURES[structure](drawn) if structure else drawn)
        weights = [
            values.draw(tensor.shape, tensor.dtype, generator)
            for values, tensor in zip(self.weight_values, instance.weights.values())]
        return inputs, weights

    def name_tensors(self):
        taken = {task_file.identifier(name, set(), "size") for name in self.axes}
        self.axis_names = {}
        for name in self.axes:
            self.axis_names[name] = task_file.identifier(name, set(), "size")
        instance = self.problem.instance(self.case, "meta")
        parameters = list(inspect.signature(type(instance.model).forward).parameters.values())[1:]
        given = [p.name for p in parameters if p.kind != p.VAR_POSITIONAL]
        given += [f"x{i}" for i in range(len(given), len(instance.arguments))]
        given = given[:len(instance.arguments)]  # later parameters have defaults
        self.constants = {n: a for n, a in zip(given, instance.arguments) if not isinstance(a, torch.Tensor)}
        self.input_names = [task_file.identifier(n, taken, "input") for n in given if n not in self.constants]
        self.weight_names = [task_file.identifier(n, taken, "weight") for n in instance.weights]
        count = len(self.case_survey.outputs)
        self.output_names = [
            task_file.identifier("out" if count == 1 else f"out{i}", taken, "result") for i in range(count)]

    def task_id(self):
        return f"kernelbench/{self.problem.key}"

    def task_path(self):
        name = re.sub(r"\W+", "_", self.problem.name.lower()).strip("_")
        return f"level{self.problem.level}/{self.problem.number:03d}_{name}.toml"

    def prompt(self):
        problem = self.problem
        parts = [
            ast.get_source_segment(problem.source, node) for node in problem.tree.body
            if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef))
            or isinstance(node, ast.FunctionDef) and not node.name.startswith("get_")]
        source = "\n\n".join(parts).replace("\n\nimport", "\nimport").replace("\n\nfrom", "\nfrom").replace("\r", "")
        scope = problem.scope(self.case)
        made = next(n for n in problem.tree.body if getattr(n, "name", "") == "get_init_inputs").body[-1].value
        listed = isinstance(made, (ast.List, ast.Tuple))
        arguments = ", ".join(map(ast.unparse, made.elts)) if listed else ast.unparse(made) if made else ""
        names = dict.fromkeys(n.id for n in ast.walk(made) if isinstance(n, ast.Name)) if made else {}
        other = problem.scope(self.other)
        sources = {
            node.targets[0].id: ast.unparse(node.value) for node in problem.tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
        numbers = [  # what depends on an axis is shown as it is computed
            f"{n} = {scope[n]!r}" if scope[n] == other[n] else f"{n} = {sources.get(n, 'given by the axes')}"
            for n in names if n in scope and n not in self.axes]
        lines = ["Compute the forward pass of this PyTorch module:", "", source.strip(), ""]
        lines.append(f"It is constructed as Model({arguments})" + (f" with {', '.join(numbers)}." if numbers else "."))
        renamed = [f"the axis {self.axis_names[n]} is {n}" for n in self.axes if self.axis_names[n] != n]
        if renamed:
            lines.append(f"Names: {'; '.join(renamed)}.")
        if self.constants:
            lines.append("Constant arguments: " + ", ".join(f"{n} = {v!r}" for n, v in self.constants.items()) + ".")
        called = ", ".join(self.input_names)
        lines.append(f"Inputs of forward: {called}." if called else "forward has no inputs.")
        if self.weight_names:
            pairs = [f"{n} is {w}" for n, w in zip(self.weight_names, self.case_survey.weights)]
            lines.append(f"Inputs in the places of the module's own tensors: {', '.join(pairs)}.")
        lines += [
            f"{name} is {structure.replace('_', ' ')}."
            for name, structure in zip(self.input_names, self.structures) if structure]
        if problem.batch_statistics:
            lines.append("Batch normalisation uses the statistics of the batch, with the biased variance.")
        if problem.dropout:
            lines.append("There is no dropout.")
        return "\n".join(lines) + "\n"

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
        if self.problem.level > 1:
            return min(self.problem.level, 3)
        return int(bool({"convolution", "mm", "bmm", "addmm"} & self.case_survey.names))

    def tensors(self):
        survey = self.case_survey
        shape = lambda expressions: [self.renamed(e) for e in expressions]
        values = [
            self.floating_values if dtype.is_floating_point else task_file.Values("integers", bounds=self.bounds[i])
            for i, dtype in enumerate(survey.input_types)]
        inputs = [
            task_file.Tensor(name, dtype, shape(expressions), drawn.kind, shape(drawn.bounds), structure)
            for name, dtype, expressions, drawn, structure in zip(
                self.input_names + self.weight_names, survey.input_types + survey.weight_types,
                self.input_shapes + self.weight_shapes, values + self.weight_values,
                self.structures + [""] * len(self.weight_names))]
        outputs = [
            task_file.Tensor(name, dtype, shape(expressions))
            for name, dtype, expressions in zip(self.output_names, survey.output_types, self.output_shapes)]
        return inputs, outputs

    def comments(self):
        problem = self.problem
        commit = f", commit {self.commit}" if self.commit else ""
        lines = [
            f"From KernelBench (https://github.com/ScalingIntelligence/KernelBench{commit}):",
            f"KernelBench/level{problem.level}/{problem.path.name}",
            "MIT License, Copyright (c) 2023 Anne Ouyang, Simon Guo, Azalia Mirhoseini.",
            "Converted by scripts/import/kernelbench.py.",
            f"published: {task_file.table({self.axis_names.get(n, n): v for n, v in problem.sizes.items()})}"]
        if self.report["contract"] == "host":
            launches = f"{self.published.heavy} operations that need a launch each; directives allow {MOST_LAUNCHES}"
            lines.append(f"contract: host ({launches})")
        if not self.report["fits_cpu"]:
            lines.append("Its case is too large for the cpu backend.")
        lines += [f"degenerate: {flag}" for flag in self.report["degenerate"]]
        return lines

    def run(self, folder):
        if "from_pretrained" in self.problem.source:
            raise LeftOut("it downloads a pretrained model of the transformers library")
        super().run(folder)


def key_of(path):
    return f"{path.parent.name.removeprefix('level')}/{int(path.name.split('_')[0])}"


def report_of(path):
    return {"problem": key_of(path), "file": path.name}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--levels", default="1,2,3,4")
    parser.add_argument("--only", help="problems, such as 1/5,2/3")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    parser.add_argument("--timeout", type=float, default=70, help="seconds of processor time for a problem (70)")
    options = parser.parse_args()
    problems = options.checkout / "KernelBench"
    paths = []
    for level in options.levels.split(","):
        paths += sorted((problems / f"level{level}").glob("[0-9]*_*.py"), key=lambda p: int(p.name.split("_")[0]))
    if options.only:
        paths = [p for p in paths if key_of(p) in options.only.split(",")]
    if not paths:
        parser.error(f"no problems in {problems}: it has to hold level1/*.py and so on")
    began = time.monotonic()
    torch.set_num_threads(1)
    warm_up()
    commit = commit_of(options.checkout)
    problems = [(lambda path=path: KernelBenchImporter(path, commit), report_of(path)) for path in paths]
    reports = import_all(problems, options.out, options.jobs, options.timeout)
    (options.out / "report.json").write_text(json.dumps(reports, indent=1) + "\n")
    print_summary(reports)
    print(f"\n{len(reports)} problems in {time.monotonic() - began:.0f} s; details in {options.out / 'report.json'}")


if __name__ == "__main__":
    main()
