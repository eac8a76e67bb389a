#!/usr/bin/env python3
"""KernelBench's own evaluator on a folder of answers, and its verdicts beside those of `kernelrl eval --protocol kernelbench`.

  kernelbench_verdicts.py judge EVALUATOR PROBLEMS ANSWERS OUT.jsonl [--jobs N] [--builds FOLDER [--compile]]
      EVALUATOR: a checkout of KernelBench; PROBLEMS: a folder with KernelBench/level1/…, which may be the same
      ANSWERS: files level_L_problem_P_sample_S_kernel.py. Needs a GPU, PyTorch with CUDA, nvcc and ninja. With --compile it
      only compiles them, into a folder for a later call.
  kernelbench_verdicts.py compare OUT.jsonl RESULTS.jsonl
      RESULTS.jsonl: of kernelrl eval --protocol kernelbench --output RESULTS.jsonl. Fails if a verdict
      differs, or if there is nothing to compare.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import types

NAME = re.compile(r"level_(\d+)_problem_(\d+)_sample_(\d+)_kernel\.py")


def build_folder(builds, answer):
    return builds / answer.stem


def compile_answer(answer, folder):
    """In a process of its own, as load_inline compiles while the answer's text is executed."""
    folder.mkdir(parents=True, exist_ok=True)
    code = f"import os\nos.environ['TORCH_EXTENSIONS_DIR'] = {str(folder)!r}\nexec(open({str(answer)!r}).read(), {{}})\n"
    subprocess.run([sys.executable, "-c", code], capture_output=True)


def evaluator_of(checkout):
    """KernelBench's module. It imports packages that nothing of the judging uses; where they are missing, empty ones do."""
    def base_model(self, **fields):
        annotated = {n: getattr(type(self), n) for n in type(self).__annotations__}
        self.__dict__.update({**annotated, **fields})
    for name, members in {
            "dotenv": {"load_dotenv": lambda: None}, "openai": {"OpenAI": None}, "litellm": {"completion": None},
            "pydantic": {"BaseModel": type("BaseModel", (), {"__init__": base_model})}}.items():
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__dict__.update(members)
    sys.path.insert(0, str(checkout / "src"))
    from kernelbench import eval as evaluator
    return evaluator


def problem_of(problems, level, number):
    [path] = (problems / "KernelBench" / f"level{level}").glob(f"{number}_*.py")
    return path


def results(path):
    """The lines of a file by the names of their answers, without one that a kill cut off."""
    found = {}
    for number, text in enumerate(open(path), 1):
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            print(f"{path}:{number}: left out, as it is not JSON", file=sys.stderr)
            continue
        found[line["kernel"]] = line
    return found


def judge(options):
    answers = sorted(p for p in options.answers.iterdir() if NAME.fullmatch(p.name))
    with tempfile.TemporaryDirectory() as temporary, open(options.out, "a") as out:
        builds = (options.builds or pathlib.Path(temporary)).absolute()
        done = results(options.out)
        answers = [a for a in answers if a.name not in done]
        if options.out.stat().st_size and not options.out.read_bytes().endswith(b"\n"):
            print(file=out)  # behind a line that a kill cut off
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda a: compile_answer(a, build_folder(builds, a)), answers))
        if options.compile:
            return
        evaluator = evaluator_of(options.evaluator)
        import torch
        for answer in answers:
            level, number, _ = NAME.fullmatch(answer.name).groups()
            result = evaluator.eval_kernel_against_ref(
                problem_of(options.problems, level, number).read_text(), answer.read_text(), num_correct_trials=5,
                num_perf_trials=100, measure_performance=True, check_for_excessive_speedup=True,
                build_dir=str(build_folder(builds, answer)), device=torch.device("cuda:0"))
            line = {
                "kernel": answer.name, "compiled": bool(result and result.compiled),
                "correct": bool(result and result.correctness), "runtime": result.runtime if result else -1,
                "ref_runtime": result.ref_runtime if result else -1}
            print(json.dumps(line), file=out, flush=True)
            print(f"{answer.name}: {line}", flush=True)


def compare(options):
    theirs, ours = results(options.theirs), results(options.ours)
    word = {True: "correct", False: "incorrect", None: "not run"}
    differing, rows, ratios = 0, [], {"runtime": [], "ref_runtime": [], "own": []}
    for name in sorted(theirs):
        line = ours.get(name)
        if line is None:
            continue
        found = line.get("kernelbench", {"correct": None, "runtime": None, "why": "", "difference": ""})
        same = found["correct"] == theirs[name]["correct"]
        differing += not same and found["correct"] is not None
        own = [c["time_ns"] / 1e6 for c in line["evaluation"]["cases"] if c["time_ns"]]
        ours_of = {**found, "own": own[-1] if own else None}
        texts = []
        for key, of in (("runtime", "runtime"), ("ref_runtime", "ref_runtime"), ("own", "runtime")):
            times = [t for t in (theirs[name].get(of), ours_of.get(key)) if t and t > 0]
            ratios[key] += [times[1] / times[0]] if len(times) == 2 else []
            texts.append(f"{times[1]:.4g} / {times[0]:.4g}" if len(times) == 2 else "")
        rows.append((name, word[theirs[name]["correct"]], word[found["correct"]], *texts,
                     line["evaluation"]["verdict"], found["difference"], "" if same else found["why"][:80]))
    print("Times in ms: of the protocol / KernelBench's; of the reference, the same; kernelrl's own / KernelBench's.\n")
    print("| answer | KernelBench | --protocol kernelbench | time | reference | own time | kernelrl | word | why |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(f"\n{len(rows)} answers, {differing} verdicts differ, {sum(r[2] == 'not run' for r in rows)} not run by kernelrl")
    for key, found in ratios.items():
        if found:
            print(f"{key}: ours / theirs {min(found):.2f} to {max(found):.2f}, median {statistics.median(found):.2f}, "
                  f"of {len(found)}")
    for name in sorted(theirs.keys() - ours.keys()):
        print(f"not in {options.ours}: {name}")
    return int(differing > 0 or not rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("judge")
    for name in ("evaluator", "problems", "answers", "out"):
        one.add_argument(name, type=pathlib.Path)
    one.add_argument("--jobs", type=int, default=16, help="compiles at a time (16)")
    one.add_argument("--builds", type=pathlib.Path, help="a folder for what is compiled, for a later call")
    one.add_argument("--compile", action="store_true", help="only compile")
    one.set_defaults(run=judge)
    two = commands.add_parser("compare")
    two.add_argument("theirs", type=pathlib.Path)
    two.add_argument("ours", type=pathlib.Path)
    two.set_defaults(run=compare)
    options = parser.parse_args()
    sys.exit(options.run(options))


if __name__ == "__main__":
    main()
