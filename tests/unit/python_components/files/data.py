import kernelrl


def task(i):
    return {
        "id": f"scaled_copy_{i}",
        "title": "Scaled copy",
        "tier": 0,
        "prompt": f"y[i] = {i} x[i].",
        "axes": {"z": "var", "a": "var"},
        "input": [{"name": "x", "dtype": "float32", "shape": ["z", "a"], "values": "normal"}],
        "output": [{"name": "y", "dtype": "float32", "shape": ["z", "a"]}],
        "reference": f"def run(x):\n    return {i} * x\n",
        "cases": [{"z": 4, "a": 8}],
        "holdout": [{"z": 5, "a": 3}],
        "ranges": {"z": [1, 100], "a": [1, 100]},
    }


def tasks(count=3):
    for i in range(1, count + 1):
        yield task(i)


class Mixed:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 3:
            return 17
        return [
            kernelrl.Pair(task=task(7), answer="an answer", earlier=["a first one"], shows="stages"),
            kernelrl.Document(id="d", text="a text", task_hint="relu", meta={"licence": "MIT"}),
            {**task(1), "dtype": "float33"},
        ][index]
