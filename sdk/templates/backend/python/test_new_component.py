import types
import unittest

import new_component


class Evaluate(unittest.TestCase):
    def test_refuses_an_open_bracket(self):
        backend = new_component.NewComponent()
        self.assertEqual(backend.evaluate(types.SimpleNamespace(source="void f() {")).verdict, "compile_error")
        self.assertEqual(backend.evaluate(types.SimpleNamespace(source="void f() {}")).verdict, "ok")
