"""From a PyTorch module with get_inputs and get_init_inputs to a task: what the importers of such modules share."""
import ast
import inspect

import torch

import task_file
from importer import MOST_LAUNCHES, Importer

LINEAR = {
    "convolution", "mm", "bmm", "addmm", "mul", "add", "t", "transpose", "permute", "view", "_unsafe_view", "reshape",
    "expand", "unsqueeze", "squeeze", "clone", "detach", "triu", "tril"}


class ModuleImporter(Importer):
    """Derived classes have title, origin(), task_id() and task_path()."""

    def __init__(self, problem, report):
        super().__init__(problem, report)
        self.report["title"] = self.title

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

    def tier(self):
        return int(bool({"convolution", "mm", "bmm", "addmm"} & self.case_survey.names))

    def comments(self):
        sizes = {self.axis_names.get(n, n): v for n, v in self.problem.sizes.items()}
        lines = [*self.origin(), f"published: {task_file.table(sizes)}"]
        if self.report["contract"] == "host":
            launches = f"{self.published.heavy} operations that need a launch each; directives allow {MOST_LAUNCHES}"
            lines.append(f"contract: host ({launches})")
        if not self.report["fits_cpu"]:
            lines.append("Its case is too large for the cpu backend.")
        return lines + [f"degenerate: {flag}" for flag in self.report["degenerate"]]
