"""Tests of scripts/import/export_definitions.py, without any package: python3 tests/import/export_test.py"""
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "scripts" / "import"))
import export_definitions


class Drawn(unittest.TestCase):
    """Values of each kind that tasks have."""

    def drawn(self, values, shape, low=0.0, high=1.0, structure="general"):
        tensor = {"values": values, "shape": shape, "low": low, "high": high, "structure": structure}
        return export_definitions.drawn(tensor, random.Random(1))

    def rows(self, *arguments, **keywords):
        values = self.drawn(*arguments, **keywords)
        return [values[start:start + 8] for start in range(0, len(values), 8)]

    def test_every_kind_has_the_number_of_elements(self):
        for kind in ("normal", "uniform", "uniform_signed", "integers", "permutation", "one_hot", "zeros", "bernoulli", "sorted",
                     "offsets", "flags"):
            self.assertEqual(len(self.drawn(kind, [3, 8], 0.0, 5.0)), 24, kind)
            self.assertEqual(len(self.drawn(kind, [], 0.0, 5.0)), 1, kind)

    def test_values_lie_within_the_bounds(self):
        self.assertTrue(all(2 <= v < 3 for v in self.drawn("uniform", [100], 2.0, 3.0)))
        self.assertEqual(set(self.drawn("integers", [100], 2.0, 5.0)), {2, 3, 4})
        self.assertEqual(set(self.drawn("bernoulli", [100], 0.0, 0.5)), {0, 1})
        self.assertTrue(all(-1 <= v <= 1 for v in self.drawn("uniform_signed", [100])))

    def test_rows_have_their_form(self):
        for row in self.rows("permutation", [3, 8]):
            self.assertEqual(sorted(row), list(range(8)))
        for row in self.rows("one_hot", [3, 8]):
            self.assertEqual(sorted(row), [0] * 7 + [1])
        for row in self.rows("sorted", [3, 8], 0.0, 9.0):
            self.assertEqual(row, sorted(row))
        for row in self.rows("offsets", [3, 8], 0.0, 9.0):
            self.assertEqual((row[0], row[-1], row), (0, 9, sorted(row)))

    def test_square_matrices_have_their_structure(self):
        def matrix(structure):
            values = self.drawn("uniform", [4, 4], 1.0, 2.0, structure)
            return [values[start:start + 4] for start in range(0, 16, 4)]
        symmetric = matrix("symmetric")
        lower, upper = matrix("lower_triangular"), matrix("upper_triangular")
        for i in range(4):
            for j in range(4):
                self.assertEqual(symmetric[i][j], symmetric[j][i])
                self.assertEqual(lower[i][j] == 0, j > i)
                self.assertEqual(upper[i][j] == 0, j < i)


class Axes(unittest.TestCase):
    def test_sizes_become_axes(self):
        task = {"axes": {"n": "var", "half": "n / 2", "width": 64}, "output": [],
                "input": [{"name": "x", "dtype": "float32", "shape": ["n", "n / 2", "n + 1", 64, 3]}]}
        axes = export_definitions.Axes(task)
        self.assertEqual(axes.spec(task["input"][0])["shape"], ["n", "half", "size_n_plus_1", "width", "size_3"])
        self.assertEqual(axes.constraints, ["half == n // 2", "size_n_plus_1 == n + 1"])
        self.assertEqual(axes.table["size_3"], {"type": "const", "value": 3})


if __name__ == "__main__":
    unittest.main()
