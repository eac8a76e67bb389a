"""Tests of scripts/import/definitions.py: python3 tests/import/definitions_test.py

Needs the packages of the script. With KERNELRL set to the program, tasks also go through it: out as definitions and
back, judged alike.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

HERE = pathlib.Path(__file__).parent
SCRIPTS = HERE.parent.parent / "scripts" / "import"
TASKS = HERE.parent.parent / "configs" / "tasks"
sys.path.insert(0, str(SCRIPTS))

try:
    import torch
    import definition
    import definitions
    import reference
    import solution
except ImportError as error:
    sys.exit(f"skipped: {error}")


def imported(folder, out):
    """What it printed, and name -> report, of definitions and of solutions that are no answers."""
    command = [sys.executable, SCRIPTS / "definitions.py", folder, out]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    reports = json.loads((out / "report.json").read_text())
    return printed, {r.get("problem", r.get("solution")): r for r in reports}


class Import(unittest.TestCase):
    """The definitions of the folder `definitions`, in the layouts of both projects, imported once."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.temporary.name)
        cls.printed, cls.reports = imported(HERE / "definitions", cls.out)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def task(self, name):
        report = self.reports[name]
        self.assertTrue(report["imported"], report)
        return tomllib.loads((self.out / report["task"]).read_text())

    def left_out(self, name, *words):
        report = self.reports[name]
        self.assertFalse(report.get("imported"), report)
        for word in words:
            self.assertIn(word, report["reason"])
            self.assertIn(word, self.printed)

    def test_workloads_give_sizes_scalars_and_ranges(self):
        task = self.task("scaled_norm_h48")
        self.assertEqual(task["axes"], {"hidden": 48, "rows": "var"})
        self.assertEqual(task["scalar"], [{"name": "eps", "dtype": "float32", "value": "0.01"}])
        self.assertIn({"rows": 4000}, task["real"])
        self.assertNotIn({"rows": 7}, task["real"])  # it has another eps
        self.assertEqual(task["ranges"], {"rows": [1, 4000]})
        self.assertEqual([t["dtype"] for t in task["input"] + task["output"]], ["bfloat16"] * 3)
        self.assertEqual(task["tolerance"]["rtol"], 0.016)
        self.assertEqual(task["tolerance"]["terms"], "48")

    def test_the_text_follows_the_type_of_the_judge(self):
        function = reference.compile_text(self.task("scaled_norm_h48")["reference"])
        x, gain = torch.rand(3, 48, dtype=torch.float64), torch.rand(48, dtype=torch.float64)
        y, = reference.run_text(function, [x, gain, 0.01])
        torch.testing.assert_close(y, x / (x.square().sum(-1, keepdim=True) + 0.01).sqrt() * gain, rtol=1e-14, atol=0)

    def test_expressions_generators_and_tolerances_of_sol(self):
        task = self.task("mixed_rows")
        self.assertEqual(task["axes"]["size_half"], "width / 2")
        inputs = {t["name"]: t for t in task["input"]}
        self.assertEqual((inputs["ids"]["values"], inputs["ids"]["bounds"]), ("integers", ["0", "vocab"]))
        self.assertEqual(inputs["rate"]["shape"], ["batch", 1])
        self.assertGreaterEqual(float(inputs["rate"]["bounds"][0]), 1)
        self.assertNotIn("scalar", task)  # a bool is in the text
        self.assertIn("flip = True", task["prompt"])
        self.assertNotIn("def draw", task["prompt"])
        self.assertEqual((task["tolerance"]["rtol"], task["tolerance"]["atol"]), (1e-3, 1e-3))

    def test_an_equation_of_axes_makes_one_an_expression(self):
        task = self.task("windows")
        self.assertEqual(task["axes"], {"length": 6, "batch": "var", "ends": "batch + 1"})
        self.assertIn("there is no workload", " ".join(self.reports["windows"]["notes"]))

    def test_what_is_left_out_says_why(self):
        self.left_out("fp8_product", "float8_e4m3fn")
        self.left_out("segment_means", "total == offsets[-1].item()")
        self.left_out("value_loop", "looks at the values")
        self.left_out("unknown_bounds", "no workload says what the integers of at are")
        self.left_out("scattered", "the integers of to differ within each row")
        self.assertIn("scaled_norm_h48.jsonl:5", self.printed)  # a line that is not JSON

    def test_a_torch_extension_is_an_answer_under_the_contract_host(self):
        rows = [json.loads(line) for line in (self.out / "solutions.jsonl").read_text().splitlines()]
        self.assertEqual([r["solution"] for r in rows], ["norm_torch"])
        self.assertEqual((rows[0]["contract"], rows[0]["task"]), ("host", "definitions/scaled_norm_h48"))
        self.assertEqual(rows[0]["claim"]["correct"], True)
        self.assertAlmostEqual(rows[0]["claim"]["speedup"], 3.0)  # the geometric mean of its traces
        self.assertIn('m.def("forward", &run)', rows[0]["source"])
        self.assertNotIn('#include "norm.h"', rows[0]["source"])
        self.assertLess(rows[0]["source"].index("__global__"), rows[0]["source"].index("PYBIND11_MODULE"))
        self.left_out("norm_ffi", "tvm-ffi")
        self.left_out("norm_triton", "triton")
        self.left_out("norm_blas", "cublas")

    @unittest.skipUnless(os.environ.get("KERNELRL"), "KERNELRL does not name the program")
    def test_kernelrl_accepts_the_tasks(self):
        command = [os.environ["KERNELRL"], "tasks", "check", self.out]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertIn("3 accepted, 0 refused", done.stdout, done.stderr)


