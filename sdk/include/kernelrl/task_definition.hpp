// A task as data: tensors, axes, cases, the reference; everything that a backend needs to check a
// kernel, without Python.
//
// It crosses the plugin boundary as JSON (`krl_task.definition_json`), with the keys of task files:
//
//   {"id": "softmax_rows", "tier": 2, "title": "…", "prompt": "…",
//    "axes": {"rows": "var", "cols": "var", "half": "cols / 2", "taps": 5},
//    "input":  [{"name": "x", "dtype": "float32", "shape": ["rows", "cols"],
//                "values": "integers", "bounds": ["0", "9"]}],
//    "scalar": [{"name": "scale", "dtype": "float32", "value": "1.0 / sqrt(cols)"}],
//    "output": [{"name": "y", "dtype": "float32", "shape": ["rows", "cols"]}],
//    "reference": "def run(x, scale: float):\n    return …",
//    "naive": "__global__ void …",
//    "cases":   [{"rows": 128, "cols": 1024}],
//    "real":    [{"rows": 8192, "cols": 8192}],
//    "holdout": [{"rows": 7, "cols": 4097}],
//    "ranges": {"rows": [1, 65536], "cols": [32, 65536, 32]},
//    "tolerance": {"rtol": 1e-5, "atol": 1e-6, "terms": "cols"},
//    "work": {"bytes": "8 * rows * cols", "operations": "5 * rows * cols"},
//    "forbid": ["asm"],
//    "origin": {"file": "tasks/softmax.toml",
//               "positions": {"reference": [12, 1], "naive": [18, 1], "input[0]": [30, 1]}}}
//
// Required: id, prompt, axes, output, reference, cases. The order of the axes matters: an axis may
// use those before it. An output with the name of an input is computed in place. For "origin" see
// TaskOrigin, for the rest docs/tasks.md.
//
// Header-only, C++17; depends on nlohmann-json in addition to the SDK. Plain data; const functions
// are safe from any number of threads. Nothing here throws on bad input.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/checked.hpp>
#include <kernelrl/expression.hpp>
#include <kernelrl/tensor_types.hpp>

namespace krl {

// A named size. An empty `size` ("var") is given by every case; any other is an expression of the
// axes before it.
struct Axis {
  std::string name;
  std::string size;

  bool is_variable() const { return size.empty(); }
};

// The sizes that a variable axis may have: low, low + step, … up to high.
struct AxisRange {
  std::string axis;
  std::int64_t low = 1, high = 1, step = 1;  // 1 <= low <= high, 1 <= step

  bool contains(std::int64_t size) const {
    return size >= low && size <= high && (size - low) % step == 0;
  }
};

struct TensorDefinition {
  std::string name;
  DType dtype = DType::kFloat32;
  // Integer expressions of the axes, outermost first; row-major in memory.
  std::vector<std::string> shape;
  ValueKind values = ValueKind::kNormal;      // inputs only
  std::vector<std::string> bounds;            // none, or two expressions of the axes
  std::string mean, deviation;                // likewise of kNormal; empty: 0 and 1
  std::string probability;                    // for kBernoulli and kFlags
  Structure structure = Structure::kGeneral;  // inputs only
};

// A number passed by value to the kernel and to the reference.
struct ScalarDefinition {
  std::string name;
  DType dtype = DType::kFloat32;  // float32, int32 or int64
  std::string value;              // an expression of the axes
};

// The least work of any kernel for the task, as real expressions of the axes; empty if not given.
struct WorkDefinition {
  std::string bytes;       // moved from and to memory; if empty, each input and output once
  std::string operations;  // float32 operations; a fused multiply-add counts as two
};

struct LineColumn {
  int line = 1, column = 1;
};

// The places where a task was defined, so that errors found later can point there. Keys of
// positions: "reference" and "naive" (the first character of the text), "ranges", "tolerance",
// "input[0]", "scalar[0]", "output[0]", "cases[0]", "real[0]", "holdout[0]".
struct TaskOrigin {
  std::string file;  // empty: not from a file
  std::map<std::string, LineColumn, std::less<>> positions;

