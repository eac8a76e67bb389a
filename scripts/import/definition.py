"""Definitions of FlashInfer-Bench and SOL-ExecBench with their workloads and solutions, read from JSON, and their
references as problems that can be run at any sizes.

In the judge all floating-point tensors have one type, float64 for the expected values. A reference is therefore run
with every floating-point type that it names replaced by the type of the run.
"""
import ast
import contextlib
import json
import math
import types
from collections import Counter
from dataclasses import dataclass, field

import torch

import task_file
from left_out import LeftOut
from problem import AnyDevice, Sized, recorded_randint

TYPES = {name: getattr(torch, name) for name in ("float32", "float16", "bfloat16", "int32", "int64", "bool")}
STORED = {
    "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I32": torch.int32, "I64": torch.int64,
    "BOOL": torch.bool}  # in safetensors files
FLOATING = {"float64", "float32", "float16", "bfloat16", "double", "float", "half"}  # attributes of torch
CASTS = {"float", "half", "bfloat16", "double"}  # methods of tensors
OFTEN = {"eps": 1e-6, "scale": 0.125, "scaling": 0.125}  # scalars by their names
POSITIVE = {"rstd", "std", "variance", "var", "inv_std", "probs"}


# ---- files ----


@dataclass
class Definition:
    path: object                                   # of its file
    data: dict
    workloads: list = field(default_factory=list)  # {"uuid", "axes", "inputs", "tolerance"?}
    solutions: list = field(default_factory=list)
    traces: list = field(default_factory=list)     # evaluations of solutions: {"workload", "solution", "evaluation"}

    @property
    def name(self):
        return self.data["name"]


def read_json_lines(path, broken):
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                broken.append(f"{path}:{number}: {error}")


def read_folder(folder):
    """Every definition in and below a folder, in the order of their files, and what could not be read.

    Files are known by their contents: FlashInfer-Bench keeps definitions/, workloads/, solutions/ apart and names the
    definition in each; SOL-ExecBench has a folder for each definition, with workload.jsonl and solution*.json.
    """
    definitions, by_name, by_folder, solutions, broken = [], {}, {}, [], []
    for path in sorted(folder.rglob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8-sig"))
        except (ValueError, OSError) as error:
            broken.append(f"{path}: {error}")
            continue
        if not isinstance(data, dict):
            continue
        if {"name", "axes", "inputs", "outputs", "reference"} <= data.keys():
            definition = Definition(path, data)
            if same := by_name.get(definition.name):
                if same.data != data:
                    broken.append(f"{path}: '{definition.name}' is defined otherwise in {same.path}")
                continue
            definitions.append(definition)
            by_name.setdefault(definition.name, definition)
            by_folder[path.parent] = definition
        elif {"name", "definition", "spec", "sources"} <= data.keys():
            solutions.append((path, data))
    for path in sorted(folder.rglob("*.jsonl")):
        for line in read_json_lines(path, broken):
            if not isinstance(line, dict):
                continue
            workload, definition = line.get("workload", line), by_name.get(line.get("definition"))
            if "workload" not in line:
                definition = by_folder.get(path.parent)
            if definition and line.get("evaluation"):
                definition.traces.append(line)
            elif definition and {"uuid", "axes", "inputs"} <= workload.keys():
                definition.workloads.append(workload)
    for path, solution in solutions:
        if owner := by_name.get(solution["definition"]) or by_folder.get(path.parent):
            owner.solutions.append(solution)
        else:
            broken.append(f"{path}: a solution of '{solution['definition']}', of which there is no definition")
    return definitions, broken


def read_tensor(path, key):
    """A tensor of a safetensors file: a length, a JSON header, data. None if it is not there."""
    data = path.read_bytes()
    if data.startswith(b"version https://git-lfs"):
        return None
    length = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:8 + length]).get(key)
    if entry is None or entry["dtype"] not in STORED:
        return None
    begin, end = (8 + length + offset for offset in entry["data_offsets"])
    if begin == end:
        return None
    return torch.frombuffer(bytearray(data[begin:end]), dtype=STORED[entry["dtype"]]).reshape(entry["shape"])


# ---- the reference ----


