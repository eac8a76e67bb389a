#include "plugins/policies/tinker/service_kind.hpp"

#include <nlohmann/json.hpp>

namespace krl::tinker {

ServiceKind service_kind(std::string_view body) {
  const auto root = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || root.value("name", nlohmann::json()) != "Tinker API Mock") return {};
  ServiceKind skyrl;
  skyrl.name = "SkyRL";
  skyrl.gradients = Gradients::kMean;
  skyrl.knows_seq_ids = false;
  skyrl.keeps_samplers = false;
  skyrl.clips_gradients = false;
  return skyrl;
}

}  // namespace krl::tinker
