"""Tests of scripts/import/kernelbench.py: python3 tests/import/kernelbench_test.py

Needs the packages of the script. With KERNELRL set to the program, the tasks are also read and prepared by it.
"""
import hashlib
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
sys.path.insert(0, str(SCRIPTS))

try:
    import torch
    import kernelbench
    import reference
    import task_file
except ImportError as error:
    sys.exit(f"skipped: {error}")


class Import(unittest.TestCase):
    """All problems of the folder `problems`, imported once."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.temporary.name)
        command = [sys.executable, SCRIPTS / "kernelbench.py", HERE / "problems", cls.out]
        cls.printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        cls.reports = {r["problem"]: r for r in json.loads((cls.out / "report.json").read_text())}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def task(self, problem):
        report = self.reports[problem]
        self.assertTrue(report["imported"], report)
        return tomllib.loads((self.out / report["task"]).read_text())

    def shapes(self, task):
        return {t["name"]: t["shape"] for t in task["input"] + task["output"]}

    def test_every_size_of_a_matrix_product_is_an_axis(self):
        task = self.task("1/1")
        self.assertEqual(task["id"], "kernelbench/1/1")
        self.assertEqual(self.shapes(task), {"A": ["M", "K"], "B": ["K", "N"], "out": ["M", "N"]})
        self.assertEqual(task["real"], [{"M": 1024, "K": 512, "N": 128}])
        self.assertEqual(task["tolerance"]["terms"], "K")
        self.assertEqual(len(task["cases"]), 2)
        factors = sorted(task["work"]["operations"].split(" * "))
        self.assertEqual(factors, ["2", "K", "M", "N"])

    def test_the_prompt_has_the_source_and_the_file_its_origin(self):
        task, path = self.task("2/1"), self.out / self.reports["2/1"]["task"]
        self.assertIn("class Model(nn.Module)", task["prompt"])
        self.assertIn("Model(in_channels, out_channels, kernel_size, bias_shape) with kernel_size = 3", task["prompt"])
        self.assertIn("conv_weight is conv.weight", task["prompt"])
        self.assertNotIn("get_inputs", task["prompt"])
        comments = path.read_text().partition("\n\n")[0]
        self.assertIn("KernelBench/level2/1_Convolution_with_bias.py", comments)
        self.assertNotIn("MIT", comments)  # the problems are not KernelBench's
        self.assertIn("height = 64, width = 48", comments)

    def test_the_report_has_digests_of_the_sources(self):
        self.assertEqual(len(self.reports["2/1"]["sha256"]), 64)
        digest = kernelbench.source_digest
        self.assertEqual(digest("a\n\nb\n"), digest("a  \r\n\n\nb"))
        self.assertNotEqual(digest("a\nb"), digest("a\n b"))
        self.assertEqual(digest("a\nb"), hashlib.sha256(b"a\nb\n").hexdigest())

    def test_a_file_from_kernelbench_has_its_licence(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "LICENSE").write_text("MIT License\n\nCopyright (c) 2023 Anne Ouyang\n")
            self.assertIn("MIT License, Copyright (c) 2023 Anne Ouyang", kernelbench.origin_of(pathlib.Path(folder))[1])
        self.assertEqual(kernelbench.origin_of(HERE / "problems"), ["From problems:"])

    def test_a_convolution_has_output_sizes_as_expressions(self):
        task = self.task("2/1")
        shapes = self.shapes(task)
        self.assertEqual(shapes["conv_weight"], ["out_channels", "in_channels", 3, 3])
        self.assertEqual(shapes["bias"], ["out_channels", 1, 1])
        sizes = {"height": 64, "width": 48}
        self.assertEqual([task_file.evaluate(str(e), sizes) for e in shapes["out"][2:]], [16, 12])
        weight = next(t for t in task["input"] if t["name"] == "conv_weight")
        self.assertEqual(weight["bounds"][1], "sqrt(6.0 / (9 * in_channels))")

    def test_a_softmax_has_a_tolerance_for_long_rows(self):
        task = self.task("1/2")
        self.assertEqual(task["tolerance"]["atol"], 1e-9)
        self.assertEqual(task["tolerance"]["terms"], "features")
        self.assertTrue(any("zeros pass" in flag for flag in self.reports["1/2"]["degenerate"]))

    def test_class_targets_have_the_bounds_of_their_draw(self):
        task = self.task("1/3")
        targets = next(t for t in task["input"] if t["name"] == "targets")
        self.assertEqual((targets["dtype"], targets["bounds"]), ("int64", ["0", "num_classes"]))
        self.assertEqual(task["output"][0]["shape"], [1])

    def test_names_that_mean_something_else_get_a_prefix(self):
        task = self.task("1/4")
        self.assertIn("size_dim3", task["axes"])
        self.assertIn("the axis size_dim3 is dim3", task["prompt"])
        self.assertIn("factor = 2.5", task["prompt"])

    def test_matrices_have_the_structure_of_their_draws(self):
        task = self.task("1/5")
        structures = {t["name"]: t.get("structure") for t in task["input"]}
        self.assertEqual(structures, {
            "S": "symmetric", "U": "upper_triangular", "L": "lower_triangular", "general": None, "factor": None})
        self.assertIn("U is upper triangular.", task["prompt"])
        published = tomllib.loads((self.out / self.reports["1/5"]["task"]).with_suffix(".kernelbench").read_text())
        drawn = {t["name"]: (t["values"], t.get("bounds"), t.get("structure")) for t in published["input"]}
        for name, structure in structures.items():
            if name != "factor":
                self.assertEqual(drawn[name], ("uniform", ["0", "1"], structure))

    def test_problems_may_be_made_on_a_gpu(self):
        self.assertEqual(self.shapes(self.task("1/7")),
                         {"x": ["rows", "features"], "scale": ["features"], "out": ["rows", "features"]})

    def test_products_of_many_numbers(self):
        """Their inputs neither vanish nor overflow, and their rounding grows with the number of factors."""
        task = self.task("1/6")
        self.assertEqual(task["tolerance"]["terms"], "features")
        self.assertEqual(self.reports["1/6"]["heavy_operations"], 1)
        self.assertEqual((task["input"][0]["values"], task["input"][0]["bounds"]), ("uniform", ["0.99", "1.01"]))

    def test_a_parameter_of_one_value_has_bounds_that_differ(self):
        published = tomllib.loads((self.out / self.reports["1/5"]["task"]).with_suffix(".kernelbench").read_text())
        factor = next(t for t in published["input"] if t["name"] == "factor")
        low, high = map(float, factor["bounds"])
        self.assertLess(low, high)
        self.assertLess(abs(low - 0.7), 1e-7)
        self.assertLess(abs(high - 0.7), 1e-5)

    def test_literal_sizes_are_axes_and_masks_stay_in_the_text(self):
        task = self.task("2/5")
        self.assertEqual([t["name"] for t in task["input"]], ["x"])
        self.assertEqual(len(task["axes"]), 3)
        self.assertIn("torch.tril(torch.ones([200, 200]", task["reference"])

    def test_batch_norm_uses_the_batch(self):
        task = self.task("2/2")
        self.assertNotIn("running_mean", task["reference"])
        self.assertIn("statistics of the batch", task["prompt"])
        self.assertIn("without effect on the output: linear_bias", self.reports["2/2"]["degenerate"])

    def test_dropout_is_named_and_off(self):
        self.assertIn("There is no dropout.", self.task("2/3")["prompt"])
        self.assertTrue(any("at random" in flag for flag in self.reports["2/3"]["degenerate"]))

    def test_what_is_random_is_left_out_with_the_reason(self):
        self.assertFalse(self.reports["2/4"]["imported"])
        self.assertIn("random", self.reports["2/4"]["reason"])
        self.assertIn("random", self.printed)
        self.assertFalse(list(self.out.rglob("004_linear_with_noise.toml")))

    def test_what_is_always_zero_lies_apart(self):
        self.assertTrue(self.reports["2/6"]["task"].startswith("refused/"))
        self.assertIn("zeros", self.reports["2/6"]["reason"])

    def test_texts_name_operators_only(self):
        for problem, report in self.reports.items():
            if report["imported"]:
                reference.compile_text(self.task(problem)["reference"])
        for text in ("torch.nn.functional.relu(x)", "torch.float32", "x + math.pi"):
            with self.assertRaises(RuntimeError, msg=text):
                reference.compile_text(f"def run(x):\n    return {text}\n")

    @unittest.skipUnless(os.environ.get("KERNELRL"), "KERNELRL does not name the program")
    def test_kernelrl_accepts_the_tasks(self):
        kernel = self.out / "kernel.cu"
        kernel.write_text("// @launch nothing<<<1, 1>>>()\n__global__ void nothing() {}\n")
        for path in sorted(self.out.glob("level*/*.toml")):
            command = [os.environ["KERNELRL"], "eval", "--backend", "cpu", "--task", path, "--holdout", kernel]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 2, f"{path.name}: {done.stdout}{done.stderr}")


class Expressions(unittest.TestCase):
    BASE = {"a": 9, "b": 10}

    def fit(self, function):
        alone = [{**self.BASE, name: self.BASE[name] + step} for name in "ab" for step in (1, 2, 3, 4, 5, 8, 20)]
        sizes = [self.BASE, *alone, {"a": 14, "b": 13}, {"a": 31, "b": 21}]
        return task_file.fit([(s, function(**s)) for s in sizes], ["a", "b"])

    def test_expressions_give_what_they_were_fitted_to(self):
        functions = [
            lambda a, b: 7, lambda a, b: a, lambda a, b: 5 * a - 3, lambda a, b: (a + 1) // 2,
            lambda a, b: (a - 2) // 4, lambda a, b: 2 * (b // 2) + 1, lambda a, b: a * b, lambda a, b: a + 4 * b,
            lambda a, b: ((a - 2) // 2) * ((b + 1) // 3), lambda a, b: a * a, lambda a, b: 2 * a**3,
            lambda a, b: 2 * a * a * b]
        for i, function in enumerate(functions):
            text = self.fit(function)
            self.assertIsNotNone(text, f"function {i}")
            for a, b in ((9, 10), (100, 37), (64, 66)):
                self.assertEqual(task_file.evaluate(text, {"a": a, "b": b}), function(a, b), text)

    def test_what_has_no_expression_is_none(self):
        self.assertIsNone(self.fit(lambda a, b: (a * 7919) % 31))


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
