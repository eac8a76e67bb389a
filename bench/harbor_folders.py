#!/usr/bin/env python3
"""Loads every folder of a `kernelrl tasks export --format harbor` with Harbor's own loader, and checks that the verifier
has a container of its own, which holds its tests. Needs Python 3.12 and `pip install harbor`.

    bench/harbor_folders.py FOLDER
"""
import sys
from importlib.metadata import version
from pathlib import Path

from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import resolve_verifier_environment_definition

loaded = 0
for folder in sorted(Path(sys.argv[1]).iterdir()):
    if folder.name == "image":
        continue
    task = Task(folder)
    verifier = resolve_verifier_environment_definition(task.config, task.paths)
    if verifier is None or not verifier.bundled_tests or verifier.directory != task.paths.tests_dir:
        sys.exit(f"{folder}: its verifier would run where the agent was")
    loaded += 1
print(f"harbor {version('harbor')}: {loaded} folders loaded")
