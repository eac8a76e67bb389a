#!/usr/bin/env python3
"""Searches for kernels that fool the evaluator: mutates right kernels into wrong ones, disguises known attacks,
and evaluates each with `kernelrl eval`.

  scripts/red_team.py --seconds 60                    on `cpu`, with build/ci/bin/kernelrl
  scripts/red_team.py --backend nvrtc --count 500     on a GPU
  scripts/red_team.py --only no_epsilon --count 50    by one generator
  scripts/red_team.py --fuzz-sources 100000           mutated sources; only the evaluator can fail

Candidate K of a seed is always the same. A find is
  - a candidate that is wrong by construction, or a disguised attack, with the verdict `ok`;
  - a candidate that is `ok` once and something else with other inputs or shapes;
  - work added to a kernel that makes it faster;
  - a right kernel that is not `ok`;
  - no verdict: a crash, a hang, an infrastructure error, a process or a file left behind.
Mutations that may change nothing (a barrier that was not needed) count only where evaluations differ.
Finds are written to --output, each with its history and the difference to its origin. The exit code is 1
if there are any.
"""
import argparse
import concurrent.futures
import ctypes
import difflib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import tomllib

import blind_spots

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ROOT / "tests" / "hostile" / "kernels"
HANGS_AFTER_S = 120
OTHER_INPUTS = 3  # evaluations of a survivor with other inputs
FASTER = 1.05  # estimates are deterministic; measurements have --slack


def with_numbered_parameters(reference):
    """A reference's text in which parameters have their positions as names: two that are alike compute the same."""
    parameters = re.findall(r"(\w+)(?:\s*:\s*\w+)?\s*[,)]", reference[:reference.index("):") + 1])
    return re.sub(r"\b\w+\b", lambda word: f"p{parameters.index(word[0])}" if word[0] in parameters else word[0], reference)


class Task:
    def __init__(self, path):
        self.path = path
        toml = tomllib.loads(path.read_text())
        self.id, self.naive = toml["id"], toml.get("naive", "").strip() + "\n"
        self.inputs = [tensor["name"] for tensor in toml.get("input", [])]
        self.outputs = [tensor["name"] for tensor in toml["output"]]
        self.floating = all(tensor["dtype"] == "float32" for tensor in toml["output"])
        self.sizes = {axis for axis, value in toml["axes"].items() if value == "var"}
        self.signature = (tuple(t["dtype"] for t in toml.get("input", [])), tuple(map(str, toml["axes"].values())),
                          len(toml["output"]), len(toml.get("scalar", [])))
        self.function = with_numbered_parameters(toml["reference"])


class Candidate:
    def __init__(self, task, source, origin, expected):
        self.task, self.source, self.origin, self.expected = task, source, origin, expected
        self.history, self.certain, self.slower, self.right = [], False, False, False
        self.hidden_from_gpus = False  # only the machine of `cpu` sees the fault: reads of others' memory
        self.original = source


def read_tasks():
    return {task.id: task for task in map(Task, sorted((ROOT / "configs" / "tasks").rglob("*.toml")))}


def read_corpus(tasks, backend):
    """Right kernels, and attacks that are never `ok` on `backend`: a GPU does not see all that the machine of `cpu` sees."""
    right = [Candidate(task, task.naive, f"naive/{task.id}", {"ok"}) for task in tasks.values()]
    attacks = []
    for path in sorted(KERNELS.rglob("*.cu")):
        source = path.read_bytes().decode("utf-8", "surrogateescape")
        first = re.match(r"// task: (\S+) expect: (\S+)(?: on-gpu: (\S+))?", source)
        expected = set((first[2] if backend == "cpu" else first[3] or first[2]).split("|"))
        candidate = Candidate(tasks[first[1]], source, str(path.relative_to(KERNELS)), expected)
        if path.parent.name == "right" and expected == {"ok"}:
            right.append(candidate)
        elif "ok" not in expected and "timeout" not in expected and path.parent.name != "compiler":
            attacks.append(candidate)
    return right, attacks