class Names(unittest.TestCase):
    def test_a_name_is_defined_once(self):
        data = {"name": "norm", "axes": {}, "inputs": {}, "outputs": {}, "reference": "one"}
        with tempfile.TemporaryDirectory() as folder:
            for file, reference_text in (("a", "one"), ("b", "one"), ("c", "another")):
                path = pathlib.Path(folder) / f"{file}.json"
                path.write_text(json.dumps({**data, "reference": reference_text}))
            definitions, broken = definition.read_folder(pathlib.Path(folder))
        self.assertEqual([d.path.name for d in definitions], ["a.json"])
        self.assertEqual(len(broken), 1)
        self.assertIn("c.json: 'norm' is defined otherwise in ", broken[0])

    def test_two_names_do_not_share_a_file(self):
        data = {"axes": {}, "inputs": {}, "outputs": {}, "reference": ""}
        found = [definition.Definition(pathlib.Path(f"{i}.json"), {**data, "name": name})
                 for i, name in enumerate(("norm h48", "norm_h48", "Norm/h48", "other", "l" * 100, "l" * 101))]
        broken = []
        self.assertEqual([d.name for d in definitions.with_files_of_their_own(found, broken)],
                         ["norm h48", "other", "l" * 100])
        self.assertEqual(len(broken), 3)
        self.assertEqual(broken[0], "1.json: the task of 'norm_h48' would have the file of 'norm h48'; rename one of them")


class Claims(unittest.TestCase):
    def test_a_solution_is_claimed_right_if_every_trace_passed(self):
        def claim(*evaluations):
            traces = [{"solution": "s", "evaluation": {"status": s, "performance": p}} for s, p in evaluations]
            return solution.claim_of({"name": "s"}, [*traces, {"solution": "t", "evaluation": {"status": "PASSED"}}])
        fast = {"speedup_factor": 2.0}
        self.assertEqual(claim(("PASSED", fast), ("PASSED", {"speedup_factor": 8.0})), {"correct": True, "speedup": 4.0})
        self.assertEqual(claim(("PASSED", fast), ("REWARD_HACK", None)), {"correct": False, "speedup": None})
        self.assertEqual(claim(("PASSED", fast), ("PASSED", None)), {"correct": True, "speedup": None})
        self.assertIsNone(claim(("INVALID_REFERENCE", None)))


FIELDS = {  # of FlashInfer-Bench's files: what is required, and of which type
    "definition": {"name": str, "op_type": str, "axes": dict, "inputs": dict, "outputs": dict, "reference": str},
    "workload": {"uuid": str, "axes": dict, "inputs": dict},
    "solution": {"name": str, "definition": str, "author": str, "spec": dict, "sources": list},
    "evaluation": {"status": str, "environment": dict, "timestamp": str, "correctness": dict, "performance": dict}}
PLAN = """
[policy]
use = "libtorch"
[backend]
use = "cpu"
[[dataset]]
use = "tasks"
path = "{}"
[[reward]]
use = "correctness"
[[stage]]
name = "rl"
kind = "rl"
iterations = 1
"""


