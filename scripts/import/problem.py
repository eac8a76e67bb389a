"""A KernelBench problem whose sizes can be changed: its module with every integer constant free, run at any sizes.

`Problem.survey` runs a problem on PyTorch's meta device, which computes shapes and no values: any size is cheap.
"""
import ast
import contextlib
import math
import re
import time
import types
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

LARGEST_CONSTANT = 4096  # elements of a tensor whose numbers are written into a text

# Functions whose arguments are sizes. The arguments of torch.randint are bounds as well, and stay as they are.
TENSOR_MAKERS = {"rand", "randn", "zeros", "ones", "empty", "randperm"}

# Sizes with such names belong to the computation, not to the data: changing one makes another problem.
ATTRIBUTE = re.compile(r"kernel|pool|stride|pad|dilat|group|head|num_layers|patch|window|expand_ratio|reduce")

VIEWS = {
    "view", "_unsafe_view", "reshape", "permute", "transpose", "t", "expand", "slice", "select", "unsqueeze", "squeeze",
    "detach", "alias", "split", "split_with_sizes", "chunk", "unbind", "as_strided", "_reshape_alias", "empty",
    "lift_fresh"}
# Operations that need a launch of their own in any reasonable sequence of kernels; the rest can be fused into them.
HEAVY = re.compile(
    r"conv|mm$|addmm|bmm|matmul|norm|softmax|pool|lstm|gru|rnn|sum|mean|max|min|cumsum|prod|argm|logsumexp|sort|topk"
    r"|attention|index|gather|loss|var")
# On the meta device these run as slow decompositions, although their result has the shape of their argument.
SAME_SHAPE = {
    "relu", "hardtanh", "sigmoid", "tanh", "silu", "gelu", "leaky_relu", "elu", "hardswish", "hardsigmoid", "relu6"}
REDUCTION = re.compile(
    r"^(sum|prod|mean|var|std|logsumexp|linalg_vector_norm|norm|avg_pool|_adaptive_avg|nll|mse|smooth_l1)")
NORMALISATION = re.compile(r"^(native_)?(batch|group|layer)_norm|^_native_batch_norm|^_fused_rms_norm")


class AnyDevice(ast.NodeTransformer):
    """Replaces CUDA devices in Python by the name __device__, which a run gives a meaning."""

    def visit_Constant(self, node):
        if isinstance(node.value, str) and re.fullmatch(r"cuda(:\d+)?", node.value):
            return ast.copy_location(ast.Name("__device__", ast.Load()), node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not node.keywords:
            to = ast.Attribute(node.func.value, "to", ast.Load())
            return ast.copy_location(ast.Call(to, [ast.Name("__device__", ast.Load())], []), node)
        return node


class FreeSizes(ast.NodeTransformer):
    """Replaces the integers of the module's constants, and literal sizes in get_inputs, by calls of __size__."""

    def __init__(self):
        self.sizes = {}

    def free(self, name, value):
        self.sizes[name] = value  # a constant that is assigned twice has the last value
        return ast.Call(ast.Name("__size__", ast.Load()), [ast.Constant(name), ast.Constant(value)], [])

    def constant(self, name, node):
        if any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node)):
            return node
        try:
            value = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
        except (TypeError, ValueError, NameError):
            return node
        if type(value) is int:
            return self.free(name, value)
        if isinstance(value, (tuple, list)) and value and all(type(element) is int for element in value):
            kind = ast.Tuple if isinstance(value, tuple) else ast.List
            return kind([self.free(f"{name}_{i}", element) for i, element in enumerate(value)], ast.Load())
        return node

    def assignment(self, node):
        for target in node.targets:  # `height = width = 128` makes two sizes
            value = node.value
            if isinstance(target, ast.Name):
                value = self.constant(target.id, value)
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                parts = zip(target.elts, value.elts)
                value = ast.Tuple([self.constant(part.id, element) for part, element in parts], ast.Load())
            yield ast.copy_location(ast.Assign([target], value), node)

    def literal_sizes(self, function):
        for call in [node for node in ast.walk(function) if isinstance(node, ast.Call)]:
            if getattr(call.func, "attr", "") not in TENSOR_MAKERS:
                continue
            whole = len(call.args) == 1 and isinstance(call.args[0], (ast.Tuple, ast.List))
            arguments = call.args[0].elts if whole else call.args
            for i, argument in enumerate(arguments):
                if isinstance(argument, ast.Constant) and type(argument.value) is int and argument.value > 1:
                    name = f"size_{i}"
                    if self.sizes.get(name, argument.value) != argument.value:
                        name = f"size_{i}_{argument.value}"
                    arguments[i] = self.free(name, argument.value)

    def visit_Module(self, tree):
        body = []
        for node in tree.body:
            if isinstance(node, ast.Assign):
                body.extend(self.assignment(node))
                continue
            if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
                self.literal_sizes(node)
            body.append(node)
        tree.body = body
        return tree