def every_output_changed(candidate, change):
    """The source with each value that is stored through an output's name changed: any of them may be the one in dead code.
    None where outputs get their values otherwise."""
    names = "|".join(map(re.escape, candidate.task.outputs))
    stores = rf"\b((?:{names})\[[^\];]*\]) = ([^;=]+);"
    computed = [value for _, value in re.findall(stores, candidate.source) if not re.fullmatch(r"[\d.f]+", value.strip())]
    if not computed or "atomic" in candidate.source:
        return None
    return re.sub(stores, lambda store: f"{store[1]} = {change(store[2])};", candidate.source)


def replaced(rng, text, pattern, change):
    """`text` with one match of `pattern`, drawn at random, changed; None without a match."""
    matches = list(re.finditer(pattern, text))
    if not matches:
        return None
    match = rng.choice(matches)
    return text[:match.start()] + change(match) + text[match.end():]


def at_begin_of_kernels(source, statement):
    """`statement` as the first of every kernel's body."""
    pieces = re.split(r"(__global__[^;{]*\)\s*\{)", source)
    if len(pieces) < 3:
        return None
    return "".join(piece + (" " + statement + "\n" if k % 2 == 1 else "") for k, piece in enumerate(pieces))


def parameter_names(candidate, wanted):
    """Names in the first launched kernel of the parameters that get one of the task's `wanted` tensors."""
    launch = re.search(r"//\s*@launch\s+([\w:]+)[^\n]*>>>\s*\(([^\n]*)\)", candidate.source)
    if not launch:
        return []
    name = launch[1].split("::")[-1]
    kernel = re.search(r"__global__[^;{]*\b" + re.escape(name) + r"\s*\(([^{]*)\)\s*\{", candidate.source)
    if not kernel:
        return []
    arguments = [argument.strip() for argument in launch[2].split(",")]
    parameters = [re.findall(r"\w+", parameter)[-1:] for parameter in kernel[1].split(",")]
    return [names[0] for argument, names in zip(arguments, parameters) if names and argument in wanted]


# Wrong by construction: no other part of the kernel can make it right.

def shorter_guard(rng, c):
    sizes = "|".join(sorted(c.task.sizes))
    if len(re.findall(r"@launch", c.source)) > 1:
        return None
    cut = rng.choice([" - 1", " / 32 * 32", " - 3"])
    return replaced(rng, c.source, rf"if \((\w+) < ({sizes})\) (?=\w+\[\1\] = )", lambda m: f"if ({m[1]} < {m[2]}{cut}) ")


def scaled_output(rng, c):
    factor = rng.choice(["1.02f", "-1.1f", "0.97f"])
    return every_output_changed(c, lambda value: f"({value}) * {factor}") if c.task.floating else None


def narrow_output(rng, c):
    return every_output_changed(c, lambda value: f"__uint_as_float(__float_as_uint({value}) & 0xffff8000u)") if c.task.floating else None


def last_launch_dropped(rng, c):
    launches = list(re.finditer(r"^\s*//\s*@launch[^\n]*\n", c.source, re.M))
    if len(launches) < 2:
        return None
    return c.source[:launches[-1].start()] + c.source[launches[-1].end():]


def input_written(rng, c):
    names = parameter_names(c, set(c.task.inputs) - set(c.task.outputs))
    if not names:
        return None
    where = rng.choice(["threadIdx.x == 0", "blockIdx.x == 0", "true"])
    value = rng.choice(["0", "1", "0x7fc00000"])
    return at_begin_of_first(c, f"if ({where}) *(volatile int*){rng.choice(names)} = {value};")


def out_of_bounds(rng, c):
    names = parameter_names(c, set(c.task.inputs) | set(c.task.outputs))
    if not names:
        return None
    kind = rng.choice(["char", "short", "int", "long long"])
    offset = rng.choice(["-1", "(1 << 27)", "-(1 << 20)", "(1ll << 40)", "(1 << 22)"])
    name = rng.choice(names)
    access = f"((volatile {kind}*){name})[{offset}]"
    write, read = f"{access} = 0;", f"volatile long long red_team = {access}; (void)red_team;"
    statement = rng.choice([write, read])
    c.hidden_from_gpus = statement == read
    return at_begin_of_first(c, statement)


def misaligned(rng, c):
    names = parameter_names(c, set(c.task.inputs))
    if not names:
        return None
    return at_begin_of_first(c, f"volatile int red_team = *(volatile int*)((char*){rng.choice(names)} + {rng.choice([1, 2, 3])}); (void)red_team;")


