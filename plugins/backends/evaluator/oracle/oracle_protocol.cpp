#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"

#include <kernelrl/values.hpp>

#include "plugins/backends/evaluator/check/inputs.hpp"

namespace krl {
namespace {

constexpr std::uint64_t kAlignment = 64;

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

void to_json(nlohmann::json& json, const OracleTensor& tensor) {
  json = {static_cast<int>(tensor.dtype), tensor.shape, tensor.offset, tensor.rounding,
          tensor.continuous};
}
void from_json(const nlohmann::json& json, OracleTensor& tensor) {
  tensor.dtype = static_cast<DType>(json.at(0).get<int>());
  json.at(1).get_to(tensor.shape);
  json.at(2).get_to(tensor.offset);
  json.at(3).get_to(tensor.rounding);
  json.at(4).get_to(tensor.continuous);
}
void to_json(nlohmann::json& json, const OracleScalar& scalar) {
  json = {static_cast<int>(scalar.dtype), scalar.real, scalar.integer};
}
void from_json(const nlohmann::json& json, OracleScalar& scalar) {
  scalar.dtype = static_cast<DType>(json.at(0).get<int>());
  json.at(1).get_to(scalar.real);
  json.at(2).get_to(scalar.integer);
}

template <class T>
nlohmann::json list_to_json(const std::vector<T>& list) {
  nlohmann::json json = nlohmann::json::array();
  for (const T& item : list) to_json(json.emplace_back(), item);
  return json;
}
template <class T>
void list_from_json(const nlohmann::json& json, std::vector<T>& list) {
  for (const nlohmann::json& item : json) from_json(item, list.emplace_back());
}

bool is_continuous(const ResolvedTensor& tensor) {
  return tensor.values == ValueKind::kNormal || tensor.values == ValueKind::kUniform ||
         tensor.values == ValueKind::kUniformSigned;
}

}  // namespace

OracleRequest oracle_request(const TaskDefinition& task, const ResolvedCase& resolved,
                             double factor) {
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
  for (const TensorDefinition& definition : task.outputs) {
    const ResolvedTensor& tensor = *resolved.find(definition.name);
    const auto elements = static_cast<std::uint64_t>(tensor.elements);
    OracleTensor output{tensor.dtype, tensor.shape, reserve(elements * 8)};
    if (is_floating(tensor.dtype)) output.rounding = reserve(elements * 4);
    request.outputs.push_back(std::move(output));
  }
  request.memory_bytes = aligned(end);
  request.terms = factor == kHalves ? resolved.terms * resolved.terms : resolved.terms;
  return request;
}

void to_json(nlohmann::json& json, const OracleRequest& request) {
  json = {{"reference", request.reference},           {"memory", request.memory_bytes},
          {"inputs", list_to_json(request.inputs)},   {"scalars", list_to_json(request.scalars)},
          {"outputs", list_to_json(request.outputs)}, {"terms", request.terms}};
}

void from_json(const nlohmann::json& json, OracleRequest& request) {
  json.at("reference").get_to(request.reference);
  json.at("memory").get_to(request.memory_bytes);
  list_from_json(json.at("inputs"), request.inputs);
  list_from_json(json.at("scalars"), request.scalars);
  list_from_json(json.at("outputs"), request.outputs);
  json.at("terms").get_to(request.terms);
}

void to_json(nlohmann::json& json, const OracleAnswer& answer) {
  json = nlohmann::json::object();
  if (answer.problem) {
    json["problem"] = {answer.problem->message, answer.problem->line, answer.problem->column};
  }
}

void from_json(const nlohmann::json& json, OracleAnswer& answer) {
  if (!json.contains("problem")) return;
  const nlohmann::json& problem = json.at("problem");
  answer.problem = ReferenceProblem{problem.at(0), problem.at(1), problem.at(2)};
}

}  // namespace krl
