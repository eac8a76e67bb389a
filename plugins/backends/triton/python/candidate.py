"""What a candidate's text defines: its functions with @triton.jit, and constants for them.

Nothing else of the text is executed. A function may name the language of Triton, other such functions,
and constants; what could reach the interpreter is refused with its line. The process is sandboxed all
the same (server.py).
"""

import ast
import linecache
import math
import types

import triton
import triton.language as tl
import triton.language.extra.cuda
from triton.language.extra import libdevice

FILE = "kernel.cu"  # as all compilers of kernelrl call a candidate

# The modules that a name may lead through, and of `triton` itself the names that device code uses.
MODULES = {triton, tl, tl.math, tl.extra, tl.extra.cuda, libdevice, triton.language.extra.cuda.libdevice}
OF_TRITON = {"language", "jit", "cdiv", "next_power_of_2", "constexpr_function"}
REFUSED_NAMES = {"getattr", "hasattr", "setattr", "vars", "dir", "eval", "exec", "open", "globals"}


class Refusal(Exception):
    """A problem of the text, in a line of it."""

    def __init__(self, line, message):
        super().__init__(message)
        self.line = line


class Checks(ast.NodeVisitor):
    """Goes through what is about to be executed or compiled."""

    def __init__(self, names):
        self.names = names  # of modules and of what was imported from them

    def visit_Name(self, node):
        if node.id.startswith("__") or node.id in REFUSED_NAMES:
            raise Refusal(node.lineno, f"'{node.id}' is not allowed in a kernel")

    def visit_Attribute(self, node):
        if node.attr.startswith("_"):
            raise Refusal(node.lineno, f"'{node.attr}' is not allowed in a kernel")
        self.generic_visit(node)
        self.module_of(node)

    def module_of(self, node):
        """The module that an expression names; None of any other expression."""
        if isinstance(node, ast.Name):
            value = self.names.get(node.id)
            return value if isinstance(value, types.ModuleType) else None
        owner = self.module_of(node.value) if isinstance(node, ast.Attribute) else None
        if owner is None:
            return None
        known = node.attr in OF_TRITON if owner is triton else hasattr(owner, node.attr)
        value = getattr(owner, node.attr, None)
        if not known or (isinstance(value, types.ModuleType) and value not in MODULES):
            raise Refusal(node.lineno, f"{owner.__name__}.{node.attr} is nothing that a kernel can use")
        return value if isinstance(value, types.ModuleType) else None

    def visit_Import(self, node):
        raise Refusal(node.lineno, "a kernel imports nothing")

    visit_ImportFrom = visit_Global = visit_Import


def take_import(statement, names):
    """Adds what an import names, if it is of a module that kernels use."""
    by_name = {module.__name__: module for module in MODULES}
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            module = by_name.get(alias.name)
            if module is not None:
                names[alias.asname or alias.name.split(".")[0]] = module if alias.asname else triton
            if alias.name == "math":
                numbers = names[alias.asname or "math"] = types.ModuleType("math")
                vars(numbers).update((n, v) for n, v in vars(math).items() if isinstance(v, float))
            continue
        owner = by_name.get(statement.module)
        value = getattr(owner, alias.name, None) if owner is not None else None
        usable = alias.name in OF_TRITON if owner is triton else value is not None
        if isinstance(value, types.ModuleType) and value not in MODULES:
            usable = False
        if owner is not None and not usable:
            raise Refusal(statement.lineno,
                          f"{statement.module}.{alias.name} is nothing that a kernel can use")
        if usable:
            names[alias.asname or alias.name] = value


def is_of_triton(decorator, word):
    """True of @triton.word, @word and calls of them."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(target, ast.Attribute):
        return target.attr == word and isinstance(target.value, ast.Name) and target.value.id == "triton"
    return isinstance(target, ast.Name) and target.id == word


def is_kernel(function):
    for decorator in function.decorator_list:
        for word in ("autotune", "heuristics"):
            if is_of_triton(decorator, word):
                raise Refusal(decorator.lineno, f"@triton.{word} chooses while a kernel is called: give "
                              "its parameters in the launch directive, as in BLOCK=1024, num_warps=4")
    compiled = any(is_of_triton(decorator, "jit") for decorator in function.decorator_list)
    if compiled and len(function.decorator_list) > 1:
        raise Refusal(function.decorator_list[0].lineno, "@triton.jit is to be the only decorator")
    return compiled


def is_constant(expression):
    """True if it is made of numbers, texts and names alone, or is tl.constexpr of that."""
    if isinstance(expression, ast.Call):
        target = expression.func
        word = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        return word == "constexpr" and not expression.keywords and all(map(is_constant, expression.args))
    allowed = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List,
               ast.operator, ast.unaryop, ast.expr_context)
    endless = (ast.Pow, ast.LShift)  # a few characters make a number of any length
    return all(isinstance(node, allowed) and not isinstance(node, endless)
               for node in ast.walk(expression))


def functions_of(source):
    """The compiled functions of a text by their names. Raises Refusal and SyntaxError."""
    tree = ast.parse(source, FILE)
    names, kept = {}, []
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            take_import(statement, names)
        elif isinstance(statement, ast.FunctionDef) and is_kernel(statement):
            kept.append(statement)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if all(isinstance(target, ast.Name) for target in targets) and is_constant(statement.value):
                kept.append(statement)
    checks = Checks(names)
    for statement in kept:
        checks.visit(statement)
    module = types.ModuleType("candidate")
    vars(module).update(names, __builtins__={})
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    for statement in kept:  # one by one: a constant that cannot be had is one that host code uses
        code = compile(ast.Module([statement], []), FILE, "exec")
        try:
            exec(code, vars(module))
        except Exception as error:
            if isinstance(statement, ast.FunctionDef):
                raise Refusal(statement.lineno, str(error)) from error
    return {name: value for name, value in vars(module).items() if isinstance(value, triton.JITFunction)}
