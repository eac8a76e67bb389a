"""The JSON Schema that `kernelrl check --schema` prints takes every plan that comes with kernelrl, and no misspelt one."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

try:
    import jsonschema
    import tomllib
except ImportError:
    print("skipped: no jsonschema, or no tomllib")
    sys.exit(77)

CONFIGS = pathlib.Path(__file__).parents[2] / "configs"
printed = subprocess.run([os.environ["KERNELRL"], "check", "--schema"], check=True, capture_output=True)
SCHEMA = jsonschema.Draft202012Validator(json.loads(printed.stdout))


def errors(plan: str) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in SCHEMA.iter_errors(tomllib.loads(plan))]


class Schema(unittest.TestCase):
    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA.schema)

    def test_takes_every_plan(self):
        plans = [p for folder in (CONFIGS, CONFIGS / "recipes", CONFIGS / "rewards") for p in folder.glob("*.toml")]
        self.assertGreater(len(plans), 20)
        for plan in plans:
            with self.subTest(plan.name):
                self.assertEqual(errors(plan.read_text()), [])

    def test_refuses_what_the_program_refuses(self):
        for wrong in (
            '[run]\nnmae = "x"',
            "[rollout]\ngroups = 0",
            '[rollout]\nbatching = "weves"',
            '[policy]\nuse = "libtroch"',
            '[[reward]]\nuse = "speedup"\ncpa = 3',
            '[[stage]]\nname = "a"\nkind = "rll"',
            "[rolout]\ngroups = 3",
        ):
            with self.subTest(wrong):
                self.assertNotEqual(errors(wrong), [])


unittest.main()