@unittest.skipUnless(os.environ.get("KERNELRL"), "KERNELRL does not name the program")
class RoundTrip(unittest.TestCase):
    """Built-in tasks, written by `kernelrl runs export` as a run with a best kernel for each would, and read again."""
    TASKS = ("tier0/axpy_inplace", "tier1/gather_rows", "tier2/softmax_rows", "tier2/linear_bf16", "tier0/masked_fill")

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.temporary.name)
        run, tasks = cls.root / "runs" / "made", cls.root / "tasks"
        (run / "best").mkdir(parents=True)
        tasks.mkdir()
        cls.tasks = {}
        for name in cls.TASKS:
            text = (TASKS / f"{name}.toml").read_text()
            task = tomllib.loads(text)
            cls.tasks[task["id"]] = task
            (tasks / f"{task['id']}.toml").write_text(text)
            evaluation = cls.evaluated(tasks / f"{task['id']}.toml", task["naive"])
            (run / "best" / f"{task['id']}.json").write_text(json.dumps({
                "task": task["id"], "iteration": 1, "speedup": 1.0, "source": task["naive"],
                "evaluation": evaluation}))
        (run / "plan.toml").write_text(PLAN.format(tasks))
        command = [os.environ["KERNELRL"], "runs", "export", run, cls.root / "out", "--format", "definitions"]
        cls.written = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        cls.printed, cls.reports = imported(cls.root / "out", cls.root / "back")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def evaluated(cls, task, kernel):
        (cls.root / "kernel.cu").write_text(kernel)
        command = [os.environ["KERNELRL"], "eval", "--backend", "cpu", "--json", "--task", task, cls.root / "kernel.cu"]
        return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)

    def test_what_is_written_has_the_documented_fields(self):
        found = {kind: 0 for kind in FIELDS}

        def check(kind, data):
            found[kind] += 1
            for key, expected in FIELDS[kind].items():
                self.assertIsInstance(data.get(key), expected, f"{kind}.{key}: {data}")
        for path in (self.root / "out" / "definitions").rglob("*.json"):
            definition = json.loads(path.read_text())
            check("definition", definition)
            for spec in [*definition["inputs"].values(), *definition["outputs"].values()]:
                self.assertTrue(spec["shape"] is None or set(spec["shape"]) <= definition["axes"].keys())
            self.assertFalse(definition["inputs"].keys() & definition["outputs"].keys())
        for path in (self.root / "out" / "solutions").rglob("*.json"):
            solution = json.loads(path.read_text())
            check("solution", solution)
            entry, _, function = solution["spec"]["entry_point"].partition("::")
            source = next(s["content"] for s in solution["sources"] if s["path"] == entry)
            self.assertIn(f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({function}, ", source)
        for path in (self.root / "out").rglob("*.jsonl"):
            for line in map(json.loads, path.read_text().splitlines()):
                check("workload", line["workload"])
                self.assertEqual(line["solution"] is None, line["evaluation"] is None)
                if line["evaluation"]:
                    check("evaluation", line["evaluation"])
        n = len(self.TASKS)
        self.assertEqual((found["definition"], found["solution"], found["evaluation"]), (n, 2 * n, 2 * n), self.written)

    def test_the_tasks_come_back(self):
        for name, task in self.tasks.items():
            report = self.reports[name]
            self.assertTrue(report["imported"], report)
            back = tomllib.loads((self.root / "back" / report["task"]).read_text())
            self.assertEqual(report["way"], "text")
            self.assertEqual(back["reference"].strip(), task["reference"].strip())
            self.assertEqual(back["naive"].strip(), task["naive"].strip())
            self.assertEqual([t["name"] for t in back["output"]], [t["name"] for t in task["output"]])
            self.assertEqual([t["dtype"] for t in back["input"]], [t["dtype"] for t in task["input"]])
            self.assertEqual(back["tolerance"]["rtol"], task["tolerance"]["rtol"])

    def test_right_and_wrong_kernels_have_the_same_verdicts(self):
        slips = {"axpy_inplace": ("alpha * x[i] + y[i]", "alpha * x[i] - y[i]"), "gather_rows": ("order[r]", "r"),
                 "softmax_rows": (" / m1", ""),
                 "linear_bf16": ("bias[j]", "bias[0]"), "masked_fill": ("!= 0", "== 0")}
        for name, task in self.tasks.items():
            path = self.root / "back" / self.reports[name]["task"]
            wrong = task["naive"].replace(*slips[name])
            self.assertNotEqual(wrong, task["naive"])
            for kernel, verdict in ((task["naive"], "ok"), (wrong, "wrong_result")):
                self.assertEqual(self.evaluated(self.root / "tasks" / f"{name}.toml", kernel)["verdict"], verdict)
                self.assertEqual(self.evaluated(path, kernel)["verdict"], verdict, name)

    def test_the_best_kernels_are_answers(self):
        rows = [json.loads(line) for line in (self.root / "back" / "solutions.jsonl").read_text().splitlines()]
        best = {r["definition"]: r for r in rows if r["author"] == "kernelrl"}
        for name, task in self.tasks.items():
            self.assertEqual(best[name]["contract"], "device")
            self.assertTrue(best[name]["claim"]["correct"])
            self.assertGreater(best[name]["claim"]["speedup"], 0)
            self.assertEqual(best[name]["source"].strip(), task["naive"].strip())

    def test_what_traces_claim_stands_beside_the_verdicts(self):
        command = [os.environ["KERNELRL"], "eval", "--backend", "cpu", "--task", self.root / "back", "--where", "author == 'kernelrl'",
                   self.root / "back" / "solutions.jsonl"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertRegex(printed, r"definitions correct +5 +5 +0 +0\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
