// What a plugin offers, as found when it was loaded. Plain data that live as long as the process:
// plugins are never unloaded.
#pragma once

#include <kernelrl/abi.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace krl {

enum class Kind { kPolicy, kBackend, kReward, kDataset };

std::string_view name_of(Kind kind);

struct PluginInfo {
  std::string name, version, license, built_with;
  std::filesystem::path path;
};

// One option of a component; the texts are those of krl_field.
struct Field {
  std::uint32_t type = KRL_STRING, flags = 0;  // KRL_BOOL …, KRL_REQUIRED | KRL_SECRET
  std::string key, fallback, range, doc;
};

struct Component {
  Kind kind = Kind::kReward;
  std::string id, summary;
  std::uint32_t flags = 0;  // KRL_THREAD_SAFE | KRL_DETERMINISTIC | KRL_NEEDS_GPU
  std::vector<Field> fields;
  PluginInfo plugin;
  const krl_component* raw = nullptr;

  bool thread_safe() const { return (flags & KRL_THREAD_SAFE) != 0; }
  // The signals that a reward reads, KRL_SIGNAL_*; 0 for the other kinds.
  std::uint32_t needs() const;
};

// The names of the signals in `mask`, "time, registers".
std::string signal_names(std::uint32_t mask);

}  // namespace krl