def trap_somewhere(rng, c):
    statement = rng.choice(['asm volatile("trap;");', "__trap();"])
    return at_begin_of_kernels(c.source, f"if (threadIdx.x == 0 && blockIdx.x == 0) {statement}")


def another_task(rng, c, tasks):
    """The kernel of a task for another that takes the same arguments and computes something else."""
    alike = [t for t in tasks.values() if t.signature == c.task.signature and t.function != c.task.function]
    if not alike:
        return None
    other = rng.choice(alike)
    lines, body = [], []
    for line in c.source.splitlines():
        (lines if re.match(r"\s*//\s*@", line) else body).append(line)
    names = dict(zip(c.task.inputs + c.task.outputs + sorted(c.task.sizes), other.inputs + other.outputs + sorted(other.sizes)))
    lines = [re.sub(r"\b\w+\b", lambda m: names.get(m[0], m[0]), re.sub(r"^(\s*//\s*@\w+\s+)\w+", lambda m: m[0], line)) for line in lines]
    c.task = other
    return "\n".join(lines + body) + "\n"


def at_begin_of_first(c, statement):
    """`statement` first in the kernel that is launched first."""
    name = re.search(r"//\s*@launch\s+([\w:]+)", c.source)[1].split("::")[-1]
    kernel = re.search(r"__global__[^;{]*\b" + re.escape(name) + r"\s*\([^{]*\)\s*\{", c.source)
    return c.source[:kernel.end()] + " " + statement + "\n" + c.source[kernel.end():] if kernel else None


WRONG = [shorter_guard, scaled_output, narrow_output, last_launch_dropped, input_written, out_of_bounds, misaligned,
         trap_somewhere, another_task, *blind_spots.WRONG]


# Often wrong: a survivor is a find only if another evaluation disagrees.

def barrier_dropped(rng, c):
    return replaced(rng, c.source, r"__sync(threads|warp)\([^)]*\);", lambda m: ";")


def fence_dropped(rng, c):
    return replaced(rng, c.source, r"__threadfence(_block|_system)?\(\);", lambda m: ";")


def bound_changed(rng, c):
    return replaced(rng, c.source, r"(\w+) (<|<=|>=) (\w+)(?=[);&|])", lambda m: rng.choice(
        [f"{m[1]} {m[2]} {m[3]} - 1", f"{m[1]} {m[2]} {m[3]} + 1", f"{m[1]} {m[2]} ({m[3]} & ~1)"]))


def index_shifted(rng, c):
    return replaced(rng, c.source, r"\[(\w[^\[\];]*)\]", lambda m: f"[{m[1]} {rng.choice(['+ 1', '- 1', '^ 1'])}]")


def number_changed(rng, c):
    return replaced(rng, c.source, r"(?<![\w.#@])(\d+)(?![\w.])", lambda m: str(max(0, int(m[1]) + rng.choice([-1, 1, int(m[1])]))))


def atomic_dropped(rng, c):
    return replaced(rng, c.source, r"atomicAdd\((&?)([^,;()]+), ([^;]+)\);", lambda m: f"*({m[1]}{m[2]}) += ({m[3]});" if m[1] else f"*({m[2]}) += ({m[3]});")


def lanes_leave(rng, c):
    return at_begin_of_kernels(c.source, rng.choice(['if (threadIdx.x == 3) asm volatile("exit;");', "if (threadIdx.x % 32 == 31) return;",
                                                     "if (blockIdx.x == gridDim.x - 1 && gridDim.x > 1) return;"]))


def type_narrowed(rng, c):
    return replaced(rng, c.source, r"\b(double|long long|size_t) (?=\w+ = )", lambda m: {"double": "float "}.get(m[1], "short "))


DOUBTFUL = [barrier_dropped, fence_dropped, bound_changed, index_shifted, number_changed, atomic_dropped, lanes_leave, type_narrowed]


# Disguises change nothing.

def as_macro(rng, c):
    words = [w for w in ("threadIdx", "blockIdx", "int", "float", "if", "return", "__global__", "__syncthreads", "volatile", "asm") if re.search(rf"\b{w}\b", c.source)]
    word, name = rng.choice(words), f"W{rng.randrange(1000)}"
    head = [line for line in c.source.splitlines() if not line.lstrip().startswith(("//", "#"))]
    body = "\n".join(re.sub(rf"\b{word}\b", name, line) for line in head)
    directives = "\n".join(line for line in c.source.splitlines() if line.lstrip().startswith("//"))
    if "#" in c.source.replace("#pragma", ""):
        return None
    return f"{directives}\n#define {name} {word}\n{body}\n"


