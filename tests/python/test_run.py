"""read_run on a folder as a run writes it, torn and damaged lines among them."""

import importlib
import json
import math
import tempfile
import unittest
from pathlib import Path

from kernelrl import Evaluation, read_run

METRICS = """\
{"iteration":1,"stage":"warm-up","sft/loss":2.5}
{"iteration":2,"stage":"reinforce","reward/mean":0.25,"kernel/pass_rate":0.5}
{"iteration":3,"stage":"reinf"""

EVALUATION = {"verdict": "ok", "cases": [{"kind": "shown", "speedup_low": 3.0, "max_rel_error": "inf"}]}
RECORD = json.dumps({"task": "row_sum", "verdict": "ok", "speedup": 3.0, "evaluation": EVALUATION})
BEST = json.dumps({"task": "row_sum", "speedup": 3.0, "source": "s", "evaluation": EVALUATION})
LEDGER = [
    f"0badc0de 1 aa11 {RECORD}\n0badc0de 1 resumed {{}}\n",
    f'0badc0de 2 bb22 {{"task": "row_s\n0badc0de 2 cc33 {RECORD}\n0badc0de 2 dd44 {{"ta',
]


def importable(module):
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


class ReadRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in {
            "run.json": "[]",
            "status.json": '{"state": "running", "iteration": 2}',
            "metrics.jsonl": METRICS,
            "samples/iteration_000002.jsonl": '{"task": "row_sum", "answer": "…"}\n{"left_out": 7}\n',
            "samples/iteration_000010.jsonl": '{"task": "row_max", "answer": ""}\n',
            "ledger/000001.log": LEDGER[0],
            "ledger/000002.log": LEDGER[1],
            "best/row_sum.json": json.dumps(
                {"task": "row_sum", "speedup": 3.0, "source": "s", "evaluation": EVALUATION}
            ),
        }.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text, encoding="utf-8")
        self.run_ = read_run(self.folder)

    def test_tables(self):
        run = self.run_
        self.assertEqual(run.status["state"], "running")
        self.assertEqual([row["iteration"] for row in run.metrics], [1, 2])
        self.assertEqual(
            [(row["iteration"], row["task"], row["answer"]) for row in run.samples],
            [(2, "row_sum", "…"), (10, "row_max", "")],
        )
        self.assertEqual([(row["iteration"], row["key"]) for row in run.ledger], [(1, "aa11"), (2, "cc33")])
        self.assertEqual(run.ledger[0]["evaluation"]["cases"][0]["max_rel_error"], math.inf)
        self.assertAlmostEqual(Evaluation.from_json(run.ledger[1]["evaluation"]).speedup, 3)
        self.assertEqual([row["source"] for row in run.best], ["s"])

    def test_parts_that_a_young_run_lacks(self):
        for name in ("metrics.jsonl", "samples", "ledger", "best"):
            (self.folder / name).rename(self.folder / f"no_{name}")
        run = read_run(self.folder)
        self.assertEqual((run.metrics, run.samples, run.ledger, run.best), ([], [], [], []))

    def test_another_folder(self):
        with self.assertRaisesRegex(FileNotFoundError, "is not the folder of a run"):
            read_run(self.folder / "samples")

    @unittest.skipUnless(importable("pyarrow"), "needs pyarrow")
    def test_arrow(self):
        table = self.run_.metrics.to_arrow()
        self.assertEqual(table.column("reward/mean").to_pylist(), [None, 0.25])
        self.assertEqual(table.column_names[:3], ["iteration", "stage", "sft/loss"])
        self.assertEqual(self.run_.ledger.to_arrow().column("speedup").to_pylist(), [3, 3])

    @unittest.skipUnless(importable("pandas"), "needs pandas")
    def test_pandas(self):
        frame = self.run_.metrics.to_pandas()
        self.assertEqual(frame["reward/mean"].isna().tolist(), [True, False])


if __name__ == "__main__":
    unittest.main()
