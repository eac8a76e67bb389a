"""TorchScript text of a model: `def run(inputs…, weights…)` from torch.export, or from a trace.

The text uses only what the C++ compiler of TorchScript knows by itself, where `torch.NAME` is the operator aten::NAME:
no module, no torch.nn.functional, no torch.float32. `compile_text` compiles with the same names.
"""
import contextlib
import json
import math
import operator
import re

import torch
from torch.utils import _pytree as pytree

from problem import LARGEST_CONSTANT, is_constant, is_triangle, tensors

INFIX = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.floordiv: "//", operator.mod: "%",
    operator.truediv: "/", operator.pow: "**", operator.eq: "==", operator.ne: "!=", operator.lt: "<",
    operator.le: "<=", operator.gt: ">", operator.ge: ">="}
TYPE_NUMBERS = {
    torch.uint8: 0, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float64: 7, torch.bool: 11,
    torch.bfloat16: 15}
MEMORY_FORMATS = {
    torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2, torch.channels_last_3d: 3}
ASSERTIONS = re.compile(r"_assert|sym_constrain|_check|profiler")
MANY_WEIGHTS = 30       # from here on torch.export's solver of shapes takes long; such models have few sizes in weights


class Unprintable(Exception):
    """The model cannot be written as text; the message says why."""


def compile_text(text):
    """The function `run` of a text, or RuntimeError. Only operators can be named, as in the C++ compiler."""
    unit = torch._C.CompilationUnit()
    unit.define(text, lambda name: torch.ops.aten if name == "torch" else None)
    return unit.find_function("run")


@contextlib.contextmanager
def plain_interpreter():
    """No optimisation: a text runs a few times only. Put back, because tracing needs it."""
    profiling, optimise = torch._C._jit_set_profiling_mode(False), torch._C._get_graph_executor_optimize()
    torch._C._set_graph_executor_optimize(False)
    try:
        yield
    finally:
        torch._C._jit_set_profiling_mode(profiling)
        torch._C._set_graph_executor_optimize(optimise)


def run_text(function, arguments):
    with plain_interpreter(), torch.no_grad():
        return tensors(function(*arguments))


class Printer:
    """Prints values as TorchScript. Types and devices are those of an input, so that float64 and CUDA work as well."""

    def __init__(self, names, arguments):
        """The names of the arguments and the tensors."""
        floating = [n for n, a in zip(names, arguments) if a.is_floating_point()]
        self.floating = (floating or names)[0]
        self.float_type = f"{self.floating}.dtype" if floating else str(TYPE_NUMBERS[torch.float64])

    def number(self, value):
        if isinstance(value, float) and not math.isfinite(value):
            return f"float('{value}')"
        return repr(value)

    def dtype(self, dtype):
        if dtype == torch.float32:
            return self.float_type
        if dtype not in TYPE_NUMBERS:
            raise Unprintable(f"it uses the type {dtype}")
        return str(TYPE_NUMBERS[dtype])

    def tensor(self, tensor):
        """A constant tensor."""
        options = f"dtype={self.dtype(tensor.dtype)}, device={self.floating}.device"
        tensor = tensor.detach().cpu()
        shape = list(tensor.shape)
        if is_constant(tensor):
            return f"torch.full({shape}, {self.number(tensor.flatten()[0].item())}, {options})"
        if is_triangle(tensor):
            return f"torch.tril(torch.ones({shape}, {options}))"
        if tensor.numel() > LARGEST_CONSTANT:
            raise Unprintable(f"it holds a constant tensor of {tensor.numel():,} elements")
        values = json.dumps(tensor.tolist()).replace("-Infinity", "float('-inf')").replace("Infinity", "float('inf')")
        return f"torch.tensor({values.replace('true', 'True').replace('false', 'False')}, {options})"


def signature(names, squeezed):
    """The head of the function. A task has no tensors of rank 0: those have one element, and lose their dimension."""
    return f"def run({', '.join(names)}):\n" + "".join(f"    {name} = torch.squeeze({name}, 0)\n" for name in squeezed)


def returned(names, scalar):
    return "    return " + ", ".join(f"torch.unsqueeze({n}, 0)" if s else n for n, s in zip(names, scalar)) + "\n"


