// What a plugin offers, as found when it was loaded. Plain data that live as long as the process:
// plugins are never unloaded.
#pragma once

#include <kernelrl/abi.h>

#include <filesystem>
#include <string>

#include "core/plan/catalog.hpp"

namespace krl {

struct PluginInfo {
  std::string name, version, license, built_with;
  std::filesystem::path path;

  // "plugin speedup 1.0.0, /usr/lib/kernelrl/speedup.krl.so"
  std::string text() const;
};

struct Component : CatalogEntry {
  std::string summary;
  std::uint32_t flags = 0;  // KRL_THREAD_SAFE | … | KRL_TAKES_HOST
  PluginInfo plugin;
  const krl_component* raw = nullptr;

  bool thread_safe() const { return (flags & KRL_THREAD_SAFE) != 0; }
  // The signals that a reward reads, KRL_SIGNAL_*; 0 for the other kinds.
  std::uint32_t needs() const;
};

// An error of a component, and its plugin's file where the message does not name it yet.
std::string with_plugin(std::string message, const Component& component);

// The names of the signals in `mask`, "time, registers".
std::string signal_names(std::uint32_t mask);

}  // namespace krl
