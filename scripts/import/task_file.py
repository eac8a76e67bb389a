"""The text of a kernelrl task file (docs/tasks.md) and its parts: expressions of the axes, kinds of values."""
import itertools
import json
import keyword
import math
import re
from dataclasses import dataclass
from fractions import Fraction

import numpy
import torch
from torch import nn

# Names that mean something in launch directives, in expressions, in C++ or in CUDA.
RESERVED = set("""
    dim3 min max ceil_div next_pow2 abs exp log sqrt pow and or not size torch run
    alignas alignof asm auto bool break case catch char class const constexpr continue default delete do double else
    enum explicit export extern false float for friend goto if inline int long mutable namespace new operator private
    protected public register return short signed sizeof static struct switch template this throw true try typedef
    typename union unsigned using virtual void volatile wchar_t while threadIdx blockIdx blockDim gridDim warpSize half
    """.split())


def identifier(name, taken, prefix):
    """A name for a task: valid in C++, Python and launch directives, and different from those taken."""
    name = re.sub(r"\W", "_", name)
    if name in RESERVED or keyword.iskeyword(name) or name in taken or not name[0].isalpha():
        name = f"{prefix}_{name.strip('_')}"
    while name in taken:
        name += "_"
    taken.add(name)
    return name


# ---- expressions ----


def evaluate(expression, sizes):
    """On integers, where `/` is a division of positive numbers that drops the rest."""
    return eval(expression.replace("/", "//"), {"__builtins__": {}}, dict(sizes))


def shifted(name, offset):
    return name if offset == 0 else f"{name} {'+' if offset > 0 else '-'} {abs(offset)}"


def product(factors):
    """Of texts, each in parentheses where it needs them if it is not alone."""
    factors = [f for f in factors if f != "1"] or ["1"]
    if len(factors) == 1:
        return factors[0]
    return " * ".join(f"({f})" if re.search("[-+/]", f) else f for f in factors)


