#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace krl {
namespace {

using Clock = std::chrono::steady_clock;

void to_json(nlohmann::json& json, const OracleTensor& tensor) {
  json = {static_cast<int>(tensor.dtype), tensor.shape, tensor.offset, tensor.own_error};
}
void from_json(const nlohmann::json& json, OracleTensor& tensor) {
  tensor.dtype = static_cast<DType>(json.at(0).get<int>());
  json.at(1).get_to(tensor.shape);
  json.at(2).get_to(tensor.offset);
  json.at(3).get_to(tensor.own_error);
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

bool write_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(descriptor, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_all(int descriptor, char* data, std::size_t size, int limit_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(limit_ms);
  while (size > 0) {
    if (limit_ms >= 0) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd ready{descriptor, POLLIN, 0};
      if (left <= 0) return false;
      if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    }
    const ssize_t n = ::read(descriptor, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

void to_json(nlohmann::json& json, const OracleRequest& request) {
  json = {{"reference", request.reference},
          {"memory", request.memory_bytes},
          {"inputs", list_to_json(request.inputs)},
          {"scalars", list_to_json(request.scalars)},
          {"outputs", list_to_json(request.outputs)}};
}

void from_json(const nlohmann::json& json, OracleRequest& request) {
  json.at("reference").get_to(request.reference);
  json.at("memory").get_to(request.memory_bytes);
  list_from_json(json.at("inputs"), request.inputs);
  list_from_json(json.at("scalars"), request.scalars);
  list_from_json(json.at("outputs"), request.outputs);
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

bool write_message(int descriptor, const nlohmann::json& message) {
  const std::string text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto size = static_cast<std::uint32_t>(text.size());
  return text.size() <= kMaxOracleMessage &&
         write_all(descriptor, reinterpret_cast<const char*>(&size), sizeof size) &&
         write_all(descriptor, text.data(), text.size());
}

bool read_message(int descriptor, nlohmann::json* message, int limit_ms) {
  std::uint32_t size = 0;
  if (!read_all(descriptor, reinterpret_cast<char*>(&size), sizeof size, limit_ms)) return false;
  if (size > kMaxOracleMessage) return false;
  std::string text(size, '\0');
  if (!read_all(descriptor, text.data(), size, limit_ms)) return false;
  *message = nlohmann::json::parse(text, nullptr, false);
  return !message->is_discarded();
}

}  // namespace krl