def spliced_lines(rng, c):
    if "//" in re.sub(r"(?m)^//.*$", "", c.source):
        return None
    in_code = r"(?m)^(?!//)(.*\w) (?=\w)"  # a directive is on one line
    return replaced(rng, c.source, in_code, lambda m: m[1] + " \\\n")


def comments(rng, c):
    return replaced(rng, c.source, r"(?m)^  (?=\w)", lambda m: f"  /* {rng.choice(['asm(', chr(34), '@launch x<<<1, 1>>>()', '*' * 9, '__trap();'])} */ ")


def harmless_assembly(rng, c):
    return at_begin_of_kernels(c.source, rng.choice(['asm volatile("membar.cta;" ::: "memory");', 'asm volatile("{.reg .b32 t; mov.u32 t, %laneid;}");',
                                                     'asm volatile("// .entry other() {");', 'asm volatile("/* } */ nanosleep.u32 1;");']))


def another_kernel(rng, c):
    return c.source + f"\n__global__ void red_team_{rng.randrange(1000)}(float* x) {{ x[threadIdx.x] = {rng.randrange(9)}; }}\n"


DISGUISES = [as_macro, spliced_lines, comments, harmless_assembly, another_kernel]


# More work for the same result: it must not look faster.

def useless_work(rng, c):
    loop = rng.choice(["red_team = red_team * 1.5f;", "red_team += clock64() & 1;", "red_team = sqrtf(red_team);"])
    return at_begin_of_kernels(c.source, f"{{ volatile float red_team = threadIdx.x; for (int red = 0; red < {rng.choice([20, 100])}; ++red) {loop} }}")


def useless_memory(rng, c):
    return at_begin_of_kernels(c.source, "{ volatile float red_team[64]; for (int red = 0; red < 64; ++red) red_team[red] = red; "
                                         "float sum = 0; for (int red = 0; red < 64; ++red) sum += red_team[63 - red]; red_team[0] = sum; }")


SLOWER = [useless_work, useless_memory]


def fresh(candidate):
    c = Candidate(candidate.task, candidate.source, candidate.origin, candidate.expected)
    return c


def apply(rng, c, operator, tasks):
    source = operator(rng, c, tasks) if operator is another_task else operator(rng, c)
    if source is None or source == c.source:
        return False
    c.source = source
    c.history.append(operator.__name__)
    return True


def candidate_by(operator, rng, right, tasks):
    """One of the right kernels changed by a generator; None if a thousand draws give none."""
    for _ in range(1000):
        c = fresh(rng.choice(right))
        if apply(rng, c, operator, tasks):
            c.certain, c.right = operator in WRONG, operator in blind_spots.RIGHT
            c.slower = operator in SLOWER
            return c
    return None


def candidate_number(number, seed, right, attacks, tasks, only=None):
    """Candidate `number` of `seed`."""
    rng = random.Random(seed * 1_000_003 + number)
    if only:
        return candidate_by(only, rng, right, tasks)
    while True:
        kind = rng.choices(["wrong", "doubtful", "attack", "slower", "right"], [6, 3, 3, 1, 1])[0]
        c = fresh(rng.choice(attacks if kind == "attack" else right))
        if kind == "wrong":
            c.certain = apply(rng, c, rng.choice(WRONG), tasks)
        elif kind == "doubtful":
            applied = [apply(rng, c, rng.choice(DOUBTFUL), tasks) for _ in range(rng.choice([1, 1, 2]))]
            if not any(applied):
                continue
        elif kind == "right":
            c = candidate_by(rng.choice(blind_spots.RIGHT), rng, right, tasks) or c
        elif kind == "slower":
            c.slower = apply(rng, c, rng.choice(SLOWER), tasks)
        else:
            c.certain = True
        if kind in ("wrong", "slower") and not (c.certain or c.slower):
            continue
        for _ in range(rng.choice([0, 1, 2])):
            apply(rng, c, rng.choice(DISGUISES), tasks)
        if c.history:
            return c