class OneType(AnyDevice):
    """Replaces floating-point types in Python by a name that a run gives a meaning, and drops no_grad, which
    torch.export makes a graph of its own.
    """

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list = [d for d in node.decorator_list if not self.is_no_grad(d)]
        return node

    def visit_With(self, node):
        self.generic_visit(node)
        node.items = [item for item in node.items if not self.is_no_grad(item.context_expr)]
        return node if node.items else node.body

    @staticmethod
    def is_no_grad(node):
        return ast.unparse(node).split("(")[0] in ("torch.no_grad", "torch.inference_mode")

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "torch" and node.attr in FLOATING:
            return ast.copy_location(ast.Name("__floating__", ast.Load()), node)
        return node

    def visit_Call(self, node):
        node = super().visit_Call(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in CASTS and not node.args and not node.keywords:
            cast = ast.Attribute(function.value, "to", ast.Load())
            return ast.copy_location(ast.Call(cast, [ast.Name("__floating__", ast.Load())], []), node)
        return node


class Function:
    """A definition's reference at some sizes: what the importer knows as an instance of a model."""
    weights, aliases, constants = {}, {}, {}
    model = types.SimpleNamespace(training=False)

    def __init__(self, problem, sizes, inputs):
        self.problem, self.sizes, self.inputs, self.bounds = problem, sizes, inputs, {}

    def run(self, inputs, weights=(), dtype=None):
        given, problem = iter(inputs), self.problem
        arguments = [problem.scalars[n] if n in problem.scalars else next(given) for n in problem.input_specs]
        return problem.outputs_of(problem.function(dtype or torch.float32)(*arguments))


def names_of(expression):
    return {node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)}


