"""What a candidate's text defines: its functions with @triton.jit, and constants for them.

Nothing else of the text is executed, and of a function Triton's compiler executes what its language has:
an allowed list of names and attributes keeps everything else of Python out of its reach. The process is
sandboxed all the same (server.py).
"""

import ast
import linecache
import math
import types

import triton
import triton.language as tl
import triton.language.extra.cuda
from triton.language.extra import libdevice
from triton.runtime.jit import JITCallable

FILE = "kernel.cu"  # as all compilers of kernelrl call a candidate

# The modules that a name may lead through, and of `triton` itself the names that device code uses.
MODULES = {triton, tl, tl.math, tl.extra, tl.extra.cuda, libdevice, triton.language.extra.cuda.libdevice}
OF_TRITON = {"language", "jit", "cdiv", "next_power_of_2"}
CLASSES = (tl.constexpr, tl.dtype, tl.tensor, tl.range, tl.static_range, tl.block_type, tl.pointer_type,
           tl.tuple)
# Attributes of tensors, descriptors, types and constants.
ATTRIBUTES = {name for owner in (tl.tensor, tl.tensor_descriptor, tl.constexpr)
              for name in dir(owner) if getattr(getattr(owner, name), "__triton_builtin__", False)
              or isinstance(getattr(owner, name), JITCallable)} | {
    "T", "abs", "atomic_add", "atomic_max", "atomic_min", "block_shape", "cdiv", "dtype", "element_ty",
    "gather", "is_block", "is_bf16", "is_floating", "is_fp16", "is_fp32", "is_fp64", "is_int", "is_ptr",
    "itemsize", "load", "logical_and", "logical_or", "numel", "primitive_bitwidth", "scalar", "scatter",
    "shape", "store", "to", "type", "value"}
# Those among them that are no functions.
PROPERTIES = {"T", "block_shape", "dtype", "element_ty", "itemsize", "numel", "primitive_bitwidth", "scalar",
              "shape", "type", "value"}
# Of the options of @triton.jit those that change no result.
IGNORED = {"do_not_specialize", "do_not_specialize_on_alignment", "launch_metadata"}
REFUSED_NAMES = {"getattr", "hasattr"}  # of Python's functions that Triton has
SEPARATORS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029\0"


class Refusal(Exception):
    """A problem of the text, in a line of it."""

    def __init__(self, line, message):
        super().__init__(message)
        self.line = line


def is_usable(owner, name):
    """True of what a module of Triton's language has for kernels."""
    value = vars(owner).get(name)
    if owner.__name__ == "math":
        return isinstance(value, float)
    if isinstance(value, types.ModuleType):
        return value in MODULES
    if owner is triton:
        return name in OF_TRITON
    if isinstance(value, types.FunctionType) and owner is libdevice:  # stands for that of the target
        return True
    return isinstance(value, (JITCallable, tl.dtype)) or value in CLASSES or \
        getattr(value, "__triton_builtin__", False)


class Checks(ast.NodeVisitor):
    """Goes through what is about to be executed or compiled."""

    def __init__(self, names):
        self.names = names  # of modules, and of what was imported from them
        self.called = set()  # ids of the nodes of functions that are called

    def module_of(self, node):
        """The module that an expression names; None of any other expression."""
        if isinstance(node, ast.Name):
            value = self.names.get(node.id)
        else:
            owner = self.module_of(node.value) if isinstance(node, ast.Attribute) else None
            value = getattr(owner, node.attr, None) if owner is not None else None
        return value if isinstance(value, types.ModuleType) else None

    def bind(self, name, line):
        """Checks a name that is given a value: it must not stand for another one afterwards."""
        if name.startswith("__") or name in REFUSED_NAMES or name == "constexpr":
            raise Refusal(line, f"'{name}' is not allowed in a kernel")
        if isinstance(self.names.get(name), types.ModuleType):
            raise Refusal(line, f"'{name}' is a module")

    def is_constexpr(self, node):
        if isinstance(node, ast.Attribute):
            return self.module_of(node.value) is tl and node.attr == "constexpr"
        return isinstance(node, ast.Name) and self.names.get(node.id) is tl.constexpr

    def visit_Call(self, node):
        self.called.add(id(node.func))
        self.generic_visit(node)

    def check_use(self, node, value):
        """A function of Python's is called: as a value its text would tell where it is in memory."""
        is_function = isinstance(value, types.FunctionType) or getattr(value, "__triton_builtin__", False)
        if is_function and id(node) not in self.called:
            raise Refusal(node.lineno, f"'{ast.unparse(node)}' can only be called")

    def visit_Name(self, node):
        if node.id.startswith("__") or node.id in REFUSED_NAMES or self.names.get(node.id) is triton.jit:
            raise Refusal(node.lineno, f"'{node.id}' is not allowed in a kernel")
        if self.module_of(node):
            raise Refusal(node.lineno, f"the module '{node.id}' is no value")
        self.check_use(node, self.names.get(node.id))

    def visit_Attribute(self, node):
        owner = self.module_of(node.value)
        if owner is None:
            if node.attr not in ATTRIBUTES:
                no_module = f", and no module '{node.value.id}' is imported" \
                    if isinstance(node.value, ast.Name) else ""
                raise Refusal(node.lineno,
                              f"'.{node.attr}' is nothing that Triton's values have{no_module}")
            if node.attr not in PROPERTIES and id(node) not in self.called:
                raise Refusal(node.lineno, f"'.{node.attr}' can only be called")
            return self.visit(node.value)
        if not is_usable(owner, node.attr) or (owner is triton and node.attr == "jit"):
            raise Refusal(node.lineno, f"{owner.__name__}.{node.attr} is nothing that a kernel can use")
        if self.module_of(node):  # what leads through a module never comes here
            raise Refusal(node.lineno, f"the module '{ast.unparse(node)}' is no value")
        return self.check_use(node, vars(owner).get(node.attr))

    def refuse(self, node):
        raise Refusal(node.lineno, f"a kernel has no `{type(node).__name__.lower()}`")

    visit_Import = visit_ImportFrom = visit_Global = visit_Nonlocal = visit_ClassDef = refuse
    visit_FunctionDef = visit_AsyncFunctionDef = refuse
    visit_Lambda = visit_Await = visit_Yield = visit_YieldFrom = visit_Try = visit_With = refuse


