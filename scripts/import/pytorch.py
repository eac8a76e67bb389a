#!/usr/bin/env python3
"""Turns a PyTorch module of yours into a task file of kernelrl (docs/judge_my_kernel.md).

MODULE.py holds either a class that derives from nn.Module, or a function of tensors. get_inputs() in the same file
returns the arguments of one call, such as [torch.randn(1024, 512)], and get_init_inputs() those of the constructor, if it
has any. Without get_inputs, --shape gives each tensor's sizes:

  kernelrl tasks import pytorch leaky.py --shape x=rows:1024,columns:512 --shape bias=columns

The sizes are those that a GPU is timed with; smaller ones, and ranges of sizes, are found by trying. Python and PyTorch
are needed here only: a task holds TorchScript text, which gave the outputs of the module at several shapes.

Needs Python 3.11 and: pip install torch==2.11.0 numpy setuptools
"""
import argparse
import ast
import pathlib
import re
import sys
import tempfile

import kept_tasks
import needs

PARSER = argparse.ArgumentParser(
    prog="kernelrl tasks import pytorch", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("module", type=pathlib.Path, metavar="MODULE.py")
PARSER.add_argument("out", type=pathlib.Path, nargs="?", metavar="OUT.toml", help="a new file (MODULE.toml)")
PARSER.add_argument("--name", help="the class or function, where the file has several")
PARSER.add_argument("--shape", action="append", default=[], metavar="TENSOR=SIZE,…",
                    help="of a float32 tensor: numbers, NAME:NUMBER, or a NAME that has its number; repeatable")
PARSER.add_argument("--timeout", type=float, default=70, help="seconds of processor time (70)")
PARSER.add_argument("--keep", action="store_true", help=argparse.SUPPRESS)  # for `judge`: the task is kept in the cache folder
OPTIONS = PARSER.parse_args() if __name__ == "__main__" else None  # --help needs no torch, nor does a task that is kept
KEPT = OPTIONS and OPTIONS.keep and kept_tasks.kept_task(OPTIONS.module, OPTIONS.out.stem, OPTIONS.name, OPTIONS.shape)
if KEPT and KEPT.exists():
    OPTIONS.out.write_bytes(KEPT.read_bytes())
    sys.exit()
needs.check()

import torch

from importer import import_all, warm_up
from module_importer import ModuleImporter
from problem import Problem


def named(tree, name):
    """The class or function to import."""
    def is_module(node):
        return isinstance(node, ast.ClassDef) and any(ast.unparse(b).endswith("Module") for b in node.bases)
    def is_function(node):
        return isinstance(node, ast.FunctionDef) and not node.name.startswith(("get_", "_"))
    for kind, is_one in (("classes that derive from nn.Module", is_module), ("functions", is_function)):
        found = [n for n in tree.body if is_one(n) and name in (None, n.name)]
        found = [n for n in found if n.name == "Model"] or found
        if len(found) == 1:
            return found[0]
        if found:
            sys.exit(f"it has {len(found)} {kind}: choose one by --name {'|'.join(n.name for n in found)}")
    sys.exit(f"there is no '{name}' in it" if name else "it has neither a class that derives from nn.Module nor a function")


def inputs_of(shapes):
    """The text of get_inputs, which draws tensors of these shapes, and of the sizes."""
    sizes, tensors = {}, []
    for shape in shapes:
        tensor, _, listed = shape.partition("=")
        names = []
        for i, size in enumerate(listed.split(",")):
            name, _, number = size.partition(":") if ":" in size else (size, "", sizes.get(size, ""))
            if name.isdigit():
                name, number = f"{tensor}_{i}", name
            if not tensor.isidentifier() or not name.isidentifier() or not str(number).isdigit():
                sys.exit(f"--shape {shape}: '{size}' is no size; it is a number, NAME:NUMBER or a NAME that has its number")
            sizes[name] = number
            names.append(name)
        tensors.append(f"torch.randn({', '.join(names)})")
    return "".join(f"{n} = {v}\n" for n, v in sizes.items()) + f"def get_inputs():\n    return [{', '.join(tensors)}]\n"


def as_problem(source, name, shapes):
    """The source with the parts of a problem that it lacks: class Model, get_inputs and get_init_inputs."""
    tree = ast.parse(source)
    has = {getattr(n, "name", "") for n in tree.body}
    chosen, parts = named(tree, name), []
    if isinstance(chosen, ast.FunctionDef):
        given = [a.arg for a in chosen.args.posonlyargs + chosen.args.args]
        given = ", ".join(given[:len(given) - len(chosen.args.defaults)])
        parts.append(f"class Model(torch.nn.Module):\n    def forward(self, {given}):\n        return {chosen.name}({given})\n")
    elif chosen.name != "Model":
        parts.append(f"class Model({chosen.name}):\n    pass\n")
    if shapes:
        parts.append(inputs_of(shapes))
    elif "get_inputs" not in has:
        sys.exit("it has no get_inputs(): write one that returns the arguments of a call, or give the shape of each tensor, "
                 "such as x=rows:1024,columns:512 (--shape; of a new_task by MCP: shapes)")
    if "get_init_inputs" not in has:
        parts.append("def get_init_inputs():\n    return []\n")
    return "\n\n".join([source.rstrip() + "\n", *(["import torch\n"] if parts else []), *parts])


class PytorchImporter(ModuleImporter):
    project = "the module"

    def __init__(self, source, path, name):
        self.path, self.title, self.name = path, path.stem.replace("_", " "), name
        super().__init__(Problem(source, path, name), {"problem": name, "file": path.name})

    def origin(self):
        return [f"From {self.path.name}, by kernelrl tasks import pytorch."]

    def task_id(self):
        return self.name

    def task_path(self):
        return "task.toml"


def main(options):
    path = options.module
    out = options.out or pathlib.Path(path.stem + ".toml")
    if out.exists():
        sys.exit(f"{out} exists already; name another file")
    try:
        source = as_problem(path.read_text(), options.name, options.shape)
    except (OSError, SyntaxError, SystemExit) as error:
        sys.exit(f"{path}: {error}")
    sys.path.insert(0, str(path.resolve().parent))
    torch.set_num_threads(1)
    warm_up()
    name = re.sub(r"\W+", "_", out.stem).strip("_") or "module"
    make = lambda: PytorchImporter(source, path, name)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        report = import_all([(make, {"problem": name, "file": path.name})], folder, 1, options.timeout)[0]
        if not report["imported"] or "reason" in report:
            sys.exit(f"{path}: {report['reason']}")
        text = (folder / report["task"]).read_text()
    out.write_text(text)
    if KEPT:
        kept_tasks.keep(KEPT, text)
    if not options.keep:
        print(f"{out}: the task '{name}'")


if __name__ == "__main__":
    main(OPTIONS)
