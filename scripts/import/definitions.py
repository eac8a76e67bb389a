#!/usr/bin/env python3
"""Turns definitions of FlashInfer-Bench and SOL-ExecBench into task files of kernelrl (docs/definitions.md).

FOLDER is searched for definitions, workloads and solutions in the layout of either project. Writes
OUT_FOLDER/OP_TYPE/NAME.toml for each definition, OUT_FOLDER/solutions.jsonl with the solutions in CUDA that kernelrl
can judge, and OUT_FOLDER/report.json, which says for every definition and solution whether and how it was imported.
Python and PyTorch are needed here only: a task holds TorchScript text, which is written only if it gave the outputs of
the Python reference at several shapes, in float32 and in float64.

Needs Python 3.11 and: pip install torch==2.11.0 numpy setuptools
"""
import argparse
import ast
import contextlib
import json
import pathlib
import re
import time
import tomllib
from collections import Counter

import needs

PARSER = argparse.ArgumentParser(
    prog="kernelrl tasks import definitions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("folder", type=pathlib.Path)
PARSER.add_argument("out", type=pathlib.Path)
PARSER.add_argument("--only", help="names of definitions, separated by commas")
PARSER.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
PARSER.add_argument("--timeout", type=float, default=120, help="seconds of processor time for a definition (120)")
OPTIONS = PARSER.parse_args() if __name__ == "__main__" else None  # --help needs no torch
needs.check()

import torch

import reference
import task_file
from definition import TYPES, DefinitionProblem, names_of, read_folder
from importer import MOST_LAUNCHES, Importer, import_all, summary, warm_up
from solution import answer_of, answers

RTOL = {"float32": 1e-4, "float16": 4e-3, "bfloat16": 1.6e-2}  # where workloads state none: a few roundings
# Operations whose result depends on the order of equal integers, or on integers that are in order.
BY_STRUCTURE = {
    "index_put", "index_put_", "_unsafe_index_put", "scatter", "scatter_", "index_copy", "index_copy_", "searchsorted",
    "bucketize", "repeat_interleave", "_segment_reduce"}
MOST_RTOL, MOST_OF_MEAN = 5e-2, 2e-2  # of what workloads state: above them, wrong kernels would pass


class DefinitionImporter(Importer):
    project = "the definition"

    def __init__(self, definition, folder):
        super().__init__(None, report_of(definition, folder))
        self.definition = definition
        self.title = definition.name.replace("_", " ")

    # ---- sizes ----

    def examine(self):
        self.problem = problem = DefinitionProblem(self.definition)
        self.floating = any(TYPES[problem.input_specs[n]["dtype"]].is_floating_point for n in problem.tensor_names)
        self.published = problem.published = self.published_survey()
        self.check_structured(self.published.names)
        self.quick = problem.faster(dict(problem.sizes))
        self.kinds = dict.fromkeys(problem.sizes, "free")
        self.report.update(
            workloads=len(problem.definition.workloads), heavy_operations=self.published.heavy,
            contract="device" if self.published.heavy <= MOST_LAUNCHES else "host")

    def published_survey(self):
        try:
            return self.problem.survey(self.problem.sizes, flops=True)
        except LeftOut:
            raise
        except Exception as error:
            values = "meta" in str(error) or "item" in str(error) or "data-dependent" in str(error)
            why = "its reference looks at the values of tensors" if values else "its reference fails"
            raise LeftOut(f"{why}: {summary(error)}")

    def check_structured(self, operations):
        """Independent integers will do where they are read at; where they are written at, two of them may collide."""
        if told := self.problem.structured.items() and operations & BY_STRUCTURE:
            name, what = next(iter(self.problem.structured.items()))
            raise LeftOut(f"the integers of {name} {what} and go to {', '.join(sorted(told))}; tasks draw them "
                          "independently")

    def tensor_shapes(self, fit):
        fixed = {n: self.case[n] for n in self.fixed}
        specs = [self.problem.input_specs[n] for n in self.problem.tensor_names]
        expanded = lambda spec: [self.problem.expanded(n, fixed) for n in spec["shape"]]
        return list(map(expanded, specs)), [], list(map(expanded, self.problem.output_specs.values()))

    def name_tensors(self):
        problem, taken = self.problem, set()
        named = lambda names, prefix: {n: task_file.identifier(n, taken, prefix) for n in names}
        self.axis_names = named(problem.definition.data["axes"], "size")
        self.scalar_names = named(problem.scalars, "scalar")
        inputs = named(problem.tensor_names, "input")
        self.in_place = self.own_in_place()
        outputs = {n: inputs[self.in_place[n]] if n in self.in_place else task_file.identifier(n, taken, "result")
                   for n in problem.output_specs}
        self.input_names, self.output_names = list(inputs.values()), list(outputs.values())
        self.weight_names = []
        # Neither a bool nor None is a scalar of tasks: it is in the text.
        self.scalars = {self.scalar_names[n]: v for n, v in problem.scalars.items() if type(v) in (int, float)}
        pairs = {**self.axis_names, **self.scalar_names, **inputs, **outputs}
        self.renamings = {name: new for name, new in pairs.items() if name != new}

    def own_in_place(self):
        """output -> input: kernelrl writes an output that is computed in place as NAME_out."""
        data, problem = self.definition.data, self.problem
        pairs = {n: n.removesuffix("_out") for n in problem.output_specs if n.endswith("_out")}
        return {n: i for n, i in pairs.items() if data.get("op_type") == "kernelrl" and i in problem.input_specs}

    def naive(self):
        """Device code of the author `baseline`, which kernelrl's own definitions have."""
        own = [s for s in self.definition.solutions if s.get("author") == "baseline"]
        for solution in own if not self.renamings.keys() - self.in_place.keys() and not self.fixed else []:
            with contextlib.suppress(LeftOut):
                contract, source = answer_of(solution, self.problem)
                return source if contract == "device" else ""
        return ""

    def choose_real(self):
        """Up to three workloads that fit a GPU of 24 GB, the largest among them."""
        if self.fixed:
            return super().choose_real()
        fitting = []
        for sizes in self.problem.workload_sizes:
            survey = self.problem.try_survey(sizes)
            if survey and 12 * survey.memory + 24 * survey.largest < 19e9:
                fitting.append(sizes)
        if not self.problem.workload_sizes:
            return super().choose_real()
        places = sorted({len(fitting) - 1, len(fitting) * 2 // 3, len(fitting) // 3} & set(range(len(fitting))))
        return [fitting[i] for i in places]

    # ---- values ----

    def choose_weight_values(self):
        self.weight_values = []

    def choose_input_values(self):
        instance = self.problem.instance(self.case)
        self.outputs = self.eager(instance, *self.draw(instance))
        if not any(bool(torch.isfinite(t).any()) for t in self.outputs):
            raise LeftOut("no output is finite with inputs that are drawn at random")
        self.check_own_types(self.outputs)

    def draw(self, instance, seed=0):
        return self.problem.draw(instance.sizes, seed), []

    def check_own_types(self, outputs):
        """That nothing but rounding changed when the reference got one floating-point type."""
        try:
            own = self.problem.in_own_types(self.case, 0)
        except Exception as error:
            return self.problem.notes.append(f"not compared with the reference in its own types: {summary(error)}")
        for name, a, b in zip(self.problem.output_specs, own, outputs):
            declared = TYPES[self.problem.output_specs[name]["dtype"]]
            if a.dtype != declared:
                raise LeftOut(f"its reference returns {a.dtype} for {name}, the definition says {declared}")
            a, b = (t.double().nan_to_num(0.0, 0.0, 0.0) for t in (a, b))
            if float((a - b).norm()) > 0.05 * float(b.norm()) + 1e-6:
                raise LeftOut(f"{name} differs from what the reference gives in its own types by more than rounding")

    # ---- the reference ----

    def plain_text(self):
        """A string of the module that is TorchScript, or the module itself."""
        body = ast.parse(self.problem.source).body
        strings = [n.value.value for n in body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)
                   and isinstance(n.value.value, str) and "def run(" in n.value.value]
        code = [n for n in body if not isinstance(n, (ast.Import, ast.ImportFrom))]
        for text in (*strings, "\n".join(map(ast.unparse, code))):
            try:
                reference.compile_text(text)
                return text.strip("\n") + "\n"
            except RuntimeError:
                continue
        return None

    def make_text(self):
        super().make_text()
        if wrong := self.why_wrong(self.case, seed=3):
            raise LeftOut(f"its text holds for one draw of the inputs only: {wrong}")

    # ---- the file ----

    def task_id(self):
        return f"definitions/{file_name(self.definition.name)}"

    def task_path(self):
        return f"{file_name(self.definition.data.get('op_type') or 'tasks')}/{file_name(self.definition.name)}.toml"

    def tier(self):
        heavy = self.published.heavy
        if heavy <= 1 and not self.case_survey.names & {"mm", "bmm", "addmm", "convolution"}:
            return 1
        return 2 if heavy <= 4 else 3

    def prompt(self):
        problem = self.problem
        data, entry = problem.definition.data, problem.definition.data.get("custom_inputs_entrypoint")
        tree = ast.parse(problem.source)
        source = "\n".join(
            ast.get_source_segment(problem.source, node) if not getattr(node, "decorator_list", None)
            else "\n" + "\n".join(f"@{ast.unparse(d)}" for d in node.decorator_list)
            + "\n" + ast.get_source_segment(problem.source, node)
            for node in tree.body if entry is None or getattr(node, "name", None) != entry)
        lines = [data["description"], ""] if data.get("description") else []
        lines += ["Compute what the function run of this Python code computes:", "", source.strip(), ""]
        if self.renamings:
            lines.append("Names: " + ", ".join(f"{old} is {new}" for old, new in self.renamings.items()) + ".")
        numbers = [f"{n} = {v!r}" for n, v in problem.scalars.items()]
        if numbers:
            lines.append(f"Numbers: {', '.join(numbers)}.")
        lines.append(f"Inputs: {', '.join(self.input_names)}. Outputs: {', '.join(self.output_names)}.")
        if self.shortest_type() != "float32":
            lines.append("Results in between need not be rounded as in this code.")
        return "\n".join(lines) + "\n"

    def shortest_type(self):
        types = {spec["dtype"] for spec in (*self.problem.input_specs.values(), *self.problem.output_specs.values())}
        return next((t for t in ("bfloat16", "float16") if t in types), "float32")

    def tolerance(self):
        """What the workloads state as far as wrong kernels fail then; without, by the shortest type."""
        stated = [w["tolerance"] for w in self.problem.workloads if w.get("tolerance")]
        kind = self.shortest_type()
        if kind == "float32" and not stated:
            return super().tolerance()
        finite = [t[torch.isfinite(t)].double().abs() for t in self.outputs if t.is_floating_point()]
        mean = float(torch.cat(finite).mean()) if finite else 1.0
        rtol = max([t.get("max_rtol", 1e-2) for t in stated], default=RTOL[kind])
        atol = max([t.get("max_atol", 1e-2) for t in stated], default=mean * RTOL[kind] / 2)
        return {"rtol": f"{min(rtol, MOST_RTOL):.3g}", "atol": f"{max(min(atol, mean * MOST_OF_MEAN), 1e-12):.1e}",
                "terms": task_file.quoted(self.renamed(self.terms))}

    def axis_table(self):
        problem, table = self.problem, {}
        used = {n for s in (*problem.input_specs.values(), *problem.output_specs.values()) for n in s["shape"] or ()}
        used |= {n for e in problem.expressions.values() for n in names_of(e)}
        for name in (*problem.constants, *problem.sizes):
            if problem.constants.get(name, 1) < 1:  # no axis of tasks
                if name in used:
                    raise LeftOut(f"the axis {name} is {problem.constants[name]}")
                continue
            size = problem.constants.get(name, self.case.get(name))
            table[self.axis_names[name]] = task_file.quoted("var") if name in self.axes else str(size)
        waiting = dict(problem.expressions)
        while waiting:  # an axis is written after those that it uses
            ready = {n: e for n, e in waiting.items() if not names_of(e) & waiting.keys()}
            if not ready:
                raise LeftOut(f"the axes {', '.join(waiting)} are expressions of each other")
            for name, expression in ready.items():
                table[self.axis_names[name]] = task_file.quoted(self.renamed(expression))
                del waiting[name]
        return table

    def scalar_tables(self):
        specs = self.problem.input_specs
        kinds = {n: specs[old]["dtype"] for old, n in self.scalar_names.items() if n in self.scalars}
        return [{"name": task_file.quoted(n), "dtype": task_file.quoted(k if k in ("int32", "int64") else "float32"),
                 "value": task_file.quoted(repr(self.scalars[n]))} for n, k in kinds.items()]

    def tensors(self):
        problem = self.problem

        def tensor(name, spec, values=None):
            shape = [n if n.isdigit() else self.axis_names[n] for n in spec["shape"]]
            kind, bounds = (values.kind, [self.renamed(b) for b in values.bounds]) if values else ("", ())
            return task_file.Tensor(name, TYPES[spec["dtype"]], shape, kind, bounds)
        inputs = [tensor(n, problem.input_specs[old], problem.values[old])
                  for n, old in zip(self.input_names, problem.tensor_names)]
        return inputs, [tensor(n, spec) for n, spec in zip(self.output_names, problem.output_specs.values())]

    def comments(self):
        problem, data = self.problem, self.definition.data
        lines = [f"From the definition {data['name']}, converted by scripts/import/definitions.py; its licence applies."]
        if data.get("hf_id"):
            lines.append(f"Model: {data['hf_id']}")
        lines += [f"workload: {task_file.table({self.axis_names[n]: v for n, v in s.items()})}"
                  for s in problem.workload_sizes[:40]]
        if self.report["contract"] == "host":
            lines.append(f"contract: host ({self.published.heavy} operations that need a launch each; directives allow "
                         f"{MOST_LAUNCHES})")
        if not self.report["fits_cpu"]:
            lines.append("Its case is too large for the cpu backend.")
        if any(w.get("tolerance", {}).get("required_matched_ratio", 1) < 1 for w in problem.workloads):
            lines.append("Workloads accept a share of wrong elements; the task does not.")
        self.report["notes"] = problem.notes
        lines += [f"note: {note}" for note in problem.notes]
        return lines + [f"degenerate: {flag}" for flag in self.report["degenerate"]]


def file_name(name):
    return re.sub(r"[^\w.-]+", "_", name)[:100]


def with_files_of_their_own(definitions, broken):
    """Without those whose task would have the id and the file of an earlier one."""
    names = {}
    for definition in definitions:
        first = names.setdefault(file_name(definition.name).lower(), definition)
        if first is not definition:
            broken.append(f"{definition.path}: the task of '{definition.name}' would have the file of '{first.name}'; "
                          "rename one of them")
    return list(names.values())


def report_of(definition, folder):
    return {"problem": definition.name, "file": str(definition.path.relative_to(folder))}


def solution_rows(definitions, reports, out):
    """Of the solutions of imported definitions, see solution.answers."""
    rows = []
    for definition, report in zip(definitions, reports):
        if report["imported"] and definition.solutions:
            task = tomllib.loads((out / report["task"]).read_text())
            rows += answers(definition, DefinitionProblem(definition), task)
    return rows


def print_summary(reports, rows, broken):
    imported = [r for r in reports if r["imported"] and "reason" not in r]
    ways = Counter(r["way"] for r in imported)
    print(f"\n{len(imported)} of {len(reports)} definitions imported "
          f"({', '.join(f'{n} by {w}' for w, n in ways.items())}), "
          f"{sum(r['ranges'] for r in imported)} with ranges, "
          f"{sum(r['contract'] == 'host' for r in imported)} for the contract host")
    reasons = [r for r in reports if "reason" in r]
    if reasons:
        print("\nLeft out or refused:")
    for report in reasons:
        print(f"  {report['problem']}: {report['reason']}")
    for line in broken:
        print(f"  {line}")
    if rows:
        kinds = Counter(r.get("contract") for r in rows if "reason" not in r)
        print(f"\n{sum(kinds.values())} of {len(rows)} solutions are answers "
              f"({', '.join(f'{n} for the contract {k}' for k, n in kinds.items())})")
    claims = [r["claim"] for r in rows if "claim" in r]
    if claims:
        print(f"Traces say of {len(claims)} of them how they did: {sum(c['correct'] for c in claims)} passed everywhere")
    for row in rows:
        if "reason" in row:
            print(f"  {row['solution']}: {row['reason']}")


def main(options):
    definitions, broken = read_folder(options.folder)
    if options.only:
        definitions = [d for d in definitions if d.name in options.only.split(",")]
    if not definitions:
        PARSER.error(f"no definitions in {options.folder}: JSON files with name, axes, inputs, outputs and reference")
    definitions = with_files_of_their_own(definitions, broken)
    began = time.monotonic()
    torch.set_num_threads(1)
    warm_up()
    problems = [(lambda d=d: DefinitionImporter(d, options.folder), report_of(d, options.folder)) for d in definitions]
    reports = import_all(problems, options.out, options.jobs, options.timeout)
    rows = solution_rows(definitions, reports, options.out)
    (options.out / "report.json").write_text(json.dumps(reports + [r for r in rows if "reason" in r], indent=1) + "\n")
    with open(options.out / "solutions.jsonl", "w") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows if "reason" not in row)
    print_summary(reports, rows, broken)
    print(f"\n{len(reports)} definitions in {time.monotonic() - began:.0f} s; details in {options.out / 'report.json'}")


if __name__ == "__main__":
    main(OPTIONS)
