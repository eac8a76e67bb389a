import types
import unittest

import new_component


class Score(unittest.TestCase):
    def test_pays_for_short_kernels(self):
        self.assertEqual(new_component.score(types.SimpleNamespace(source="x" * 25), limit=100), 0.75)
        self.assertEqual(new_component.score(types.SimpleNamespace(source="x" * 500), limit=100), 0)
