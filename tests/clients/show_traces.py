"""Prints rewards and metrics of a run of verifiers: show_traces.py FOLDER"""
import json
import pathlib
import sys

for file in pathlib.Path(sys.argv[1]).rglob("traces.jsonl"):
    for line in file.read_text().splitlines():
        print(json.dumps(json.loads(line))[:3000])