def is_constant(tensor):
    return tensor.dim() > 0 and tensor.numel() > 0 and bool((tensor == tensor.flatten()[0]).all())


def is_triangle(tensor):
    return tensor.dim() >= 2 and torch.equal(tensor, torch.ones_like(tensor).tril())


def tensors(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


class Meter(TorchDispatchMode):
    """Counts what a forward pass on the meta device does."""

    def __init__(self):
        super().__init__()
        self.flops = 0  # in addition to those that PyTorch counts
        self.largest = self.total = self.heavy = self.operations = 0
        self.terms = 1
        self.names = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        out = self.result(name, args)
        if out is None:
            out = function(*args, **(kwargs or {}))
        self.names.add(name)
        if name not in VIEWS:
            self.operations += 1
            self.heavy += bool(HEAVY.search(name))
            elements = sum(tensor.numel() for tensor in tensors(out))
            if not name.endswith("_"):
                self.total += elements
                self.largest = max(self.largest, elements)
            self.terms = max(self.terms, self.longest_sum(name, args, tensors(out)))
        return out

    @staticmethod
    def result(name, args):
        """What needs no decomposition, or None."""
        if name == "native_batch_norm":
            channels = args[0].shape[1]
            if args[0].numel() <= channels:
                return None  # an error that a user sees comes from the operation itself
            return torch.empty_like(args[0]), args[0].new_empty(channels), args[0].new_empty(channels)
        if name.rstrip("_") in SAME_SHAPE:
            return args[0] if name.endswith("_") else torch.empty_like(args[0])
        return None

    @staticmethod
    def longest_sum(name, args, out):
        """How many terms are added, or factors multiplied, to make an element of the result."""
        given = tensors(args)
        if not given or not out:
            return 1
        if name in ("mm", "bmm", "addmm", "baddbmm"):
            return given[-1].shape[-2]
        if name in ("convolution", "conv_transpose2d"):
            return given[1].numel() // given[1].shape[1 if args[6] else 0]
        if name in ("_softmax", "_log_softmax", "cumsum", "cumprod", "logcumsumexp"):
            return given[0].shape[args[1]] if given[0].dim() else 1
        if NORMALISATION.search(name):
            statistics = min((tensor.numel() for tensor in out if tensor.numel()), default=1)
            return given[0].numel() // statistics
        if REDUCTION.search(name):
            return given[0].numel() // max(out[0].numel(), 1)
        return 1


class RecurrentShapes(TorchFunctionMode):
    """The shapes of LSTM and GRU without their steps, of which there can be thousands."""

    def __init__(self, meter):
        super().__init__()
        self.meter = meter

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") not in ("lstm", "gru") or len(args) != 9:
            return function(*args, **(kwargs or {}))
        x, state, weights, _, layers, _, _, bidirectional, batch_first = args
        states = state if isinstance(state, (tuple, list)) else [state]
        directions = 2 if bidirectional else 1
        steps = x.shape[1 if batch_first else 0]
        self.meter.names.add(function.__name__)
        self.meter.heavy += steps * layers * directions
        self.meter.operations += steps * layers * directions
        rows = x.numel() // x.shape[-1]
        self.meter.flops += sum(2 * rows * w.numel() for w in weights if w.dim() == 2)
        self.meter.terms = max([self.meter.terms, *(w.shape[-1] for w in weights if w.dim() == 2)])
        return (x.new_empty(*x.shape[:-1], directions * states[0].shape[-1]), *map(torch.empty_like, states))


@dataclass
class Instance:
    """A problem at some sizes: the model, the arguments of forward, and the tensors that the model holds."""
    model: nn.Module
    arguments: list
    weights: dict  # name -> tensor: parameters, statistics, and random tensors kept in attributes
    aliases: dict  # name -> further names of the same tensor
    constants: dict  # name -> tensor: those that stay in the model
    bounds: dict   # position among the tensor inputs -> (low, high) of its integers

    @property
    def inputs(self):
        return [argument for argument in self.arguments if isinstance(argument, torch.Tensor)]

    def run(self, inputs, weights, dtype=None):
        """forward with these tensors in the places of the inputs and of the weights; `dtype` is that of constants."""
        if dtype:
            place(self.model, self.aliases, {
                name: t.to(dtype) for name, t in self.constants.items() if t.is_floating_point()})
        place(self.model, self.aliases, dict(zip(self.weights, weights)))
        given = iter(inputs)
        arguments = [next(given) if isinstance(a, torch.Tensor) else a for a in self.arguments]
        return [t for t in tensors(self.model(*arguments))]


def place(model, aliases, weights):
    """Puts plain tensors where the parameters are: torch.func.functional_call can be exported but not traced."""
    for name, tensor in weights.items():
        for alias in [name, *aliases.get(name, [])]:
            path, _, leaf = alias.rpartition(".")
            owner = model.get_submodule(path)
            owner._parameters.pop(leaf, None)
            owner._buffers.pop(leaf, None)
            setattr(owner, leaf, tensor)  # nn.LSTM keeps a list of its weights up to date here


@dataclass
class Survey:
    inputs: list
    input_types: list
    weights: dict
    weight_types: list
    outputs: list
    output_types: list
    bounds: dict
    largest: int
    total: int
    heavy: int
    operations: int
    terms: int
    flops: int
    names: set = field(repr=False)

    @property
    def activations(self):
        return sum(map(math.prod, self.inputs)) + sum(map(math.prod, self.outputs))

    @property
    def memory(self):  # elements of all tensors that a kernel sees
        return self.activations + sum(map(math.prod, self.weights.values()))

    @property
    def elements(self):
        return self.memory + self.total

    @property
    def tensors(self):
        return [*self.inputs, *self.outputs, *self.weights.values()]


@contextlib.contextmanager
def recorded_randint(record):
    """The bounds of random integers appear nowhere but in the call that draws them."""
    original = torch.randint

    def randint(*args, **kwargs):
        numbers = [a for a in args if isinstance(a, int)]
        low, high = (numbers + [kwargs.get("high")])[:2] if len(numbers) == 2 or "low" in kwargs else (0, *numbers[:1])
        out = original(*args, **kwargs)
        record.append((tuple(out.shape), (low, high)))
        return out
    torch.randint = randint
    try:
        yield
    finally:
        torch.randint = original


class Sized:
    """A problem that can be run at other sizes. Derived classes have

    sizes                          the published size of each name
    published                      the survey of those, or None as yet
    instance(sizes, device, seed)  an Instance
    is_same(survey)                whether what ran was the same problem
    """

    def survey(self, sizes, flops=False):
        instance = self.instance(sizes, "meta")
        meter, counter = Meter(), FlopCounterMode(display=False) if flops else contextlib.nullcontext()
        with torch.device("meta"), torch.no_grad(), counter, meter, RecurrentShapes(meter):
            outputs = instance.run(instance.inputs, instance.weights.values())
        return Survey(
            inputs=[list(t.shape) for t in instance.inputs], input_types=[t.dtype for t in instance.inputs],
            weights={name: list(t.shape) for name, t in instance.weights.items()},
            weight_types=[t.dtype for t in instance.weights.values()],
            outputs=[list(t.shape) for t in outputs], output_types=[t.dtype for t in outputs], bounds=instance.bounds,
            largest=meter.largest, total=meter.total, heavy=meter.heavy, operations=meter.operations, terms=meter.terms,
            flops=counter.get_total_flops() + meter.flops if flops else 0, names=meter.names)

    def try_survey(self, sizes, flops=False):
        """None where the model does not run, or where it is another one."""
        try:
            survey = self.survey(sizes, flops)
        except Exception:  # whatever a model raises: the sizes do not fit together
            return None
        return survey if self.is_same(survey) and all(math.prod(shape) for shape in survey.outputs) else None

    # ---- other sizes ----

    def faster(self, sizes, limit=0.15, deadline=15.0):
        """Sizes at which a survey takes at most `limit` seconds: a loop over time steps makes it slow."""
        start = began = time.process_time()
        base = self.try_survey(sizes)
        while base and time.process_time() - start > limit and time.process_time() - began < deadline:
            for name in sorted(sizes, key=lambda name: -sizes[name]):
                smaller = {**sizes, name: sizes[name] // 4}
                start = time.process_time()
                survey = self.try_survey(smaller) if sizes[name] >= 16 else None
                if survey and survey.operations < base.operations:
                    sizes, base = smaller, survey
                    break
            else:
                break
        return sizes

    def shrink(self, sizes, groups, fits, least=2, deadline=20.0):
        """Divides the largest size of a group by 4 or by 2 until `fits`; a later group only if the earlier do not do.

        Returns the sizes, their survey, and whether they fit.
        """
        began = time.process_time()
        survey = self.try_survey(sizes, flops=True)
        for group in groups:
            frozen = set()
            while survey and not fits(survey) and time.process_time() - began < deadline:
                candidates = [name for name in group if name not in frozen and sizes[name] > least]
                if not candidates:
                    break
                name = max(candidates, key=lambda name: sizes[name])
                for divisor in (4, 2):
                    smaller = {**sizes, name: max(sizes[name] // divisor, least)}
                    other = self.try_survey(smaller, flops=True)
                    if other and (other.elements < survey.elements or other.flops < survey.flops):
                        sizes, survey = smaller, other
                        break
                else:
                    frozen.add(name)
        return sizes, survey, bool(survey) and fits(survey)

    def moved(self, sizes, names, steps):
        """Each of the names at a nearby size that no other axis has, where the problem still runs."""
        sizes, changed = dict(sizes), []
        for name in names:
            taken = {size for other, size in sizes.items() if other != name}
            nearby = [sizes[name] + step for step in steps] + [sizes[name] * 2, sizes[name] * 3]
            for other in sorted(nearby, key=lambda size: size in taken):
                if self.try_survey({**sizes, name: other}):
                    sizes[name] = other
                    changed.append(name)
                    break
        return sizes, changed


class Problem(Sized):
    """`path` is named in errors, `key` in the seeds of what is drawn."""

    def __init__(self, source, path, key):
        self.source, self.key = source, key
        self.tree = ast.parse(self.source)
        visitor = FreeSizes()
        tree = visitor.visit(AnyDevice().visit(ast.parse(self.source)))
        self.code = compile(ast.fix_missing_locations(tree), str(path), "exec")
        self.sizes = visitor.sizes
        self.ties = {}   # size -> the size that it has to equal
        self.dropout = False
        self.batch_statistics = False
        self.published = None  # the survey of the published sizes
        self.models = {}
        self.constant = set()  # tensors of the model that do not become inputs, as they are always the same
        classes = "\n".join(ast.unparse(n) for n in self.tree.body if isinstance(n, ast.ClassDef))
        self.in_classes = [name for name in self.sizes if re.search(rf"\b{re.escape(name)}\b", classes)]

    def tie(self, name, leader):
        self.ties[name] = leader
        del self.sizes[name]

    def scope(self, sizes):
        all_sizes = {**sizes, **{name: sizes[leader] for name, leader in self.ties.items() if leader in sizes}}
        module = types.ModuleType("kernelbench_problem")
        module.__dict__["__size__"] = lambda name, published: all_sizes.get(name, published)
        module.__dict__["__device__"] = torch.empty(0).device
        exec(self.code, module.__dict__)
        return module.__dict__

    def construct(self, scope, sizes, device):
        """The model with its tensors, possibly that of an earlier call: what `run` uses of it does not change."""
        arguments = scope["get_init_inputs"]()
        key = (device, repr(arguments), tuple(sizes.get(name) for name in self.in_classes))
        if key in self.models:
            return self.models[key]
        model = scope["Model"](**arguments) if isinstance(arguments, dict) else scope["Model"](*arguments)
        for module in model.modules():
            self.make_deterministic(module)
        if device == "meta":
            to_meta(model)  # what the constructor made by other means than PyTorch's functions
        else:  # one at a time: a model can be large
            self.models = {k: made for k, made in self.models.items() if k[0] == "meta"}
        self.models[key] = (model, *held_tensors(model))
        return self.models[key]

    def make_deterministic(self, module):
        if isinstance(module, nn.modules.dropout._DropoutNd) and module.p > 0:
            module.p, self.dropout = 0.0, True
        if isinstance(getattr(module, "dropout", None), float) and module.dropout > 0:
            module.dropout, self.dropout = 0.0, True
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.training and module.track_running_stats:
            # In training the statistics are written and not used. Without them the output is the same.
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
            self.batch_statistics = True

    def instance(self, sizes, device="cpu", seed=0):
        record = []
        with torch.device(device), recorded_randint(record), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            scope = self.scope(sizes)
            try:
                model, weights, aliases = self.construct(scope, sizes, device)
            except RuntimeError as error:
                if device != "meta" or "item" not in str(error):
                    raise
                with torch.device("cpu"):  # the constructor looks at values
                    model, weights, aliases = self.construct(scope, sizes, device)
            torch.manual_seed(seed + 1)
            arguments = list(scope["get_inputs"]())
        if device == "meta":
            arguments = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in arguments]
        constants = {name: tensor for name, tensor in weights.items() if name in self.constant}
        weights = {name: tensor for name, tensor in weights.items() if name not in self.constant}
        bounds = {}
        for position, tensor in enumerate(a for a in arguments if isinstance(a, torch.Tensor)):
            if not tensor.is_floating_point():
                found = [b for shape, b in record if shape == tuple(tensor.shape)]
                bounds[position] = (0, 2) if tensor.dtype == torch.bool or not found else found[-1]
        return Instance(model, arguments, weights, aliases, constants, bounds)

    def find_constants(self, sizes):
        """Tensors that are neither learnt nor statistics nor drawn at random, such as masks: they stay in the model.

        One that is too large to be written into a text becomes an input all the same.
        """
        made = []
        for seed in (1, 2):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                made.append(self.construct(self.scope(sizes), sizes, "cpu"))
                self.models.clear()
        (model, one, _), (_, other, _) = made
        parameters = {id(p) for p in model.parameters()}
        self.constant = {
            name for name, tensor in one.items()
            if id(tensor) not in parameters and "running_" not in name and torch.equal(tensor, other[name])
            and (tensor.numel() <= LARGEST_CONSTANT or is_constant(tensor) or is_triangle(tensor))}

    def has_other_tensors(self, sizes):
        """Whether the model holds anything but parameters."""
        instance = self.instance(sizes, "meta")
        return any(not isinstance(t, nn.Parameter) for t in instance.weights.values())

    def is_same(self, survey):
        """Without more tensors, and without a view(-1, …) that makes several rows of one."""
        like = self.published
        return survey.weights.keys() == like.weights.keys() and (self.keeps_rows(survey) or not self.keeps_rows(like))

    @staticmethod
    def keeps_rows(survey):
        return bool(survey.inputs) and survey.inputs[0][:1] == survey.outputs[0][:1]

    # ---- which sizes are axes ----

    def kinds(self, sizes):
        """free: changes inputs but no weight. width: changes weights. attribute: belongs to the computation."""
        base = self.survey(sizes)
        kinds = {}
        for name, size in sizes.items():
            is_attribute = size < 1 or ATTRIBUTE.search(name) or name == "dim" and size < 8  # of a reduction
            kinds[name] = "attribute" if is_attribute else "stuck"
            for other in (size + 1, size * 2, size + 8, max(size // 2, 1), size + 32):
                if kinds[name] == "attribute":
                    break
                moved = self.try_survey({**sizes, name: other}) if other != size else None
                if moved is None:
                    continue
                if moved.weights != base.weights:
                    kinds[name] = "width"
                else:
                    kinds[name] = "free" if moved.inputs != base.inputs else "attribute"
                break
        return kinds

    def tie_stuck_sizes(self, sizes, kinds):
        """Two equal sizes that can only be changed together are one axis."""
        stuck = [name for name, kind in kinds.items() if kind == "stuck"]
        for name in list(sizes):
            for leader in stuck:
                if name == leader or kinds.get(name) not in ("stuck", "free") or self.sizes[name] != self.sizes[leader]:
                    continue
                size = sizes[leader] + 3
                if self.try_survey({**sizes, name: size, leader: size}):
                    self.tie(name, leader)
                    return True
        return False


def to_meta(model):
    """`Module.to`, for tensors in plain attributes as well."""
    model.to("meta")
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor):
                setattr(module, name, value.to("meta"))
    return model


def held_tensors(model):
    """Every tensor of the model by its first name, and the further names of those that have several."""
    first, weights, aliases = {}, {}, {}

    def add(name, tensor):
        if not isinstance(tensor, torch.Tensor):
            return
        if id(tensor) in first:
            if name != first[id(tensor)]:
                aliases.setdefault(first[id(tensor)], []).append(name)
            return
        first[id(tensor)] = name
        weights[name] = tensor
    for name, tensor in model.named_parameters(remove_duplicate=False):
        add(name, tensor)
    for name, tensor in model.named_buffers(remove_duplicate=False):
        add(name, tensor)
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            add(f"{path}.{name}" if path else name, value)
    return weights, aliases
