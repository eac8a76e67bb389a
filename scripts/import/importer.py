"""What importers of other projects' problems share: from a problem whose sizes can be changed to a task file.

An importer finds small cases, TorchScript text that gives what the Python gives, the sizes at which it does, and what
a kernel could get away with. Each problem is imported in a process of its own.
"""
import json
import logging
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings

import torch
import torch.export
from torch import nn

import reference
import task_file
from left_out import LeftOut

GPU_BYTES = 19e9           # of a GPU of 24 GB
MOST_LAUNCHES = 32         # of a candidate without host code
CHECK_OPERATIONS = 2e11    # above this, a shape is checked on the meta device only
MANY_WEIGHTS = 100         # from here on a trace is tried first
MANY_OPERATIONS = 500      # the same


def close(one, other, tolerance):
    def alike(a, b):
        return torch.allclose(a, b.to(a.dtype), rtol=tolerance, atol=tolerance, equal_nan=True)
    return len(one) == len(other) and all(
        a.shape == b.shape and a.is_floating_point() == b.is_floating_point()
        and alike(a.flatten()[:1000], b.flatten()[:1000])  # large tensors that differ do so at once
        and alike(a, b) for a, b in zip(one, other))


class Importer:
    """The steps from a problem to a task. What differs between projects is in the derived classes:

    examine()                 sets published, quick and kinds: the published sizes, some at which surveys are fast, and
                              which sizes are axes
    tensor_shapes(fit)        the shapes of inputs, weights and outputs as expressions of the axes, or None
    name_tensors()            sets axis_names, input_names, weight_names, output_names
    choose_weight_values(), choose_input_values(), draw(instance, seed): the values of the tensors
    title, comments(), task_id(), task_path(), tier(), prompt(), tensors(): the parts of the file
    """
    project = ""              # whose own inputs are drawn to find what kernels could get away with
    scalars = {}              # name -> number: arguments of the text after the tensors; the numbers are in it as well
    floating = True           # whether an input is, so that the text follows its type

    def __init__(self, problem, report):
        self.problem = problem
        self.fixed = set()      # widths that the text does not follow
        self.report = {**report, "imported": False}

    # ---- sizes ----

    def names(self, *kinds):
        return [n for n in self.problem.sizes if self.kinds.get(n) in kinds and n not in self.fixed]

    @property
    def axes(self):
        return self.names("free", "width")

    def choose_cases(self):
        """Small shapes for an emulator, at sizes that are neither multiples of a block nor equal."""
        problem, free, widths = self.problem, self.names("free"), self.names("width")

        def small(survey):
            largest = max([survey.largest, *map(math.prod, survey.tensors)])
            return largest <= 20_000 and survey.flops <= 2.5e7

        base, survey, _ = problem.shrink(self.quick, [free, widths], small, least=3)
        if not survey:
            raise LeftOut("it runs at no small size")
        steps = (3, 1, 5, 2, 7, 4, 8, 16, 32)
        if survey.flops > 1e9:  # a network with its published widths: as little of it as possible
            base, _, _ = problem.shrink(base, [free, widths], small, least=1)
            steps = (1, 2, 3, 5, 4, 7, 8, 16, 32)
        self.case, _ = problem.moved(base, free + widths, (1, 3, 2, 5, 4, 7, 8, 16, 32))
        self.other, self.moved = problem.moved(self.case, free + widths, steps)
        self.holdout, _ = problem.moved(self.other, free + widths, (2, 6, 4, 1, 8, 16, 32))
        survey = self.case_survey = problem.survey(self.case, flops=True)
        self.report.update(fits_cpu=survey.elements <= 1.5e7 and survey.flops <= 5e8, case_operations=survey.flops)
        if survey.flops > CHECK_OPERATIONS:
            raise LeftOut(f"its smallest shape takes {survey.flops:.1e} operations, too many to check")

    def choose_real(self):
        """[the published shape] where it fits a GPU of 24 GB, else [less of it], the batch first; [] if nothing does."""
        problem, published = self.problem, self.published
        free, sizes = self.names("free"), {**problem.sizes, **{n: self.case[n] for n in self.fixed}}
        lead = published.inputs[0][0] if published.inputs and published.inputs[0] else None
        batch = [n for n in free if sizes[n] == lead][:1]
        fits = lambda s: 12 * s.memory + 24 * s.largest < GPU_BYTES
        done = fits(published)
        if not done:
            sizes, _, done = problem.shrink(sizes, [batch, free, self.names("width")], fits)
        return [sizes] if done and (sizes == problem.sizes or problem.try_survey(sizes)) else []

    def samples(self):
        """Surveys around the case: each axis alone at several sizes, and several axes at once."""
        problem, samples = self.problem, [(self.case, self.case_survey)]
        for name in self.axes:
            found, size = 0, self.case[name]
            for step in (1, 2, 3, 4, 5, 8, 6, 7, 16, 32, 64, size, 2 * size, 3 * size):
                survey = problem.try_survey({**self.case, name: size + step}, flops=True)
                if survey:
                    samples.append(({**self.case, name: size + step}, survey))
                    found += 1
                if found == 6:
                    break
            far = {**self.case, name: 3 * size + 1}, {**self.case, name: problem.sizes[name]}  # tells floors apart
            samples += [(sizes, survey) for sizes in far if (survey := problem.try_survey(sizes, flops=True))]
        halfway = {**self.case, **{name: self.other[name] for name in self.names("free")}}
        for sizes in (halfway, self.other, self.holdout):
            if survey := problem.try_survey(sizes, flops=True):
                samples.append((sizes, survey))
        return samples

    def fit_shapes(self):
        """Expressions for every dimension; an axis for which there is none becomes a number."""
        samples, self.unfit = self.samples(), set()
        base, axes = self.case_survey, self.axes

        def fit(part):
            values = [(sizes, part(survey)) for sizes, survey in samples]
            text = task_file.fit(values, axes)
            if text is None:
                self.unfit = set(task_file.relevant(values, axes))
            return text
        groups = self.tensor_shapes(fit)
        if groups is None:
            return None
        self.bounds = {
            i: tuple(fit(lambda s: s.bounds[i][k]) or str(b[k]) for k in (0, 1)) for i, b in base.bounds.items()}
        self.terms = fit(lambda s: s.terms) or str(max(s.terms for _, s in samples))
        self.work = fit(lambda s: s.flops) if base.flops else None
        return groups

    # ---- values ----

    @staticmethod
    def eager(instance, inputs, weights, dtype=torch.float32):
        # Copies, since some models write to what they hold.
        convert = lambda given: [t.to(dtype, copy=True) if t.is_floating_point() else t.clone() for t in given]
        previous = torch.get_default_dtype()
        torch.set_default_dtype(dtype)  # for tensors that forward makes
        try:
            with torch.no_grad():
                return instance.run(convert(inputs), convert(weights), dtype)
        finally:
            torch.set_default_dtype(previous)

    # ---- the reference ----

    def why_wrong(self, sizes, double=False, seed=0):
        """Why the text does not do what the model does at these sizes, or None."""
        try:
            instance = self.problem.instance(sizes)
            inputs, weights = self.draw(instance, seed)
            for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-8))[:2 if double else 1]:
                expected = self.eager(instance, inputs, weights, dtype)
                given = [t.to(dtype) if t.is_floating_point() else t.clone() for t in (*inputs, *weights)]
                outputs = self.run_text(given)
                if self.floating and any(a.dtype != b.dtype for a, b in zip(outputs, expected)):
                    return f"in {dtype} it returns {outputs[0].dtype}"
                expected = [t.reshape(1) if t.dim() == 0 else t for t in expected]
                if not close(outputs, expected, tolerance):
                    return f"outputs differ in {dtype}"
        except Exception as error:
            return summary(error)
        return None

    def run_text(self, given):
        return reference.run_text(self.function, [*given, *self.scalars.values()])

    def make_text(self):
        """The first way whose text is right at the case; axes that it does not follow become numbers."""
        reasons = []
        varies = [[not size.isdigit() for size in shape] for shape in self.input_shapes + self.weight_shapes]
        ways = ["export", "trace"]
        if len(self.weight_names) > MANY_WEIGHTS or self.case_survey.operations > MANY_OPERATIONS:
            ways.reverse()  # torch.export takes half a minute then
        if self.plain_text():
            ways.insert(0, "text")
        for way in ways:
            try:
                instance = self.problem.instance(self.case)
                if way == "text":
                    self.text = self.plain_text()
                elif way == "export":
                    self.text = reference.exported_text(instance, self.input_names + self.weight_names, varies)
                else:
                    self.text = reference.traced_text(instance)
                if way != "text":
                    self.text = reference.with_scalars(self.text, self.scalars)
                self.function = reference.compile_text(self.text)
                if changed := self.changed_arguments():
                    self.text = reference.with_copies(self.text, changed)
                    self.function = reference.compile_text(self.text)
            except Exception as error:
                reasons.append(f"{way}: {summary(error)}")
                continue
            wrong = self.why_wrong(self.case, double=True)
            if way == "trace" and ways[0] == way:
                wrong = wrong or self.why_wrong(self.other)  # where export may do better
            if not wrong:
                self.report["way"] = way
                if reasons:
                    self.report["other_way"] = reasons[0]
                return
            reasons.append(f"{way}: {wrong}")
        if self.is_random():
            raise LeftOut("its output is random: forward draws numbers")
        raise LeftOut("; ".join(reasons))

    def plain_text(self):
        """The problem's own function where it may be TorchScript, or None."""
        return None

    def changed_arguments(self):
        """The arguments that the text writes to."""
        inputs, weights = self.draw(self.problem.instance(self.case))
        names = [a.name for a in self.function.schema.arguments]
        given = [*inputs, *weights]
        self.run_text(given)
        return [name for name, tensor in zip(names, given) if tensor._version]

    def is_random(self):
        instance = self.problem.instance(self.case)
        given = self.draw(instance)
        outputs = []
        for seed in (1, 2):
            torch.manual_seed(seed)
            outputs.append(self.eager(instance, *given))
        return not close(*outputs, 1e-6)

    def axes_not_followed(self):
        """The axes at whose other sizes the text is wrong."""
        unmoved = [n for n in self.axes if n not in self.moved]
        if not self.moved or not self.why_wrong(self.other):
            return unmoved
        wrong = [n for n in self.moved if self.why_wrong({**self.case, n: self.other[n]})]
        return unmoved + (wrong or self.moved)

    def settle(self):
        """Cases, shapes and a text that agree; until then, one axis after the other becomes a number."""
        case, self.text = None, ""
        while True:
            self.choose_cases()
            groups = self.fit_shapes()
            if groups is None:
                self.fix([n for n in self.names("width") + self.names("free") if n in self.unfit][:1])
                continue
            self.input_shapes, self.weight_shapes, self.output_shapes = groups
            self.name_tensors()
            self.choose_weight_values()
            if self.case != case:  # else the text of before will do
                case = self.case
                self.choose_input_values()
                self.make_text()
            self.report["seconds_text"] = self.elapsed()
            if not (wrong := self.axes_not_followed()):
                return
            self.fix(wrong)

    def fix(self, names):
        """These sizes become numbers: the published ones where a small case allows them."""
        self.fixed.update(names)
        for name in names:
            survey = self.problem.try_survey({**self.case, name: self.problem.sizes[name]}, flops=True)
            bearable = survey and survey.elements < 2e8 and survey.flops < 1e11 and survey.operations < 2000
            small = survey and survey.elements < 5e6 and survey.flops < 1e9
            heavy = self.case_survey.flops > 1e9  # already: this network is not for an emulator
            use_published = small or heavy and bearable
            self.quick = {**self.quick, name: self.problem.sizes[name] if use_published else self.case[name]}

    # ---- ranges ----

    def tells(self, sizes):
        """Whether a shape is of use: the text is right there, and the outputs are neither zero nor infinite."""
        survey = self.problem.try_survey(sizes, flops=True)
        if not survey or not self.shapes_hold(sizes, survey):
            return False
        if survey.flops > 1e9 or survey.total > 3e7:
            return True
        if self.why_wrong(sizes):
            return False
        instance = self.problem.instance(sizes)
        outputs = [t.double() for t in self.eager(instance, *self.draw(instance, seed=5))]
        return all(t.numel() and bool(torch.isfinite(t).any()) and float(t.abs().max()) > 1e-6 for t in outputs)

    def shapes_hold(self, sizes, survey):
        shapes = [*survey.inputs, *survey.weights.values(), *survey.outputs]
        expressions = [*self.input_shapes, *self.weight_shapes, *self.output_shapes]
        return all(
            [task_file.evaluate(e, sizes) for e in fitted] == shape for fitted, shape in zip(expressions, shapes))

    def choose_ranges(self, points):
        """The sizes of each axis at which the text holds, which contain the points; None if they cannot be told."""
        ranges = {}
        for name in self.axes:
            values = sorted({p[name] for p in points})
            steps = [s for s in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64, 128, 256, 512, 1024)
                     if all((v - values[0]) % s == 0 for v in values)]
            step = next((s for s in steps if all(
                self.valid({**self.case, name: self.case[name] + s * k}) for k in (1, 2, 3))), None)
            if step is None:  # a few neighbouring sizes, if any
                span = range(values[0], values[-1] + 1)
                if len(span) > 64 or not all(self.valid({**self.case, name: v}) for v in span):
                    return None
                ranges[name] = [span[0], span[-1], 1]
                continue
            low = values[0]
            for candidate in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32):
                first = candidate + (values[0] - candidate) % step
                if first < values[0] and self.tells({**self.case, name: first}):
                    low = first
                    break
            ranges[name] = [low, values[-1], step]
        while not self.tells(corner := {**self.case, **{n: r[0] for n, r in ranges.items()}}):
            raised = False  # small sizes that hold alone need not hold together
            for name, (low, _, step) in ranges.items():
                least = min(p[name] for p in points)
                if low < least:
                    ranges[name][0] = min(low + step * math.ceil(max(low, 1) / step), least - (least - low) % step)
                    raised = True
            if not raised:
                return None
        choice = random.Random(self.problem.key)
        for _ in range(5):
            drawn = {
                n: choice.randrange(low, min(high, 8 * self.case[n]) + 1, step)
                for n, (low, high, step) in ranges.items()}
            if not self.valid({**self.case, **drawn}):
                return None
        return {n: r if r[2] > 1 else r[:2] for n, r in ranges.items()}

    def valid(self, sizes):
        survey = self.problem.try_survey(sizes)
        return survey is not None and self.shapes_hold(sizes, survey)

    # ---- what a kernel could get away with ----

    def find_degenerate(self):
        """With KernelBench's own draws, at its own sizes as far as time permits."""
        problem = self.problem
        sizes, survey, fits = problem.shrink(
            self.quick, [self.names("free"), self.names("width")],
            lambda s: s.memory < 5e6 and s.total < 1e7 and s.flops < 1e9, deadline=6)
        flags = []
        if survey and (fits or (survey.memory < 5e7 and survey.flops < 5e9)):
            flags += self.degenerate_draws(problem.instance(sizes), problem.instance(sizes, seed=50))
        if problem.dropout:
            flags.append("the model drops elements at random in training; the task has no dropout")
        flags += self.ignored()
        self.report["degenerate"] = flags

    def degenerate_draws(self, one, two):
        weights = list(one.weights.values())
        y, other = self.eager(one, one.inputs, weights), self.eager(one, two.inputs, weights)
        flags = []
        for tolerance in (1e-4, 1e-2):
            names = []
            if close(y, [torch.zeros_like(t) for t in y], tolerance):
                names.append("zeros pass")
            elif all(t.is_floating_point() for t in y) and y[0].numel() > 1 and close(
                    y, [torch.full_like(t, t.mean().item()) for t in y], tolerance):
                names.append("one number everywhere passes")
            if close(y, other, tolerance):
                names.append("other inputs give the same output")
            copies = [n for n, t in zip(self.input_names, one.inputs) if close(y, [t], tolerance)]
            names += [f"a copy of the input {name} passes" for name in copies]
            for i, name in enumerate(self.input_names if len(one.inputs) > 1 else []):
                mixed = [two.inputs[k] if k == i else t for k, t in enumerate(one.inputs)]
                if close(y, self.eager(one, mixed, weights), tolerance):
                    names.append(f"the input {name} does not matter")
            seen = {flag.partition(" at ")[0] for flag in flags}
            flags += [f"{name} at {tolerance:g} with {self.project}'s own inputs" for name in names if name not in seen]
        return flags

    def ignored(self):
        """Inputs and weights of the task itself without an effect, such as a bias before a normalisation."""
        survey = self.case_survey
        if survey.flops > 1e9:
            return []
        instance = self.problem.instance(self.case)
        inputs, weights = self.draw(instance)
        others = [t for part in self.draw(instance, seed=7) for t in part]
        given = [*inputs, *weights]
        y = self.run_text(given)
        names, began = [], time.process_time()
        for i, name in enumerate(self.input_names + self.weight_names):
            if time.process_time() - began > 3:
                break
            if close(y, self.run_text([*given[:i], others[i], *given[i + 1:]]), 1e-5):
                names.append(name)
        self.zeros_pass = close(y, [torch.zeros_like(t) for t in y], 1e-7)
        flags = ["the output is zero for all inputs"] if self.zeros_pass else []
        if names:
            flags.append(f"without effect on the output: {', '.join(names)}")
        return flags

    # ---- the file ----

    def tolerance(self):
        """atol in proportion to the outputs; of a softmax, smaller still, since its values shrink as its rows grow."""
        finite = [t[torch.isfinite(t)].double().abs() for t in self.outputs if t.is_floating_point()]
        finite = torch.cat(finite) if finite else torch.ones(1)
        scale = float(finite.mean()) if finite.numel() else 1.0
        power = math.floor(math.log10(max(scale, 1e-6))) - 5
        atol = 10.0 ** min(power, -5)
        if "_softmax" in self.case_survey.names:
            atol = min(atol, 1e-9)
        return {"rtol": "1e-4", "atol": f"{atol:.0e}", "terms": task_file.quoted(self.renamed(self.terms))}

    def renamed(self, expression):
        return re.sub(r"[A-Za-z_]\w*", lambda match: self.axis_names.get(match.group(), match.group()), expression)

    def at(self, sizes):
        return {self.axis_names[n]: sizes[n] for n in self.axes}

    def axis_table(self):
        return {name: task_file.quoted("var") for name in self.at(self.case)}

    def scalar_tables(self):
        return []

    def naive(self):
        return ""

    def write(self, folder):
        cases = [self.case] + ([self.other] if self.at(self.other) != self.at(self.case) else [])
        holdout = [self.holdout] if self.at(self.holdout) not in map(self.at, cases) else []
        real = self.choose_real()
        points = cases + holdout + real
        ranges = self.choose_ranges(points) if self.axes else None
        self.report["seconds_ranges"] = self.elapsed()
        self.find_degenerate()
        inputs, outputs = self.tensors()
        text = task_file.task_text(self.comments(), {
            "id": task_file.quoted(self.task_id()),
            "tier": str(self.tier()),
            "title": task_file.quoted(self.title),
            "prompt": task_file.block(self.prompt()),
            "axes": task_file.table(self.axis_table()),
            "reference": task_file.block(self.text),
            "naive": task_file.block(naive) if (naive := self.naive()) else "",
            "cases": task_file.tables(map(self.at, cases)),
            "real": task_file.tables(map(self.at, real)),
            "holdout": task_file.tables(map(self.at, holdout)),
            "ranges": task_file.table({self.axis_names[n]: r for n, r in ranges.items()}) if ranges else "",
            "tolerance": task_file.table(self.tolerance()),
            "work": task_file.table({"operations": task_file.quoted(self.renamed(self.work))}) if self.work else "",
        }, inputs, outputs, self.scalar_tables())
        path = (folder / "refused" if self.zeros_pass else folder) / self.task_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.report.update(
            imported=True, task=str(path.relative_to(folder)), axes={n: self.kinds[n] for n in self.axes},
            fixed=sorted(self.fixed), real=[self.at(r) for r in real], ranges=bool(ranges),
            tensors=len(inputs) + len(outputs),
            verified=[self.at(s) for s in cases])
        if self.zeros_pass:
            self.report["reason"] = "imported, but refused by kernelrl: zeros are the right output for all inputs"

    def elapsed(self):
        return round(time.process_time() - self.began, 2)

    def run(self, folder):
        self.began, self.zeros_pass = time.process_time(), False
        self.examine()
        self.settle()
        self.write(folder)


