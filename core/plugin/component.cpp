#include "core/plugin/component.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace krl::core {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_of_a_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

}  // namespace

const std::string_view kIdRule =
    "an id is \"vendor.name\": words of a-z, 0-9, '_' and '-' joined by dots, starting with a letter, at most 64 characters";

bool has_vendor(std::string_view id) { return id.find('.') != std::string_view::npos; }

bool is_id(std::string_view id) {
  if (id.empty() || id.size() > kMostIdBytes || !is_letter(id.front())) return false;
  const bool empty_word = id.find("..") != std::string_view::npos || id.back() == '.';
  return !empty_word && std::ranges::all_of(id, [](char c) { return c == '.' || is_of_a_word(c); });
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

}  // namespace krl::core