GENERATORS = {operator.__name__: operator for operator in [*WRONG, *DOUBTFUL, *SLOWER, *blind_spots.RIGHT]}

PIECES = ["{", "}", ";", "<<<1, 1>>>", '"', "/*", "\\\n", "#if 1\n", "#include <", "template <", 'R"(', "__shared__ ", 'asm("', "u8'",
          "operator", "0x1p-99999", "999999999999999999999", "// @launch", "// @scratch partial float[n]\n", "sizeof...(", "[[",
          'asm volatile("bra here;");', 'asm volatile(".loc 1 1 1");', "asm volatile(\"@%p1 ret; }\");", "__launch_bounds__(-1)", "\0", "\udcff"]


def broken_source(number, seed, sources):
    """Source `number` of a fuzzer: up to four changes of bytes and pieces."""
    rng = random.Random(seed * 1_000_003 + number)
    text = rng.choice(sources)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(text) + 1), rng.randrange(60)
        change = rng.randrange(6)
        if change == 0:
            text = text[:at] + text[at + length:]
        elif change == 1:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif change == 2:
            other = rng.randrange(len(text) + 1)
            text = text[:other] + text[at:at + length] + text[other:]
        elif change == 3:
            text = text[:at] + chr(rng.randrange(1, 256)) * max(1, length) + text[at:]
        elif change == 4:
            text = text[:at] + rng.choice(sources)[rng.randrange(200):] if rng.random() < 0.5 else text[:at]
        else:
            text = text[:at] + text[at:at + length][::-1] + text[at + length:]
    return text or " "


