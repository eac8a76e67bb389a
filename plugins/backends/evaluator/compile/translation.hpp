// A front end turns a candidate into PTX and the facts of its launches. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::evaluator {

struct Translation {
  std::string ptx;                         // one module
  std::vector<std::string> names;          // the entry of each requested kernel, in their order
  std::vector<std::int64_t> shared_bytes;  // the dynamic shared memory that each of them is to have

  NLOHMANN_DEFINE_TYPE_INTRUSIVE(Translation, ptx, names, shared_bytes)
};

// Reads JSON from a process that a candidate may have taken over. Empty if it is no translation of so
// many kernels.
inline std::optional<Translation> read_translation(std::string_view json, std::size_t n_kernels) {
  constexpr std::int64_t kMostShared = 1 << 20;
  constexpr std::size_t kMostBytes = 16 << 20;
  if (json.size() > kMostBytes) return std::nullopt;
  try {
    const auto is_shallow = [](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
      return depth <= 2;
    };
    auto translation = nlohmann::json::parse(json, is_shallow).get<Translation>();
    if (translation.names.size() != n_kernels || translation.shared_bytes.size() != n_kernels)
      return std::nullopt;
    for (const std::int64_t bytes : translation.shared_bytes)
      if (bytes < 0 || bytes > kMostShared) return std::nullopt;
    return translation;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace krl::evaluator
