"""Prints the outcomes of a run of verifiers, and fails if one is an error: show_traces.py FOLDER"""
import json
import pathlib
import sys

for file in pathlib.Path(sys.argv[1]).rglob("traces.jsonl"):
    for episode in map(json.loads, file.read_text().splitlines()):
        for trace in episode["traces"]:
            print("rewards:", trace["rewards"], "metrics:", trace["metrics"])
            print("errors:", trace["errors"])
        sys.exit(0 if episode["ok"] else f"failed: {episode['errors']}")
sys.exit("no traces")