def with_copies(text, names):
    """The text with copies of the arguments that it writes to."""
    head, _, body = text.partition(":\n") if "->" not in text else text.partition("Tensor:\n")
    indent = re.match(r" *", body).group()
    copies = "".join(f"{indent}{name} = torch.clone({name})\n" for name in names)
    return head + (":\n" if "->" not in text else "Tensor:\n") + copies + body


def with_scalars(text, scalars):
    """The text with numbers as further arguments, which it does not use. scalars: name -> number."""
    added = "".join(f", {name}: {type(value).__name__}" for name, value in scalars.items())
    return re.sub(r"^(def run\(.*?)\)(?=:| ->)", lambda match: match.group(1) + added + ")", text, count=1, flags=re.S)


# ---- torch.export ----


class Lifted(torch.nn.Module):
    """A model with its weights as arguments."""

    def __init__(self, instance):
        super().__init__()
        self.held = [instance]  # in a list, so that its parameters are not this module's
        self.train(instance.model.training)

    def forward(self, *arguments):
        count = len(self.held[0].inputs)
        return self.held[0].run(arguments[:count], arguments[count:])


def exported_text(instance, names, varies):
    """varies: for every argument, which of its dimensions have another size at other sizes of the axes."""
    weights = [w.detach().clone() for w in instance.weights.values()]
    arguments = (*instance.inputs, *weights)
    if len(weights) > MANY_WEIGHTS:
        varies = varies[:len(instance.inputs)] + [[] for _ in weights]
    shapes = tuple({d: torch.export.Dim.AUTO for d, other in enumerate(sizes) if other} for sizes in varies)
    program = torch.export.export(Lifted(instance), arguments, dynamic_shapes=(shapes,), strict=False)
    return ExportPrinter(program, names, arguments).text()


class ExportPrinter(Printer):
    def __init__(self, program, names, arguments):
        super().__init__(names, arguments)
        self.program, self.arguments, self.argument_names = program, arguments, names
        self.names = {}       # node -> its text
        self.taken = set(names)
        self.unpacked = set()  # nodes whose several results have names of their own
        self.lines = []

    def text(self):
        squeezed = [n for n, a in zip(self.argument_names, self.arguments) if a.dim() == 0]
        specs = {spec.arg.name: spec for spec in self.program.graph_signature.input_specs}
        given = iter(self.argument_names)
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                spec = specs[node.name]
                if spec.kind.name == "USER_INPUT":
                    self.names[node] = next(given)
                else:
                    self.assign(node, self.tensor(self.program.constants[spec.target]))
            elif node.op == "call_function":
                self.call(node)
            elif node.op == "output":
                result = self.result(node)
            else:
                raise Unprintable(f"its graph has a node of kind {node.op}")
        body = "".join(f"    {line}\n" for line in self.lines)
        return signature(self.argument_names, squeezed) + body + result

    def result(self, node):
        outputs = [s for s in self.program.graph_signature.output_specs if s.kind.name == "USER_OUTPUT"]
        leaves = pytree.tree_leaves(node.args[0], is_leaf=lambda leaf: isinstance(leaf, torch.fx.Node))
        nodes = [leaf for leaf in leaves if isinstance(leaf, torch.fx.Node)][-len(outputs):]
        return returned([self.names[n] for n in nodes], [n.meta["val"].dim() == 0 for n in nodes])

    def assign(self, node, text):
        name = node.name
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        self.names[node] = name
        self.lines.append(f"{name} = {text}")

    def value(self, value):
        if isinstance(value, torch.fx.Node):
            return self.names[value]
        if isinstance(value, torch.dtype):
            return self.dtype(value)
        if isinstance(value, torch.device):
            return f"{self.floating}.device"
        if isinstance(value, torch.memory_format):
            return str(MEMORY_FORMATS[value])
        if isinstance(value, torch.layout):
            return "0"
        if value is None or isinstance(value, (bool, int, float)):
            return self.number(value)
        if isinstance(value, str):
            return json.dumps(value)
        if isinstance(value, (list, tuple)):
            if not value:  # the type of an empty list has to be named, which only an assignment can
                name = f"empty_{len(self.lines)}"
                self.lines.append(f"{name}: List[int] = []")
                return name
            return "[" + ", ".join(map(self.value, value)) + "]"
        raise Unprintable(f"an operator has an argument of type {type(value).__name__}")

    def call(self, node):
        function = node.target
        name = getattr(function, "__name__", str(function))
        if ASSERTIONS.search(str(function)):
            return
        if function in INFIX:
            self.assign(node, f"{self.value(node.args[0])} {INFIX[function]} {self.value(node.args[1])}")
        elif function is operator.neg:
            self.assign(node, f"-{self.value(node.args[0])}")
        elif function is operator.getitem:
            source, index = node.args
            name = self.names[source]
            self.names[node] = f"{name}_{index}" if source in self.unpacked else f"{name}[{index}]"
        elif name.startswith("sym_size"):
            self.assign(node, f"torch.size({self.value(node.args[0])}, {node.args[1]})")
        elif name == "sym_float":
            self.assign(node, f"float({self.value(node.args[0])})")
        elif name in ("sym_max", "sym_min"):
            self.assign(node, f"{name[4:]}({', '.join(map(self.value, node.args))})")
        elif isinstance(function, torch._ops.OpOverload) and function.namespace == "aten":
            self.operator(node, function)
        else:
            raise Unprintable(f"it calls {function}")

    def operator(self, node, function):
        name = function._schema.name.split("::")[1]
        parts = [self.value(a) for a in node.args]
        parts += [f"{k}={self.value(a)}" for k, a in node.kwargs.items() if k not in ("pin_memory", "layout")]
        if name == "lift_fresh_copy":
            self.names[node] = parts[0]
            return
        if name == "layer_norm" and len(parts) > 2 and node.args[2] is not None:
            parts[1] = f"torch.size({parts[2]})"  # the module's normalized_shape, which is a constant
        makes = node.meta["val"].dtype if isinstance(node.meta.get("val"), torch.Tensor) else None
        if makes == torch.float32 and "dtype" not in node.kwargs and not any(
                isinstance(a, torch.fx.Node) and isinstance(a.meta.get("val"), torch.Tensor) for a in node.args):
            if any(argument.name == "dtype" for argument in function._schema.arguments):
                parts.append(f"dtype={self.float_type}")  # instead of the default type
        self.assign(node, f"torch.{name}({', '.join(parts)})")
        if len(function._schema.returns) > 1:
            results = [f"{self.names[node]}_{i}" for i in range(len(function._schema.returns))]
            self.taken.update(results)
            self.unpacked.add(node)
            self.lines[-1] = f"{', '.join(results)} = torch.{name}({', '.join(parts)})"


