"""Tests of `kernelrl tasks import pytorch` and `kernelrl judge`: python3 tests/import/pytorch_test.py

Needs the packages of scripts/import/pytorch.py. With KERNELRL set to the program, kernels are judged as well.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

SCRIPTS = pathlib.Path(__file__).parent.parent.parent / "scripts" / "import"
sys.path.insert(0, str(SCRIPTS))

try:
    import numpy  # noqa: F401
    import torch  # noqa: F401
    import pytorch
except ImportError as error:
    sys.exit(f"skipped: {error}")

FUNCTION = """import torch.nn.functional as F


def leaky_rowmax(x):
    return F.leaky_relu(x, 0.01).max(dim=1).values
"""
MODULE = """import torch


class Scale(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight


rows, columns = 300, 200


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
"""
KERNEL = """// @launch rowmax<<<rows, 32>>>(x, out, columns)
__global__ void rowmax(const float* x, float* out, int columns) {
  float m = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += 32) {
    float v = x[blockIdx.x * columns + c];
    m = fmaxf(m, v > 0 ? v : 0.01f * v);
  }
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  if (threadIdx.x == 0) out[blockIdx.x] = m;
}
"""
SHAPE = ["--shape", "x=rows:1024,columns:512"]


class Pytorch(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "function.py").write_text(FUNCTION)
        (self.folder / "module.py").write_text(MODULE)

    def tearDown(self):
        self.temporary.cleanup()

    def run_import(self, *words):
        command = [sys.executable, SCRIPTS / "pytorch.py", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder)

    def test_a_function_with_shapes(self):
        done = self.run_import("function.py", *SHAPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "function.toml").read_text()
        task = tomllib.loads(text)
        self.assertEqual((task["id"], list(task["axes"])), ("function", ["rows", "columns"]))
        self.assertEqual([(t["name"], t["shape"]) for t in task["input"]], [("x", ["rows", "columns"])])
        self.assertEqual(task["real"], [{"rows": 1024, "columns": 512}])
        self.assertNotIn("KernelBench", text)
        self.assertNotIn("MIT", text)
        again = self.run_import("function.py", *SHAPE)
        self.assertIn("function.toml exists already", again.stderr)

    def test_a_module_with_inputs(self):
        done = self.run_import("module.py", "scale.toml")
        self.assertEqual(done.returncode, 0, done.stderr)
        task = tomllib.loads((self.folder / "scale.toml").read_text())
        self.assertEqual(task["id"], "scale")
        self.assertEqual([(t["name"], t["shape"]) for t in task["input"]],
                         [("x", ["rows", "columns"]), ("weight", ["columns"])])

    def test_what_is_missing_is_named(self):
        two = FUNCTION + "\n\ndef other(x):\n    return x\n"
        for source, name, shapes, why in (
                (FUNCTION, None, [], "it has no get_inputs()"),
                (two, None, [], "choose one by --name leaky_rowmax|other"),
                (FUNCTION, "leaky", [], "there is no 'leaky' in it"),
                (FUNCTION, None, ["x=rows,3"], "'rows' is no size")):
            with self.assertRaises(SystemExit) as ended:
                pytorch.as_problem(source, name, shapes)
            self.assertIn(why, str(ended.exception))

    @unittest.skipUnless(os.environ.get("KERNELRL"), "KERNELRL does not name the program")
    def test_a_kernel_is_judged_in_one_step(self):
        for source, code, verdict in ((KERNEL, 0, "ok"), (KERNEL.replace("c < columns", "c <= columns"), 3, "runtime_fault")):
            (self.folder / "kernel.cu").write_text(source)
            command = [os.environ["KERNELRL"], "judge", "kernel.cu", "--reference", "function.py", *SHAPE]
            done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder,
                                  env={**os.environ, "KERNELRL_PYTHON": sys.executable})
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(done.stdout.startswith(verdict), done.stdout)
            self.assertEqual(" us (estimated)" in done.stdout, code == 0, done.stdout)

    @unittest.skipUnless(os.environ.get("KERNELRL"), "KERNELRL does not name the program")
    def test_a_task_is_kept_for_the_next_kernel(self):
        (self.folder / "kernel.cu").write_text(KERNEL)
        (self.folder / "torch").mkdir()
        (self.folder / "torch" / "__init__.py").write_text("raise ImportError('torch is loaded again', name='torch')\n")
        command = [os.environ["KERNELRL"], "judge", "kernel.cu", "--reference", "module/function.py", *SHAPE]
        (self.folder / "module").mkdir()
        (self.folder / "function.py").rename(self.folder / "module" / "function.py")
        given = {**os.environ, "KERNELRL_PYTHON": sys.executable, "XDG_CACHE_HOME": str(self.folder / "cache")}
        outputs = [subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env={**given, **more}).stdout
                   for more in ({}, {"PYTHONPATH": str(self.folder)})]
        self.assertTrue(outputs[0].startswith("ok"))
        self.assertEqual(*outputs)


if __name__ == "__main__":
    unittest.main()
