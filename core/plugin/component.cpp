#include "core/plugin/component.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace krl {

std::uint32_t Component::needs() const {
  return kind == Kind::kReward ? static_cast<const krl_reward_v*>(raw->table)->needs : 0;
}

std::string PluginInfo::text() const {
  return fmt::format("plugin {} {}, {}", name, version, path.string());
}

std::string with_plugin(std::string message, const Component& component) {
  const std::string plugin = component.plugin.text();
  if (message.find(plugin) == std::string::npos) message += " (" + plugin + ")";
  return message;
}

std::string signal_names(std::uint32_t mask) {
  static constexpr std::array<std::pair<std::uint32_t, std::string_view>, 8> kNames{{
      {KRL_SIGNAL_COMPILE, "compile"},
      {KRL_SIGNAL_CORRECTNESS, "correctness"},
      {KRL_SIGNAL_TIME, "time"},
      {KRL_SIGNAL_REGISTERS, "registers"},
      {KRL_SIGNAL_SHARED_MEMORY, "shared memory"},
      {KRL_SIGNAL_OCCUPANCY, "occupancy"},
      {KRL_SIGNAL_INSTRUCTIONS, "instructions"},
      {KRL_SIGNAL_MEMORY, "memory"},
  }};
  std::string text;
  for (const auto& [bit, name] : kNames) {
    if ((mask & bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace krl