class DefinitionProblem(Sized):
    """`sizes` are the variable axes at their largest workload."""
    dropout = False

    def __init__(self, definition):
        data = definition.data
        self.definition, self.name, self.key = definition, definition.name, definition.name
        self.source = data["reference"]
        self.input_specs, self.output_specs = data["inputs"], data["outputs"]
        self.notes = []          # deviations of the task from the definition
        self.published = None
        self.functions = {}
        self.check_types()
        self.read_axes()
        self.choose_workloads()
        self.choose_values()

    # ---- axes ----

    def check_types(self):
        for name, spec in {**self.input_specs, **self.output_specs}.items():
            if spec["dtype"] not in TYPES and spec["shape"] is not None:
                raise LeftOut(f"{name} has the type {spec['dtype']}, which tasks do not have")
        for name, spec in self.output_specs.items():
            if spec["shape"] is None:
                raise LeftOut(f"its output {name} is a number, not a tensor")

    def read_axes(self):
        self.constants, self.expressions, self.sizes = {}, {}, {}
        for name, axis in self.definition.data["axes"].items():
            if axis["type"] == "const":
                self.constants[name] = axis["value"]
            elif axis["type"] == "expr":
                self.expressions[name] = self.axis_expression(axis["expression"])
            else:
                self.sizes[name] = 0
        for constraint in self.definition.data.get("constraints") or []:
            self.read_constraint(constraint)
        missing = {n for e in self.expressions.values() for n in names_of(e)} - self.definition.data["axes"].keys()
        if missing:
            raise LeftOut(f"an axis is an expression of {', '.join(sorted(missing))}, which is no axis")

    @staticmethod
    def axis_expression(text):
        """In the language of tasks."""
        tree = ast.parse(text, mode="eval").body
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Div)):
                node.op = ast.Div()
            elif not isinstance(node, (ast.BinOp, ast.Name, ast.Constant, ast.Load, ast.Add, ast.Sub, ast.Mult,
                                       ast.Mod, ast.Div, ast.FloorDiv)):
                raise LeftOut(f"the size '{text}' is no expression of tasks")
        return ast.unparse(tree)

    def read_constraint(self, text):
        """`len_indptr == batch_size + 1` makes an axis an expression; others are checked by running."""
        if ".item()" in text:
            raise LeftOut(f"a size depends on the values of an input: {text}")
        with contextlib.suppress(SyntaxError, LeftOut):
            tree = ast.parse(text, mode="eval").body
            if isinstance(tree, ast.Compare) and isinstance(tree.ops[0], ast.Eq) and len(tree.ops) == 1:
                sides = ast.unparse(tree.left), ast.unparse(tree.comparators[0])
                for name, expression in (sides, sides[::-1]):
                    axes = self.sizes.keys() | self.constants.keys()
                    if name in self.sizes and name not in names_of(expression) <= axes:
                        self.expressions[name] = self.axis_expression(expression)
                        del self.sizes[name]
                        return

    def expanded(self, name, fixed):
        """The size of a dimension as an expression of the variable axes alone. fixed: sizes that do not vary."""
        known = {**self.constants, **fixed}
        if name.isdigit() or name in known:
            return str(known.get(name, name))
        if name in self.sizes:
            return name
        if name not in self.expressions:
            raise LeftOut(f"a shape has '{name}', which is no axis")
        tree = ast.parse(self.expressions[name], mode="eval")

        class Inner(ast.NodeTransformer):
            def visit_Name(inner, node):
                return ast.parse(self.expanded(node.id, fixed), mode="eval").body
        text = ast.unparse(Inner().visit(tree))
        return text if names_of(text) else str(task_file.evaluate(text, {}))

    def shape(self, spec, sizes):
        return [task_file.evaluate(self.expanded(n, {}), sizes) for n in spec["shape"]]

    # ---- workloads ----

    def choose_workloads(self):
        """Those that agree on the scalars: the largest such group."""
        names = [n for n, spec in self.input_specs.items() if spec["shape"] is None]

        def scalars(workload):
            given = workload["inputs"]
            return tuple((n, given[n].get("value")) for n in names if n in given)
        # repr, since True == 1
        groups = Counter(repr(scalars(w)) for w in self.definition.workloads)
        chosen = groups.most_common(1)[0][0] if groups else None
        self.workloads = [w for w in self.definition.workloads if repr(scalars(w)) == chosen]
        if len(groups) > 1:
            self.notes.append(f"of {len(self.definition.workloads)} workloads with {len(groups)} sets of scalars, the "
                              f"task has the scalars of {len(self.workloads)}")
        self.scalars = {}
        for name in names:
            self.scalars[name] = self.scalar(name)
        self.workload_sizes, self.draw_bounds = [], []
        for workload in self.workloads:
            sizes = {n: workload["axes"].get(n) for n in self.sizes}
            if None in sizes.values():
                missing = [n for n, size in sizes.items() if size is None]
                raise LeftOut(f"the workload {workload['uuid']} has no size for {', '.join(missing)}")
            if sizes not in self.workload_sizes and 0 not in sizes.values():  # tasks have no empty tensors
                self.workload_sizes.append(sizes)
        if not self.workload_sizes:
            self.notes.append("there is no workload; sizes and scalars are the importer's")
        self.workload_sizes.sort(key=lambda sizes: self.elements(sizes))
        self.sizes = dict(self.workload_sizes[-1]) if self.workload_sizes else {n: 64 for n in self.sizes}

    def scalar(self, name):
        kinds = set()
        for workload in self.workloads:
            given = workload["inputs"].get(name, {})
            if given.get("type") == "scalar":
                return given["value"]
            kinds.add(given.get("type"))
        if "custom" in kinds:
            return None  # its generator says
        for part, value in OFTEN.items():
            if part in name.lower() and self.input_specs[name]["dtype"].startswith(("float", "bfloat")):
                self.notes.append(f"{name} is {value}, since no workload gives it")
                return value
        raise LeftOut(f"no workload says what the scalar {name} is")

    def elements(self, sizes):
        specs = [*self.input_specs.values(), *self.output_specs.values()]
        return sum(math.prod(self.shape(s, sizes)) for s in specs if s["shape"] is not None)

    # ---- values ----

    @property
    def tensor_names(self):
        return [n for n, spec in self.input_specs.items() if spec["shape"] is not None]

    def choose_values(self):
        self.values, self.structured = {}, {}
        kinds = {n: {w["inputs"].get(n, {}).get("type", "random") for w in self.workloads} for n in self.tensor_names}
        generated = self.generated() if any("custom" in k for k in kinds.values()) else {}
        for name in self.tensor_names:
            floating = TYPES[self.input_specs[name]["dtype"]].is_floating_point
            if name not in generated and "safetensors" in kinds[name]:
                generated[name] = self.stored(name)
            if generated.get(name):
                self.values[name] = self.like_generated(name, generated[name])
            elif floating:
                low_high = task_file.Values("uniform", 0.05, 1.0, ("0.05", "1.0"))
                positive = name in POSITIVE or name.rpartition("_")[2] in POSITIVE
                self.values[name] = low_high if positive else task_file.Values("normal")
            elif self.input_specs[name]["dtype"] == "bool":
                self.values[name] = task_file.Values("integers", 0, 2, ("0", "2"))
            elif "safetensors" in kinds[name]:
                raise LeftOut(f"the integers of {name} are in a safetensors file that is not here")
            elif not self.workloads:
                raise LeftOut(f"no workload says what the integers of {name} are")
            else:
                self.values[name] = task_file.Values("integers", -1024, 1024, ("-1024", "1024"))

    def generated(self):
        """name -> [(sizes, tensor)] of a few draws of the definition's own generator, the first two at equal sizes."""
        entry = self.definition.data.get("custom_inputs_entrypoint")
        generator = self.module(self.source, torch.float32, "cpu").get(entry or "")
        if generator is None:
            raise LeftOut("its workloads have custom inputs, but the definition names no function that makes them")
        smallest = self.workload_sizes[:3]
        if self.elements(smallest[0]) > 4e8:
            raise LeftOut("its generator makes tensors that are too large to draw here")
        draws = {}
        for seed, sizes in enumerate([smallest[0], *smallest]):
            if self.elements(sizes) > 1e8 and seed > 1:
                break
            axes = {n: task_file.evaluate(self.expanded(n, {}), sizes) for n in self.definition.data["axes"]}
            with torch.random.fork_rng(devices=[]), recorded_randint(self.draw_bounds), torch.no_grad():
                torch.manual_seed(seed)
                made = generator({**axes, **self.scalars}, torch.device("cpu"))
            for name, tensor in made.items():
                if name in self.scalars and isinstance(tensor, torch.Tensor):
                    tensor = tensor.item()
                if isinstance(tensor, torch.Tensor):
                    draws.setdefault(name, []).append((sizes, tensor))
                elif name in self.scalars:
                    self.scalars[name] = tensor
        return draws

    def stored(self, name):
        """[(sizes, tensor)] of the first few workloads whose file is there."""
        draws = []
        for workload in self.workloads:
            given = workload["inputs"].get(name, {})
            roots = self.definition.path.parents if given.get("type") == "safetensors" else []
            path = next((root / given["path"] for root in roots if (root / given["path"]).is_file()), None)
            tensor = path and read_tensor(path, given["tensor_key"])
            if tensor is not None and len(draws) < 4:
                draws.append(({n: workload["axes"][n] for n in self.sizes}, tensor))
        return draws

    def like_generated(self, name, draws):
        """Values of a kind that tasks have, in the place of those that a generator or a file gives."""
        tensor = draws[0][1].detach()
        if tensor.is_floating_point():
            finite = tensor.float()[torch.isfinite(tensor)]
            if finite.numel() == 0 or float(finite.abs().max()) == 0:
                self.notes.append(f"{name}: normal, where the definition has zeros or infinities")
                return task_file.Values("normal")
            low, high = float(finite.min()), float(finite.max())
            spread = float(finite.std()) if finite.numel() > 1 else 0.0
            if low >= 0:
                high = max(high, 1e-3)
                low = max(low, high / 50)
                bounds = (low, high) if low < high else (high / 2, high)
            elif high <= 0:
                bounds = (low, min(high, low / 50)) if low < 0 else (-1.0, -0.02)
            elif 0.3 < spread < 3:
                return task_file.Values("normal")
            else:
                bound = max(1.7 * spread, 1e-3)
                bounds = (-bound, bound)
            texts = tuple(f"{b:.4g}" for b in bounds)
            self.notes.append(f"{name}: uniform in {texts[0]} to {texts[1]}, in place of the definition's own")
            return task_file.Values("uniform", *map(float, texts), texts)
        if tensor.dtype == torch.bool:
            return task_file.Values("integers", 0, 2, ("0", "2"))
        return self.integers(name, draws)

    def integers(self, name, draws):
        """Independent integers in bounds. What the generator gives beyond that is kept in `structured`."""
        flat = [t.flatten() for _, t in draws]
        rows = [t.reshape(-1, t.shape[-1]) for _, t in draws if t.dim() > 0 and t.shape[-1] > 1]
        if rows and all(len(row.unique()) == len(row) for t in rows for row in t[:100]):
            self.structured[name] = "differ within each row"
        elif all(len(t) > 2 and bool((t.diff() >= 0).all()) for t in flat):
            self.structured[name] = "are in order"
        highs = [(sizes, self.bounds_of(t)[1]) for sizes, t in draws]
        low = min(self.bounds_of(t)[0] for _, t in draws)
        names = [*self.constants, *self.expressions, *self.sizes]
        fits = [n for n in names if all(task_file.evaluate(self.expanded(n, {}), s) == h for s, h in highs)]
        if fits:
            high, text = highs[0][1], self.expanded(fits[0], {})
        elif len({h for _, h in highs}) == 1:
            high, text = highs[0][1], str(highs[0][1])
        else:
            raise LeftOut(f"the bounds of the integers of {name} are no expression of the axes")
        self.notes.append(f"{name}: independent integers in {low} to {text}, in place of the definition's own")
        return task_file.Values("integers", low, high, (str(low), text))

    def bounds_of(self, tensor):
        """Those of the call that drew it, or its smallest number and one more than its largest."""
        low, high = int(tensor.min()), int(tensor.max()) + 1
        drawn = [b for shape, b in self.draw_bounds if shape == tuple(tensor.shape) and b[0] <= low and b[1] >= high]
        return min(drawn, key=lambda b: b[1] - b[0], default=(low, high))

    def draw(self, sizes, seed):
        """float32, with what the declared types cannot hold rounded away."""
        generator, inputs = torch.Generator().manual_seed(seed), []
        for name in self.tensor_names:
            values, dtype = self.values[name], TYPES[self.input_specs[name]["dtype"]]
            if values.bounds and values.kind == "integers":
                low, high = (task_file.evaluate(b, sizes) for b in values.bounds)
                values = task_file.Values("integers", low, high)
            tensor = values.draw(self.shape(self.input_specs[name], sizes), dtype, generator).to(dtype)
            inputs.append(tensor.float() if dtype.is_floating_point else tensor)
        return inputs

    # ---- running ----

    @staticmethod
    def module(source, floating, device):
        scope = {"__floating__": floating, "__device__": device, "__name__": "reference"}
        exec(compile(source, "reference", "exec"), scope)
        return scope

    def function(self, floating):
        device = torch.get_default_device().type
        if (floating, device) not in self.functions:
            tree = ast.fix_missing_locations(OneType().visit(ast.parse(self.source)))
            self.functions[floating, device] = self.module(tree, floating, device)["run"]
        return self.functions[floating, device]

    def outputs_of(self, result):
        names = list(self.output_specs)
        if isinstance(result, dict):
            result = [result[n] for n in names]
        result = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(result) != len(names):
            raise LeftOut(f"its reference returns {len(result)} values, the definition has {len(names)} outputs")
        for name, tensor in zip(names, result):
            if not isinstance(tensor, torch.Tensor):
                raise LeftOut(f"its reference returns no tensor for {name}")
        return result

    def instance(self, sizes, device="cpu", seed=0):
        if device == "meta":
            inputs = []
            for name in self.tensor_names:
                spec = self.input_specs[name]
                dtype = TYPES[spec["dtype"]]
                dtype = torch.float32 if dtype.is_floating_point else dtype
                inputs.append(torch.empty(self.shape(spec, sizes), dtype=dtype, device="meta"))
            return Function(self, sizes, inputs)
        return Function(self, sizes, self.draw(sizes, seed))

    def in_own_types(self, sizes, seed):
        """The outputs of the unchanged reference, on inputs of the declared types."""
        inputs = iter(self.draw(sizes, seed))
        arguments = [
            self.scalars[n] if n in self.scalars else next(inputs).to(TYPES[spec["dtype"]])
            for n, spec in self.input_specs.items()]
        with torch.no_grad():
            return self.outputs_of(self.module(self.source.replace("cuda", "cpu"), None, None)["run"](*arguments))

    def try_survey(self, sizes, flops=False):
        survey = super().try_survey(sizes, flops)
        declared = [self.shape(spec, sizes) for spec in self.output_specs.values()]
        return survey if survey and survey.outputs == declared else None

    def is_same(self, survey):
        return True