  // "file:line:column" of a place inside the text at `key`; both numbers 1-based. Falls back to the
  // file, or to "".
  std::string locate(std::string_view key, int line = 1, int column = 1) const;
};

struct TaskDefinition {
  std::string id;
  std::int64_t tier = 0;  // 0 basic … 3 advanced
  std::string title;
  std::string prompt;
  std::vector<Axis> axes;
  std::vector<TensorDefinition> inputs;
  std::vector<ScalarDefinition> scalars;
  std::vector<TensorDefinition> outputs;  // one with an input's name is computed in place
  // TorchScript: def run(inputs…, scalars…) -> output, or a tuple of outputs.
  std::string reference;
  std::string naive;                  // a plain correct candidate; may be empty
  std::vector<IntegerNames> cases;    // a value for every variable axis
  std::vector<IntegerNames> real;     // cases of realistic size, on which a GPU times kernels
  std::vector<IntegerNames> holdout;  // shapes never shown and never timed in training
  std::vector<AxisRange> ranges;  // one for every variable axis, in their order; empty if not given
  Tolerance tolerance;
  WorkDefinition work;
  std::vector<std::string> forbid;  // identifiers that a candidate must not use
  TaskOrigin origin;

  const TensorDefinition* find_input(std::string_view name) const { return find(inputs, name); }
  const TensorDefinition* find_output(std::string_view name) const { return find(outputs, name); }

 private:
  static const TensorDefinition* find(const std::vector<TensorDefinition>& list,
                                      std::string_view name) {
    for (const TensorDefinition& tensor : list) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }
};

// One error in a definition. `path` is as in "input[0].shape[1]", "axes.half" or
// "cases[1].rows", and empty for the whole; `offset` is 0-based, into the text at the path.
struct DefinitionProblem {
  std::string path;
  std::string message;
  std::size_t offset = 0;
  bool at_key = false;  // the key is wrong, not its value
};

// ---- a case: the definition with its numbers ----

// A tensor's concrete shape.
struct ResolvedTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  bool is_input = false, is_output = false;  // both: computed in place
  ValueKind values = ValueKind::kNormal;
  double low = 0, high = 1;  // bounds of the values; mean and deviation; high: the probability
  Structure structure = Structure::kGeneral;

  std::int64_t bytes() const { return elements * size_of(dtype); }
};

struct ResolvedScalar {
  std::string name;
  DType dtype = DType::kFloat32;
  double real = 0;           // the value, for any type
  std::int64_t integer = 0;  // the value of an integer scalar
};

struct ResolvedCase {
  std::string label;                    // "rows=128 cols=1024"
  IntegerNames axes;                    // all of them, derived ones too
  std::vector<ResolvedTensor> tensors;  // the inputs in order, then the outputs that are not inputs
  std::vector<ResolvedScalar> scalars;
  double least_bytes = 0, operations = 0;  // see WorkDefinition; operations: 0 if not given
  double terms = 1;                        // see Tolerance

  const ResolvedTensor* find(std::string_view name) const {
    for (const ResolvedTensor& tensor : tensors) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }
};

// The most elements that a tensor of a case may have.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 36;

// Puts a case's numbers into the definition. `values`: one of `cases`, `real` or `holdout`, or
// other positive sizes.
Checked<ResolvedCase, DefinitionProblem> resolve_case(const TaskDefinition& task,
                                                      const IntegerNames& values);

// ---- JSON ----

struct ReadDefinition {
  TaskDefinition task;  // complete only if there is no problem
  std::vector<DefinitionProblem> problems;
};

// Reads and checks a definition strictly: types, unknown keys, names, expressions, and that every
// case resolves. All problems are listed, in the order of the keys.
ReadDefinition read_task_definition(const nlohmann::ordered_json& json);

// The same from text; the error lists every problem, one per line.
Checked<TaskDefinition, std::string> parse_task_definition(std::string_view json_text);

nlohmann::ordered_json to_json(const TaskDefinition& task);

// The text for `krl_task.definition_json`.
inline std::string to_json_text(const TaskDefinition& task) {
  return to_json(task).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace krl

#include <kernelrl/detail/axis_ranges_json.hpp>
#include <kernelrl/detail/task_definition_json.hpp>
#include <kernelrl/detail/task_definition_resolve.hpp>
