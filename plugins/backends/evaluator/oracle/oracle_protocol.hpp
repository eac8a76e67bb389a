// The messages between the evaluator and `kernelrl-oracle`, the process that computes expected
// values.
//
//   fd 0  requests, fd 1  answers (message_stream.hpp)
//   fd 3  shared memory (memfd), which the asking side grows before it asks
// A request names where in the shared memory the inputs are and where the results go. The oracle
// answers one request after the other and ends when fd 0 does. Plain values.
#pragma once

#include <cstdint>
#include <kernelrl/task_definition.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace krl::evaluator {

inline constexpr int kOracleMemoryDescriptor = 3;

struct OracleTensor {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  // Where an input's elements, or an output's float64 or int64 values, begin.
  std::uint64_t offset = 0;
  std::uint64_t rounding = 0;  // where the float32 values of a floating output begin
  bool continuous = false;     // an input whose values are drawn from an interval
  // Number of alternatives that are right for each element of an integer output; they are stored as
  // consecutive arrays.
  std::int64_t choices = 1;
};

struct OracleScalar {
  DType dtype = DType::kFloat32;
  double real = 0;
  std::int64_t integer = 0;
};

struct OracleRequest {
  std::string reference;  // TorchScript
  std::uint64_t memory_bytes = 0;
  std::vector<OracleTensor> inputs;
  std::vector<OracleScalar> scalars;
  std::vector<OracleTensor> outputs;
  double terms = 1;      // see Tolerance; 0: the reference's float32 results are expected exactly
  bool repeats = false;  // the inputs' values repeat
  bool strict = false;   // the task allows no error but rounding's
};

// The number of integer alternatives that a reference computes from reals: in float64, in float32,
// and from two nudged inputs.
inline constexpr std::int64_t kIntegerDraws = 2, kIntegerChoices = 2 + kIntegerDraws;

// Makes the request for a case and assigns a place in the memory to every tensor: first the inputs,
// then the outputs.
OracleRequest oracle_request(const TaskDefinition& task, const ResolvedCase& resolved,
                             bool repeats = false);

// The reference is wrong, at a place in its text (1-based; 0 = unknown).
struct ReferenceProblem {
  std::string message;
  int line = 0, column = 0;
};

struct OracleAnswer {
  std::optional<ReferenceProblem> problem;  // none: the results are in the shared memory
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OracleTensor, dtype, shape, offset, rounding, continuous,
                                   choices)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OracleScalar, dtype, real, integer)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OracleRequest, reference, memory_bytes, inputs, scalars, outputs,
                                   terms, repeats, strict)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReferenceProblem, message, line, column)
void to_json(nlohmann::json& json, const OracleAnswer& answer);
void from_json(const nlohmann::json& json, OracleAnswer& answer);

}  // namespace krl::evaluator