def summary(error):
    """An exception in one line."""
    skipped = ("File", "Traceback", "~", "The following", "Exception raised")
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.strip().startswith(skipped)]
    telling = [line for line in lines if "Error" in line or "annot" in line or "nknown" in line]
    return f"{type(error).__name__}: {(telling or lines or ['?'])[-1 if isinstance(error, RuntimeError) else 0]}"[:200]


def import_one(make, report, folder, part):
    """In a process of its own. Writes what it reports to `part`."""
    began = time.process_time()
    try:
        importer = make()
        report = importer.report
        importer.run(folder)
    except LeftOut as why:
        report["reason"] = str(why)
    except ModuleNotFoundError as error:
        report["reason"] = f"it needs a Python package: pip install {error.name}"
    except BaseException as error:
        report["reason"] = summary(error)
        if os.environ.get("KERNELRL_TRACEBACK"):
            traceback.print_exc()
    report["seconds"] = round(time.process_time() - began, 1)
    part.write_text(json.dumps(report))


def warm_up():
    """What every child needs and takes seconds: the first use of these features imports a lot."""
    from torch.utils.flop_counter import FlopCounterMode
    with torch.device("meta"), FlopCounterMode(display=False):
        nn.Linear(2, 2)(torch.rand(2, 2))
    dynamic = ({0: torch.export.Dim.AUTO},)
    torch.export.export(nn.Linear(2, 2), (torch.rand(3, 2),), dynamic_shapes=dynamic, strict=False)