def factors_of_one(name, points):
    """points: [(size, value)]. Expressions a * ((size + c) / d)^p + b of one axis in proportion to the values, with
    what they are at the first point; simple ones first.
    """
    value = points[0][1]
    for power, divisor in itertools.product((1, 2, 3), (*range(1, 17), 32, 64)):
        for offset in sorted(range(1 - divisor, divisor), key=abs):
            bases = [((size + offset) // divisor) ** power for size, _ in points]
            other = next((i for i, (_, v) in enumerate(points) if v != value), None)
            if other is None or bases[other] == bases[0]:
                continue
            changed = points[other][1]
            # (base + b) / (other base + b) is the ratio of the values
            constant = Fraction(changed * bases[0] - value * bases[other], value - changed)
            factor, rest = constant.denominator, constant.numerator
            expected = factor * bases[0] + rest
            if expected <= 0 or any((factor * b + rest) * value != v * expected for b, (_, v) in zip(bases, points)):
                continue
            inner = shifted(name, offset)
            if divisor > 1:
                inner = f"{inner} / {divisor}" if offset == 0 else f"({inner}) / {divisor}"
            yield shifted(product([str(factor)] + [inner] * power), rest), expected


def fit_product(names, value, alone, holds):
    """A number times an expression of each axis."""
    candidates = [list(itertools.islice(factors_of_one(name, alone[name]), 6)) for name in names]
    for chosen in itertools.islice(itertools.product(*candidates), 500):
        whole = math.prod(at_base for _, at_base in chosen)
        text = product([str(value // whole), *(text for text, _ in chosen)])
        if value % whole == 0 and holds(text):
            return text
    return None


def fit_polynomial(names, samples):
    """Sums and products with integer factors."""
    products = [p for n in range(1, len(names) + 1) for p in itertools.combinations(names, n)]
    squares = [(name, name) for name in names]
    linear = [(), *((name,) for name in names)]
    for monomials in ([tuple(names)], linear, [(), *products], [(), *products, *squares]):
        if len(samples) < len(monomials):
            continue
        matrix = numpy.array([[math.prod(sizes[n] for n in m) for m in monomials] for sizes, _ in samples], dtype=float)
        scale = numpy.abs(matrix).max(axis=0)
        factors, *_ = numpy.linalg.lstsq(matrix / scale, numpy.array([v for _, v in samples], dtype=float), rcond=None)
        terms = [(round(f), m) for f, m in zip(factors / scale, monomials) if round(f)]
        if not terms or any(sum(f * math.prod(s[n] for n in m) for f, m in terms) != v for s, v in samples):
            continue
        text = ""
        for factor, monomial in sorted(terms, key=lambda term: not term[1]):  # the constant last
            product = " * ".join(([str(abs(factor))] if abs(factor) != 1 or not monomial else []) + list(monomial))
            text += (" - " if factor < 0 else " + ") + product
        return text[3:] if text.startswith(" + ") else "-" + text[3:]
    return None


def one_at_a_time(samples, names):
    """axis -> [(size, value)] of the base and of the samples that differ from it in this axis only."""
    base, value = samples[0]
    alone = {name: [(base[name], value)] for name in names}
    for sizes, v in samples:
        changed = [n for n in names if sizes[n] != base[n]]
        if len(changed) == 1:
            alone[changed[0]].append((sizes[changed[0]], v))
    return alone


def relevant(samples, names):
    """The axes on which the value depends."""
    alone = one_at_a_time(samples, names)
    return [name for name in names if any(v != samples[0][1] for _, v in alone[name])]


def fit(samples, names):
    """An expression of the axes that gives every sample's value, or None.

    samples: [(sizes, value)]; the first is the base, others differ from it in one axis, the rest in several.
    """
    base, value = samples[0]
    if all(v == value for _, v in samples):
        return str(value)
    alone = one_at_a_time(samples, names)

    def holds(text):  # those that change several axes are the last, and tell most
        return all(evaluate(text, s) == v for s, v in reversed(samples))
    names = relevant(samples, names)
    if not names:
        return None
    text = fit_product(names, value, alone, holds) if value > 0 else None
    if text is None:
        text = fit_polynomial(names, samples)
    return text if text is not None and holds(text) else None


# ---- values ----


def structure_of(tensor, shape):
    """Of the square matrices in the last two axes, as a task has it; "" for any other tensor. shape: expressions."""
    if tensor.dim() < 2 or shape[-1] != shape[-2] or not tensor.is_floating_point():
        return ""
    found = [name for name, made in STRUCTURES.items() if torch.equal(tensor, made(tensor))]
    return found[0] if len(found) == 1 and tensor.unique().numel() > 2 else ""


STRUCTURES = {
    "symmetric": lambda t: t.triu() + t.triu(1).mT, "lower_triangular": torch.tril, "upper_triangular": torch.triu}


@dataclass
class Values:
    """How an input is drawn. `low` and `high` are numbers at given sizes, `bounds` are expressions of the axes."""
    kind: str
    low: float = 0.0
    high: float = 1.0
    bounds: tuple = ()

    def draw(self, shape, dtype, generator):
        if self.kind == "normal":
            return torch.randn(shape, generator=generator)
        if self.kind == "integers":
            return torch.randint(int(self.low), int(self.high), shape, generator=generator).to(dtype)
        low, high = (-1.0, 1.0) if self.kind == "uniform_signed" else (self.low, self.high)
        return torch.rand(shape, generator=generator) * (high - low) + low


def indices(tensor):
    """Integers that a model holds are positions in other tensors."""
    low, high = int(tensor.min()), int(tensor.max()) + 1
    return Values("integers", low, high, (str(low), str(high)))


def weight_values(model, name, shape, expressions, gain):
    """Values with which signals keep their size from layer to layer, and every weight shows in the output.

    gain: 3 keeps the variance, 6 makes up for ReLU; 0: there is one linear operation, whose weights need no scale.
    """
    path, _, leaf = name.rpartition(".")
    owner = model.get_submodule(path)
    if "Norm" in type(owner).__name__:
        positive = leaf in ("weight", "running_var")
        return Values("uniform", 0.5, 1.5, ("0.5", "1.5")) if positive else Values("uniform_signed")
    large = [size for size in shape if size > 1]
    if len(large) < 2 or "weight" not in leaf or gain == 0:
        return Values("uniform_signed")
    outputs = 1 if "Transpose" in type(owner).__name__ else 0
    summed = [(size, text) for i, (size, text) in enumerate(zip(shape, expressions)) if i != outputs]
    bound = math.sqrt(gain / math.prod(size for size, _ in summed))
    constant = math.prod(size for size, text in summed if text.isdigit())
    factors = [text for _, text in summed if not text.isdigit()]
    if not factors:
        return Values("uniform", -bound, bound, (f"-{bound:.4g}", f"{bound:.4g}"))
    text = f"sqrt({gain:.1f} / ({product([str(constant), *factors])}))"
    return Values("uniform", -bound, bound, (f"-{text}", text))


# ---- the file ----


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def block(text):
    """A multi-line string; literal where the text allows it."""
    if "'''" not in text and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text):
        return f"'''\n{text}'''"
    return quoted(text)


def table(values):
    return "{ " + ", ".join(f"{name} = {value}" for name, value in values.items()) + " }" if values else "{}"


def tables(entries):
    texts = [table(entry) for entry in entries]
    return f"[{', '.join(texts)}]" if texts else ""


@dataclass
class Tensor:
    name: str
    dtype: torch.dtype
    shape: list        # expressions
    values: str = ""   # of an input
    bounds: list = ()
    structure: str = ""

    def keys(self):
        sizes = [size if size.isdigit() else quoted(size) for size in self.shape or ["1"]]
        yield "name", quoted(self.name)
        yield "dtype", quoted(str(self.dtype).removeprefix("torch."))
        yield "shape", f"[{', '.join(sizes)}]"
        if self.values:
            yield "values", quoted(self.values)
        if self.bounds:
            yield "bounds", f"[{', '.join(map(quoted, self.bounds))}]"
        if self.structure:
            yield "structure", quoted(self.structure)


def task_text(comments, keys, inputs, outputs, scalars=()):
    """A task file. keys, and those of the scalars: their values as TOML; an empty one is left out."""
    lines = [f"# {comment}" for comment in comments] + [""]
    lines += [f"{key:9} = {value}" for key, value in keys.items() if value]
    tables = [("input", t.keys()) for t in inputs] + [("scalar", s.items()) for s in scalars]
    for kind, entries in tables + [("output", t.keys()) for t in outputs]:
        lines += ["", f"[[{kind}]]"] + [f"{key:6} = {value}" for key, value in entries]
    return "\n".join(lines) + "\n"