def take_import(statement, names):
    """Adds what an import names, if it is of a module that kernels use."""
    by_name = {module.__name__: module for module in MODULES}
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            owner = by_name.get(statement.module)
            if owner is None:
                continue
            if not is_usable(owner, alias.name):
                raise Refusal(statement.lineno,
                              f"{statement.module}.{alias.name} is nothing that a kernel can use")
            names[alias.asname or alias.name] = getattr(owner, alias.name)
        elif alias.name == "math":
            numbers = names[alias.asname or "math"] = types.ModuleType("math")
            vars(numbers).update((n, v) for n, v in vars(math).items() if isinstance(v, float))
        elif alias.name in by_name:
            names[alias.asname or "triton"] = by_name[alias.name] if alias.asname else triton


def is_of_triton(decorator, word):
    """True of @triton.word, @word and calls of them."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(target, ast.Attribute):
        return target.attr == word and isinstance(target.value, ast.Name) and target.value.id == "triton"
    return isinstance(target, ast.Name) and target.id == word


def options_of(function):
    """What @triton.jit is told; None of a function that is not compiled."""
    decorators = function.decorator_list
    for decorator in decorators:
        for word in ("autotune", "heuristics"):
            if is_of_triton(decorator, word):
                raise Refusal(decorator.lineno, f"@triton.{word} chooses while a kernel is called: give "
                              "its parameters in the launch directive, as in BLOCK=1024, num_warps=4")
    if not any(is_of_triton(decorator, "jit") for decorator in decorators):
        return None
    if len(decorators) > 1:
        raise Refusal(decorators[0].lineno, "@triton.jit is to be the only decorator")
    options = {}
    for keyword in getattr(decorators[0], "keywords", []):
        if keyword.arg == "noinline" and isinstance(keyword.value, ast.Constant):
            options[keyword.arg] = bool(keyword.value.value)
        elif keyword.arg not in IGNORED:
            raise Refusal(keyword.lineno, f"@triton.jit({keyword.arg}=…) is not known here")
    return options


def is_constant(expression, checks):
    """True if it is made of numbers, texts and names alone, or is tl.constexpr of that."""
    if isinstance(expression, ast.Call):
        return checks.is_constexpr(expression.func) and not expression.keywords and \
            all(is_constant(argument, checks) for argument in expression.args)
    allowed = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List,
               ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(node, allowed) and not is_endless(node) for node in ast.walk(expression))


def is_endless(node):
    """True of a power or shift that is not of two small numbers: a few characters make a number of any
    length."""
    def is_small(operand):
        return isinstance(operand, ast.Constant) and isinstance(operand.value, int) and operand.value <= 64
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.LShift)) and \
        not (is_small(node.left) and is_small(node.right))


def take_parameters(function, checks):
    """Checks what is executed when a function is defined, and leaves of the annotations only which
    parameters are constants."""
    arguments = function.args
    if arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        raise Refusal(function.lineno, "the parameters of a kernel are plain names")
    for default in arguments.defaults:
        if not is_constant(default, checks):
            raise Refusal(default.lineno, f"`{ast.unparse(default)}` is no constant")
        checks.visit(default)
    for parameter in arguments.args:
        checks.bind(parameter.arg, parameter.lineno)
        note = parameter.annotation
        if note is None:
            continue
        if isinstance(note, ast.Constant):
            raise Refusal(note.lineno, f"write the annotation {note.value} without quotes")
        if not isinstance(note, (ast.Name, ast.Attribute)):
            raise Refusal(note.lineno, f"the annotation `{ast.unparse(note)}` is no name")
        checks.visit(note)  # Triton evaluates it, too
        is_constexpr = checks.is_constexpr(note)
        parameter.annotation = ast.copy_location(ast.Constant("constexpr"), note) if is_constexpr else None
    function.returns = None  # Triton does not look at it, either


def names_given_by(statement, known=None):
    """The names of the module that a statement binds or deletes, wherever in it; `known` ones that are
    imported again are left out."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
        return
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        again = {}
        if known is not None:
            take_import(statement, again)
        for alias in statement.names:
            name = alias.asname or alias.name.split(".")[0]
            is_triton = isinstance(statement, ast.Import) and not alias.asname and name == "triton"
            same = again.get(name, triton if is_triton else None)
            if known is None or same is None or known.get(name) is not same:
                yield name
    if isinstance(statement, ast.Name) and not isinstance(statement.ctx, ast.Load):
        yield statement.id
    for part in ast.iter_child_nodes(statement):
        yield from names_given_by(part, known)


