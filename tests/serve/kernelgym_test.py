"""KernelGYM's protocol against `kernelrl serve`, for a task as scripts/import/kernelbench.py makes them."""
import hashlib
import json
import pathlib
import tempfile
import unittest

from judge_server import CHECKOUT, ROW_SUM, JudgeServer

SOURCE = """import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum(dim=1)

rows = 128
"""


def imported_task(out):
    """Writes the task of SOURCE into a folder, as the importer does."""
    (out / "level1").mkdir()
    task = (CHECKOUT / "configs" / "tasks" / "tier1" / "row_sum.toml").read_text()
    (out / "level1" / "047_sum.toml").write_text(task.replace('"row_sum"', '"kernelbench/1/47"', 1))
    lines = "".join(line + "\n" for line in SOURCE.split("\n") if line)
    report = [{"problem": "1/47", "sha256": hashlib.sha256(lines.encode()).hexdigest()}, {"problem": "1/48"}]
    (out / "report.json").write_text(json.dumps(report))


class KernelGym(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        imported_task(pathlib.Path(folder.name))
        cls.server = JudgeServer("--tasks", folder.name)
        cls.addClassCleanup(cls.server.stop)

    def evaluate(self, kernel, number, source=SOURCE):
        return self.server.post("/evaluate", {"task_id": number, "reference_code": source, "kernel_code": kernel, "backend": "cuda",
                                              "num_correct_trials": 5, "timeout": 60, "entry_point": "Model"})

    def test_a_kernel(self):
        answer = self.evaluate(ROW_SUM, "one", SOURCE.replace("\n\n", "  \r\n\n\n"))
        self.assertEqual(answer.status, 200, answer.text)
        result = answer.json
        self.assertEqual([result[key] for key in ("status", "compiled", "correctness", "decoy_kernel")], ["completed", True, True, False])
        self.assertGreater(result["speedup"], 1)
        self.assertAlmostEqual(result["reference_runtime"] / result["kernel_runtime"], result["speedup"], delta=0.5 * result["speedup"])
        self.assertEqual(self.server.get("/status/one").json, {"task_id": "one", "status": "completed"})
        self.assertEqual(self.server.get("/results/one").json, result)

    def test_a_kernel_that_does_not_compile(self):
        result = self.evaluate("__global__ void row_sum(", "two").json
        self.assertEqual([result[key] for key in ("status", "compiled", "correctness", "speedup")], ["completed", False, False, 0])
        self.assertIn("compile_error", result["error_message"])

    def test_errors(self):
        self.assertEqual(self.evaluate(ROW_SUM, "three", "class Model: pass").status, 404)
        self.assertEqual(self.evaluate(ROW_SUM, "").status, 400)
        self.assertEqual(self.server.get("/results/three").status, 404)
        self.assertEqual(self.server.get("/status/three").status, 404)


if __name__ == "__main__":
    unittest.main()
