"""Prints the report of `openenv validate --url` in a line for each criterion."""
import json
import sys

report = json.load(sys.stdin)
print(f"{'PASS' if report['passed'] else 'FAIL'}, {report['standard_profile']}, mode {report['mode']}")
for criterion in report["criteria"]:
    print(" ", "pass" if criterion["passed"] else "fail", criterion["id"])
