// The task that `doctor` lets a backend judge. It is part of the program, so that a backend can be
// tried whatever datasets are installed.
#pragma once

namespace krl {

// As it crosses the plugin boundary: the keys of a task file, as JSON (docs/tasks.md).
inline constexpr char kTrialTask[] = R"({
  "id": "doctor", "title": "Doubling", "prompt": "out[i] = 2 * x[i]", "axes": {"n": "var"},
  "reference": "def run(x):\n    return x + x\n",
  "naive": "// @launch kern<<<ceil_div(n, 128), 128>>>(x, out, n)\n__global__ void kern(const float* x, float* out, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = 2 * x[i];\n}\n",
  "cases": [{"n": 1003}], "holdout": [{"n": 513}],
  "input": [{"name": "x", "dtype": "float32", "shape": ["n"], "values": "normal"}],
  "output": [{"name": "out", "dtype": "float32", "shape": ["n"]}]
})";

}  // namespace krl
