import types
import unittest

import new_component


class Samples(unittest.TestCase):
    def test_answers_each_request(self):
        requests = [types.SimpleNamespace(n_samples=2), types.SimpleNamespace(n_samples=1)]
        samples = list(new_component.NewComponent("text").sample(requests))
        self.assertEqual([(s.request, s.index, s.text) for s in samples], [(0, 0, "text"), (0, 1, "text"), (1, 0, "text")])