class Judge:
    """`kernelrl eval`, one process a candidate."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.numbers = iter(range(1 << 60))

    def evaluate(self, task, source):
        """(verdict, best speedup, why); the verdict is None if the judge failed."""
        number = next(self.numbers)
        path = self.folder / f"{number}.cu"
        path.write_bytes(source.encode("utf-8", "surrogateescape"))
        temporary = self.folder / f"{number}.tmp"
        temporary.mkdir()
        command = [self.options.kernelrl, "eval", "--backend", self.options.backend, "--set", 'cache="off"', "--task", task, "--holdout", "--json", str(path)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                   env={**os.environ, "TMPDIR": str(temporary)})
        try:
            out, err = process.communicate(timeout=HANGS_AFTER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, None, f"no answer within {HANGS_AFTER_S} s"
        why = self.left_behind(process.pid, temporary)
        path.unlink()
        try:
            answer = json.loads(out.decode(errors="replace").strip().splitlines()[-1])
        except (ValueError, IndexError):
            text = err.decode(errors="replace")
            return None, None, f"code {process.returncode} without an evaluation: {text[-400:]}"
        if answer["verdict"] == "infra_error":
            why = why or answer.get("why", "infra_error")
        if why:
            return None, None, why
        speedups = [case["speedup"] for case in answer.get("cases", []) if isinstance(case.get("speedup"), (int, float))]
        return answer["verdict"], max(speedups, default=None), answer.get("why") or ""

    @staticmethod
    def left_behind(session, temporary):
        files = [str(p.relative_to(temporary)) for p in temporary.rglob("*")]
        if files:
            return f"files left behind: {', '.join(files[:5])}"
        temporary.rmdir()
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                return f"a process left behind: {stat.parent.name}"
        return None


class Hunt:
    def __init__(self, judge, options, tasks):
        self.judge, self.options, self.tasks = judge, options, tasks
        self.speeds, self.counts, self.finds = {}, {}, []

    def speed_of(self, origin):
        if origin.origin not in self.speeds:
            verdict, speedup, _ = self.judge.evaluate(origin.task.id, origin.original)
            self.speeds[origin.origin] = speedup if verdict == "ok" else None
        return self.speeds[origin.origin]

    def look_at(self, c):
        """Why `c` is a find, or None."""
        verdict, speedup, why = self.judge.evaluate(c.task.id, c.source)
        self.counts[verdict] = self.counts.get(verdict, 0) + 1
        if verdict is None:
            return f"the judge failed: {why}"
        if c.right:
            return None if verdict == "ok" else f"{verdict}, though right by construction: {why}"
        if verdict != "ok":
            return None
        if c.certain and (self.options.backend == "cpu" or not c.hidden_from_gpus):
            return "ok, though wrong by construction" if c.expected == {"ok"} else f"ok, though a disguised attack (expected {'|'.join(sorted(c.expected))})"
        if c.slower:
            before = self.speed_of(c)
            if before and speedup and speedup > before * self.options.slack:
                return f"more work, but {speedup:.3f}x in the place of {before:.3f}x"
            return None
        for other in range(OTHER_INPUTS):  # inputs follow from the source's bytes
            again, _, why = self.judge.evaluate(c.task.id, c.source + "\n// other inputs " + str(other) + "\n")
            if again != "ok":
                return f"ok first, then {again}: {why}"
        return None

    def record(self, number, c, reason):
        text = f"candidate {number} of seed {self.options.seed}: {reason}\norigin {c.origin}, task {c.task.id}, {' + '.join(c.history)}\n"
        text += "".join(difflib.unified_diff(c.original.splitlines(True), c.source.splitlines(True), c.origin, "candidate"))
        self.finds.append(text)
        print("FIND " + text.encode("utf-8", "replace").decode(), flush=True)
        if self.options.output:
            self.options.output.mkdir(parents=True, exist_ok=True)
            (self.options.output / f"{self.options.seed}_{number}.cu").write_bytes(c.source.encode("utf-8", "surrogateescape"))
            (self.options.output / f"{self.options.seed}_{number}.txt").write_bytes(text.encode("utf-8", "surrogateescape"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelrl", default=str(ROOT / "build" / "ci" / "bin" / "kernelrl"))
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--begin", type=int, default=0, help="the number of the first candidate")
    parser.add_argument("--count", type=int, help="candidates to try; without it, as many as --seconds allows")
    parser.add_argument("--seconds", type=float, help="no new candidate is begun after them")
    parser.add_argument("--fuzz-sources", type=int, metavar="N", help="N broken sources in the place of candidates")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--slack", type=float, default=FASTER, help="how much faster more work may seem")
    parser.add_argument("--output", type=pathlib.Path, help="a folder for finds")
    parser.add_argument("--only", choices=sorted(GENERATORS), metavar="GENERATOR", help="one of: " + ", ".join(sorted(GENERATORS)))
    options = parser.parse_args()
    if options.count is None and options.seconds is None and not options.fuzz_sources:
        options.seconds = 60.0
    return options


def main():
    options = parse()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become children of this process
    tasks = read_tasks()
    right, attacks = read_corpus(tasks, options.backend)
    begun = time.monotonic()

    def make(number):
        if options.fuzz_sources:
            c = Candidate(tasks["vector_add"], broken_source(number, options.seed, sources), "fuzz", set())
            c.history, c.certain = ["broken"], False
            return c
        return candidate_number(number, options.seed, right, attacks, tasks, GENERATORS.get(options.only))

    sources = [c.source for c in right + attacks]
    last = options.begin + (options.fuzz_sources or options.count or 1 << 60)
    with tempfile.TemporaryDirectory(prefix="red-team-") as folder:
        hunt = Hunt(Judge(options, pathlib.Path(folder)), options, tasks)

        def one(number):
            c = make(number)
            if c is None:
                return
            if options.fuzz_sources:
                verdict, _, why = hunt.judge.evaluate(c.task.id, c.source)
                hunt.counts[verdict] = hunt.counts.get(verdict, 0) + 1
                reason = f"the judge failed: {why}" if verdict is None else None
            else:
                reason = hunt.look_at(c)
            if reason:
                hunt.record(number, c, reason)

        tried = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            running = set()
            for number in range(options.begin, last):
                if options.seconds is not None and time.monotonic() - begun > options.seconds:
                    break
                running.add(pool.submit(one, number))
                tried += 1
                if len(running) >= options.jobs:
                    done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                    for future in done:
                        future.result()
            for future in running:
                future.result()
    counts = ", ".join(f"{count} {verdict or 'no verdict'}" for verdict, count in sorted(hunt.counts.items(), key=lambda item: -item[1]))
    print(f"{tried} candidates in {time.monotonic() - begun:.0f} s ({len(right)} right kernels, {len(attacks)} attacks): {counts}; {len(hunt.finds)} finds")
    return 1 if hunt.finds else 0


if __name__ == "__main__":
    sys.exit(main())
