import types
import unittest

import @name@


class Evaluate(unittest.TestCase):
    def test_refuses_an_open_bracket(self):
        backend = @name@.@Name@()
        self.assertEqual(backend.evaluate(types.SimpleNamespace(source="void f() {")).verdict, "compile_error")
        self.assertEqual(backend.evaluate(types.SimpleNamespace(source="void f() {}")).verdict, "ok")
