"""Kernels of a candidate to one module of PTX."""

import ast
import re

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource
import triton.language as tl

from candidate import FILE

PTX_VERSION = 87
OPTIONS = {"num_warps": 32, "num_stages": 100, "maxnreg": 255}  # and the most that each may be
TYPE = re.compile(r"1|\*?(?:fp|bf|i|u)\d+(?::\d+)?")


class Kernel:
    """A kernel as a launch names it: add(*fp32:16, i32, 1, BLOCK=1024, num_warps=8)."""

    def __init__(self, spelled):
        self.name, _, inside = spelled.partition("(")
        self.types, self.constants = [], {}
        for part in re.findall(r"""(?:[^,"']|"[^"]*"|'[^']*')+""", inside[:-1]):
            name, given, value = part.strip().partition("=")
            if given:
                self.constants[name] = value_of(value)
            elif TYPE.fullmatch(name):
                self.types.append(name)
            else:
                raise ValueError(f"{name} is no type")


def value_of(text):
    """A constant of a directive: 8, True, "relu", tl.float16."""
    if not text.startswith("tl."):
        return ast.literal_eval(text)
    value = getattr(tl, text[3:], None)
    if not isinstance(value, tl.dtype):
        raise ValueError(f"{text} is no type of elements")
    return value


def source_of(function, kernel):
    """The function for these types and constants."""
    types = iter(kernel.types)
    signature, constants, attributes = {}, {}, {}
    for place, parameter in enumerate(function.params):
        if parameter.is_constexpr:
            signature[parameter.name] = "constexpr"
            constants[(place,)] = kernel.constants.get(parameter.name, parameter.default)
            continue
        spelled, _, multiple = next(types).partition(":")
        signature[parameter.name] = "constexpr" if spelled == "1" else spelled
        if spelled == "1":
            constants[(place,)] = 1
        if multiple:
            attributes[(place,)] = [["tt.divisibility", int(multiple)]]
    return ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attributes)


def compiled(function, kernel, capability):
    """The PTX and the bytes of shared memory of one kernel."""
    target = GPUTarget("cuda", capability, 32)
    backend = CUDABackend(target)
    source = source_of(function, kernel)
    options = {name: kernel.constants[name] for name in OPTIONS if name in kernel.constants}
    for name, value in options.items():
        if not 1 <= value <= OPTIONS[name]:
            raise ValueError(f"{name} is {value}; it must be 1 to {OPTIONS[name]}")
    options = backend.parse_options({"ptx_version": PTX_VERSION, **options})
    stages, metadata = {}, {}
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                            backend.get_module_map(), context)
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        module = stages[stage](module, metadata)
    if metadata["global_scratch_size"] or metadata["profile_scratch_size"]:
        raise ValueError("tensor descriptors made in a kernel need global memory of Triton's, which "
                         "is not lent here")
    return module, metadata["shared"]


TABLES = re.compile(r"^\t\.section[^{]*\{[^}]*\}\n?", re.M)  # for debuggers
EXTERNAL = re.compile(r"^\.extern [^;]*;\n?", re.M)
LOCATION = re.compile(r"\t\.loc\t[^/]*(?://(.*))?$")
PLACE = re.compile(re.escape(FILE) + r":(\d+):(\d+)")
# What a module defines besides its entry: functions that are not inlined, texts for assertions.
SYMBOL = re.compile(r"^(?:\.visible |\.weak )?\.func(?:\s*\([^)]*\))? ([\w$]+)|"
                    r"^(?:\.visible |\.weak )?\.(?:global|const|shared)\b.*?([\w$]+)\s*(?:\[|=|;)", re.M)
HEAD = (".version", ".target", ".address_size")


def lines_of(ptx):
    """The lines of code. Their locations are in the candidate's own text: the place where it called
    what Triton's library has."""
    for line in TABLES.sub("", ptx).split("\n"):
        location = LOCATION.match(line)
        if location:
            places = PLACE.findall(location[1] or "")
            if places:
                yield "\t.loc\t1 {} {}".format(*places[-1])
            continue
        line = line.partition("//")[0].rstrip()
        if line and not line.startswith("\t.file"):
            yield line


class Module:
    """One module of PTX that is joined from several, each with an entry of its own name."""

    def __init__(self):
        self.head, self.external, self.parts = [], {}, []

    def add(self, ptx):
        lines = list(lines_of(ptx))
        self.head = [line for line in lines if line.startswith(HEAD)]
        text = "\n".join(line for line in lines if not line.startswith(HEAD)) + "\n"
        self.external.update(dict.fromkeys(EXTERNAL.findall(text)))
        text = EXTERNAL.sub("", text)
        for name in {a or b for a, b in SYMBOL.findall(text)} if self.parts else ():
            text = re.sub(rf"(?<![\w$.%]){re.escape(name)}(?![\w$])", f"{name}_{len(self.parts)}", text)
        self.parts.append(text)

    def text(self):
        parts = ("\n".join(self.head), "\n", *self.external, *self.parts, f'\t.file\t1 "{FILE}"\n')
        return "".join(parts)


def translate(functions, spelled, capability):
    """Compiles each of the kernels, and joins them: the fields of a Translation (translation.hpp)."""
    module, names, shared_bytes = Module(), [], []
    for place, kernel in enumerate(map(Kernel, spelled)):
        function = functions.get(kernel.name)
        if function is None:
            raise ValueError(f"'{kernel.name}' is no function with @triton.jit of the module itself")
        names.append(kernel.name if len(spelled) == 1 else f"{kernel.name}_{place}")
        function._repr = lambda _: names[-1]  # what Triton calls the entry
        try:
            ptx, shared = compiled(function, kernel, capability)
        except Exception as error:
            error.compiling = spelled[place] if len(spelled) > 1 else None
            raise
        module.add(ptx)
        shared_bytes.append(shared)
    return {"ptx": module.text(), "names": names, "shared_bytes": shared_bytes}