def import_all(problems, folder, jobs, timeout):
    """Each problem in a child process, so that a crash or a hang costs one problem only.

    problems: [(make, report)], where make() gives the importer, and the report has the problem's key and file. Returns
    the reports in the same order.
    """
    parts = folder / ".parts"
    parts.mkdir(parents=True, exist_ok=True)
    queue, running, reports = list(enumerate(problems)), {}, {}
    while queue or running:
        while queue and len(running) < jobs:
            number, (make, about) = queue.pop(0)
            part = parts / f"{number}.json"
            part.unlink(missing_ok=True)
            child = os.fork()
            if child == 0:
                # Processor time, which does not depend on what else runs on the machine.
                resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(timeout), math.ceil(timeout) + 5))
                warnings.simplefilter("ignore")
                logging.disable(logging.CRITICAL)
                import_one(make, {**about, "imported": False}, folder, part)
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)
            running[child] = (number, about, part, time.monotonic())
        time.sleep(0.02)
        for child, (number, about, part, start) in list(running.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            late = not done and time.monotonic() - start > 5 * timeout
            if late:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            if done or late:
                del running[child]
                late = late or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
                why = f"it took more than {timeout:.0f} s" if late else "the import crashed"
                failed = {**about, "imported": False, "reason": why}
                report = reports[number] = json.loads(part.read_text()) if part.exists() else failed
                part.unlink(missing_ok=True)
                print(line_of(report), flush=True)
    parts.rmdir()
    return [reports[number] for number in range(len(problems))]


def line_of(report):
    what = report.get("reason", "")
    if report["imported"] and not what:
        what = f"{report['way']}, axes {', '.join(report['axes']) or 'none'}"
    done = "imported" if report["imported"] else "left out"
    return f"{report['problem']:>6}  {done}  {report.get('seconds', 0):5.1f} s  {what}"


def commit_of(checkout):
    found = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else ""
