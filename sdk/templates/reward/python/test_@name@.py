import types
import unittest

import @name@


class Score(unittest.TestCase):
    def test_pays_for_short_kernels(self):
        self.assertEqual(@name@.score(types.SimpleNamespace(source="x" * 25), limit=100), 0.75)
        self.assertEqual(@name@.score(types.SimpleNamespace(source="x" * 500), limit=100), 0)