# ---- trace ----


def traced_text(instance):
    """The arguments keep the names of the trace; a task's inputs are given in order."""
    arguments = (*instance.inputs, *(w.detach().clone() for w in instance.weights.values()))
    if any(a.dim() == 0 for a in arguments):
        raise Unprintable("its trace has an argument of rank 0")
    count = len(instance.inputs)
    scalars = []

    def run(*given):
        outputs = instance.run(given[:count], given[count:])
        scalars[:] = [t.dim() == 0 for t in outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)
    with torch.no_grad():
        traced = torch.jit.trace(run, arguments, check_trace=False)
    head, _, body = traced.code.partition(") ->")
    parameters = re.findall(r"(\w+): Tensor", head)
    printer = Printer(parameters, arguments)
    constants = [n.t("value") for n in traced.graph.findAllNodes("prim::Constant", recurse=True)
                 if n.hasAttribute("value") and n.kindOf("value") == "t"]
    body = body[body.index(":\n") + 2:]
    body = re.sub(r"CONSTANTS\.c(\d+)", lambda match: printer.tensor(constants[int(match.group(1))]), body)
    body = re.sub(r"ops\.prim\.NumToTensor\((.*?)\)(?=[\s,)\]])", r"\1", body)
    # _convolution names the flags of cuDNN in addition, among them that TF32 is allowed
    body = re.sub(r"torch\._convolution\(([^()]*?)" + r",\s*(?:True|False)" * 4 + r"\)", r"torch.convolution(\1)", body)
    body = body.replace("ops.aten.", "torch.")
    body = re.sub(r"torch\.device\(\"\w+(:\d+)?\"\)", f"{printer.floating}.device", body)
    body = re.sub(r"\bdtype=6\b", f"dtype={printer.float_type}", body)
    unknown = re.search(r"\bops\.[\w.]+|CONSTANTS\.\w+|__torch__[\w.]*", body)
    if unknown:
        raise Unprintable(f"its trace uses {unknown.group()}")
    lines, _, result = body.rstrip().rpartition("  return ")
    results = result.strip("()").split(", ") if len(scalars) > 1 else [result]
    return signature(parameters, []) + lines + returned(results, scalars)[2:]
