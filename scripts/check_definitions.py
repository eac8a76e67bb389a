#!/usr/bin/env python3
"""Loads what `kernelrl runs export --format definitions` wrote with flashinfer-bench itself (docs/definitions.md).

  check_definitions.py FOLDER          its models read every definition, solution, workload and trace
  check_definitions.py FOLDER --run    on a GPU: its builders compile every solution, which has to give what the definition's
                                       reference gives, within the tolerances that flashinfer-bench has by default

Needs: pip install flashinfer-bench==0.1.2, which takes torch along; for --run also ninja, and nvcc on the PATH.
"""
import argparse
import concurrent.futures
import math
import pathlib
import sys

import torch
from flashinfer_bench.data import Definition, Solution, Trace, TraceSet, load_json_file, load_jsonl_file


def load(folder):
    """How many of each pass the models; exits with the first file that does not."""
    counts = {}
    for kind, model in (("definitions", Definition), ("solutions", Solution), ("workloads", Trace), ("traces", Trace)):
        counts[kind] = 0
        for path in sorted((folder / kind).rglob("*.json*")):
            try:
                lines = load_jsonl_file(model, path) if path.suffix == ".jsonl" else [load_json_file(model, path)]
            except ValueError as error:
                sys.exit(f"{path}: {error}")
            counts[kind] += len(lines)
    whole = TraceSet.from_path(str(folder))
    found = {"definitions": len(whole.definitions), **{
        kind: sum(map(len, getattr(whole, kind).values())) for kind in ("solutions", "workloads", "traces")}}
    if found != counts:
        sys.exit(f"TraceSet holds {found} of {counts}")
    if not sum(counts.values()):
        sys.exit(f"{folder}: there are no definitions, solutions, workloads or traces in it")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()), "pass the models of flashinfer-bench")
    return whole


def cuda_works():
    """Not after a solution's illegal access."""
    try:
        torch.zeros(1, device="cuda").item()
        return True
    except RuntimeError:
        return False


def run(folder, traces):
    from flashinfer_bench.bench import BenchmarkConfig
    from flashinfer_bench.bench.utils import compute_error_stats, gen_inputs, load_safetensors
    from flashinfer_bench.compile import BuilderRegistry

    registry = BuilderRegistry.get_instance()
    pairs = [(traces.definitions[name], s) for name, solutions in traces.solutions.items() for s in solutions]
    if not pairs:
        sys.exit(f"{folder}: there are no solutions to run")
    if not cuda_works():
        sys.exit("--run needs a GPU that PyTorch can use")

    def built(pair):
        try:
            return registry.build(*pair)
        except Exception as error:
            return error

    def error_at(definition, solution, workload):
        """The largest absolute error, infinite if flashinfer-bench calls the outputs wrong."""
        stored = load_safetensors(definition, workload, folder)
        inputs = gen_inputs(definition, workload, device="cuda", safe_tensors=stored)
        expected = registry.build_reference(definition)(*inputs)
        expected = expected if isinstance(expected, (tuple, list)) else [expected]
        outputs = [torch.full_like(e, -77) for e in expected]
        solution(*inputs, *outputs)
        torch.cuda.synchronize()
        stats = [compute_error_stats(o, e, BenchmarkConfig()) for o, e in zip(outputs, expected)]
        return max(math.inf if wrong else error for error, _, wrong, _ in stats)

    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for (definition, solution), runnable in zip(pairs, pool.map(built, pairs)):
            verdict, right = f"does not build: {runnable}", False
            if not isinstance(runnable, Exception):
                try:
                    errors = [error_at(definition, runnable, t.workload) for t in traces.workloads[definition.name]]
                    verdict, right = f"{len(errors)} workloads, largest error {max(errors):.2g}", max(errors) < math.inf
                except Exception as error:
                    verdict = f"fails: {error}"
            wrong += not right
            print(f"{solution.name}: {verdict}", flush=True)
            if not cuda_works():
                sys.exit(f"{solution.name} has left CUDA unusable for this process: the solutions after it are not run")
    print(f"{len(pairs) - wrong} of {len(pairs)} solutions are right")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--run", action="store_true", help="compile and run the solutions on a GPU")
    options = parser.parse_args()
    traces = load(options.folder)
    sys.exit(run(options.folder, traces) if options.run else 0)


if __name__ == "__main__":
    main()