def names_read_by(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def needed(kept):
    """Those statements without the constants that no kernel reads, which are for host code."""
    names = set()
    for statement, options in kept:
        if options is not None:
            names |= names_read_by(statement) | {statement.name}
    while True:
        more = set().union(*(names_read_by(statement.value) for statement, options in kept
                             if options is None and names & set(names_given_by(statement))))
        if more <= names:
            return [(statement, options) for statement, options in kept
                    if options is not None or names & set(names_given_by(statement))]
        names |= more


def compiled(statement, options, module, lines):
    """The function as Triton knows it, from the very lines that were checked."""
    statement.decorator_list = []
    exec(compile(ast.Module([statement], []), FILE, "exec"), vars(module))
    function = triton.jit(vars(module)[statement.name], **options)
    function._unsafe_update_src("\n".join(lines[statement.lineno - 1:statement.end_lineno]))
    function.starting_line_number = statement.lineno
    return function


def functions_of(source):
    """The compiled functions of a text by their names. Raises Refusal and SyntaxError."""
    source = source.replace("\r\n", "\n")
    lines = source.split("\n")
    for number, line in enumerate(lines, 1):
        if any(c in SEPARATORS or c == "\r" for c in line):
            raise Refusal(number, "a control character or an unusual line separator")
    tree, names = ast.parse(source, FILE), {}
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            take_import(statement, names)
    checks = Checks(names)
    kept, left_out = kept_of(tree, checks)
    known = {*names, *(name for statement, _ in kept for name in names_given_by(statement))}
    for statement in left_out:
        for name in known & set(names_given_by(statement, names)):
            raise Refusal(statement.lineno, f"'{name}' is given another value here, which is not followed")
    module = types.ModuleType("candidate")
    vars(module).update(names, __builtins__={})
    linecache.cache[FILE] = (len(source), None, [line + "\n" for line in lines], FILE)
    functions = {}
    for statement, options in kept:
        for name in names_given_by(statement):
            checks.bind(name, statement.lineno)
            if name in names:
                raise Refusal(statement.lineno, f"'{name}' is imported, too")
            functions.pop(name, None)
            vars(module).pop(name, None)
        if options is not None:
            take_parameters(statement, checks)
        for part in statement.body if options is not None else [statement.value]:
            checks.visit(part)
        if options is None:
            try:  # what cannot be had is for host code
                exec(compile(ast.Module([statement], []), FILE, "exec"), vars(module))
            except Exception:
                continue
        else:
            functions[statement.name] = compiled(statement, options, module, lines)
            vars(module)[statement.name] = functions[statement.name]
    return functions


def kept_of(tree, checks):
    """The functions that are compiled, with their options, and the constants; and what is host code."""
    kept, left_out = [], []
    for statement in tree.body:
        options = options_of(statement) if isinstance(statement, ast.FunctionDef) else None
        if options is not None:
            kept.append((statement, options))
            continue
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if all(isinstance(target, ast.Name) for target in targets) and \
                    is_constant(statement.value, checks):
                kept.append((ast.copy_location(ast.Assign(targets, statement.value), statement), None))
                continue
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            left_out.append(statement)
        elif not set(names_given_by(statement)) & set(checks.names):
            left_out.append(statement)  # of a module that kernels have no use for
    return needed(kept), left_out


def start_no_launch(function, grid):
    raise ValueError("a kernel starts no other launch")


triton.JITFunction.__getitem__ = start_no_launch
