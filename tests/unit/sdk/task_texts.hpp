// A task definition for the tests of its readers.
#pragma once

#include <gtest/gtest.h>
#include <kernelrl/task_definition.hpp>

#include <string>

namespace krl {

inline const char* const kSoftmaxJson = R"json({
  "id": "softmax_rows", "tier": 2, "title": "Row-wise softmax", "prompt": "y = softmax(scale * x)",
  "axes": {"rows": "var", "cols": "var", "half": "cols / 2", "taps": 5},
  "input": [{"name": "x", "dtype": "float32", "shape": ["rows", "cols"], "values": "normal"},
            {"name": "keys", "dtype": "int32", "shape": ["rows"], "values": "integers", "bounds": ["0", "cols"]}],
  "scalar": [{"name": "scale", "dtype": "float32", "value": "1.0 / sqrt(cols)"},
             {"name": "steps", "dtype": "int32", "value": "taps - 1"}],
  "output": [{"name": "y", "dtype": "float32", "shape": ["rows", "half"]}],
  "reference": "def run(x, keys, scale: float, steps: int):\n    return x",
  "naive": "__global__ void k() {}",
  "cases": [{"rows": 3, "cols": 16}], "holdout": [{"rows": 7, "cols": 4}],
  "tolerance": {"rtol": 0.001, "atol": 1e-06, "terms": "taps * cols"}, "forbid": ["asm"],
  "work": {"operations": "5 * rows * half"},
  "origin": {"file": "t.toml", "positions": {"reference": [12, 1], "naive": [20, 9], "input[0]": [30, 1]}}
})json";

inline TaskDefinition softmax_task() {
  auto task = parse_task_definition(kSoftmaxJson);
  EXPECT_TRUE(task) << task.error();
  return *task;
}

}  // namespace krl
