// The components that a plugin offers, as found when it was loaded. Plain data that live as long as
// the process: plugins are never unloaded.
#pragma once

#include <kernelrl/abi.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/plan/keys.hpp"

namespace krl::core {

// An id of a component is made of words of a-z, 0-9, '_' and '-', joined by dots; its first
// character is a letter, and it has at most kMostIdBytes. Ids of the installation's own plugins may
// be one word, "speedup"; a stranger's has a vendor in front, "acme.speedup", so that it never
// takes the place of a built-in one.
inline constexpr std::size_t kMostIdBytes = 64;

// "vendor.name".
bool has_vendor(std::string_view id);

// True if it is an id at all, with a vendor or without.
bool is_id(std::string_view id);

// The rule for messages, to follow a ';'.
extern const std::string_view kIdRule;

struct PluginInfo {
  std::string name, version, license, built_with;
  std::filesystem::path path;

  // "plugin speedup 1.0.0, /usr/lib/kernelrl/speedup.krl.so"
  std::string text() const;
};

struct Component : CatalogEntry {
  std::string summary;
  std::uint32_t flags = 0;  // KRL_THREAD_SAFE | … | KRL_TAKES_HOST
  std::uint32_t needs = 0;  // the signals that a reward reads, KRL_SIGNAL_*
  PluginInfo plugin;
  const krl_component* raw = nullptr;      // the functions that are called
  const krl_component* offered = nullptr;  // its own; another one than `raw` if it is isolated

  bool thread_safe() const { return (flags & KRL_THREAD_SAFE) != 0; }
};

// An error of a component, and its plugin's file where the message does not name it yet.
std::string with_plugin(std::string message, const Component& component);

// The names of the signals in `mask`, "time, registers".
std::string signal_names(std::uint32_t mask);

}  // namespace krl::core
