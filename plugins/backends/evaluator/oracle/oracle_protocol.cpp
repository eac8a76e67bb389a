#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

namespace krl::evaluator {
namespace {

constexpr std::uint64_t kAlignment = 64;

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_continuous(const ResolvedTensor& tensor) {
  return tensor.values == ValueKind::kNormal || tensor.values == ValueKind::kUniform ||
         tensor.values == ValueKind::kUniformSigned;
}

}  // namespace

OracleRequest oracle_request(const TaskDefinition& task, const ResolvedCase& resolved,
                             bool repeats) {
  OracleRequest request;
  request.reference = task.reference;
  std::uint64_t end = 0;
  const auto reserve = [&](std::uint64_t bytes) {
    const std::uint64_t start = aligned(end);
    end = start + bytes;
    return start;
  };
  for (const TensorDefinition& definition : task.inputs) {
    const ResolvedTensor& tensor = *resolved.find(definition.name);
    const auto bytes = static_cast<std::uint64_t>(tensor.bytes());
    request.inputs.push_back(
        {tensor.dtype, tensor.shape, reserve(bytes), 0, is_continuous(tensor)});
  }
  for (const ResolvedScalar& scalar : resolved.scalars) {
    request.scalars.push_back({scalar.dtype, scalar.real, scalar.integer});
  }
  const bool rounds = std::any_of(request.inputs.begin(), request.inputs.end(),
                                  [](const OracleTensor& input) { return input.continuous; }) &&
                      resolved.terms != 0;
  for (const TensorDefinition& definition : task.outputs) {
    const ResolvedTensor& tensor = *resolved.find(definition.name);
    const auto elements = static_cast<std::uint64_t>(tensor.elements);
    OracleTensor output{tensor.dtype, tensor.shape};
    if (!is_floating(tensor.dtype) && rounds) output.choices = kIntegerChoices;
    output.offset = reserve(elements * 8 * static_cast<std::uint64_t>(output.choices));
    if (is_floating(tensor.dtype)) output.rounding = reserve(elements * 4);
    request.outputs.push_back(std::move(output));
  }
  request.memory_bytes = aligned(end);
  request.terms = resolved.terms;
  request.repeats = repeats;
  request.strict = task.tolerance.rtol == 0 && task.tolerance.atol == 0;
  return request;
}

void to_json(nlohmann::json& json, const OracleAnswer& answer) {
  json = nlohmann::json::object();
  if (answer.problem) json["problem"] = *answer.problem;
}

void from_json(const nlohmann::json& json, OracleAnswer& answer) {
  if (json.contains("problem")) answer.problem = json.at("problem").get<ReferenceProblem>();
}

}  // namespace krl::evaluator
