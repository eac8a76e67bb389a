// The registry: every component of every plugin found on the search path.
//
// Filled once, on the main thread, before any other thread runs; read-only afterwards, from any
// thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/component.hpp"

namespace krl {

class Registry {
 public:
  // Loads every `*.krl.so` of `folders`, in order, each folder sorted by name; a folder that does
  // not exist is skipped. A file that is no plugin of this version, or that offers an id for a
  // second time, does not stop the others: it is listed in `rejected` and matters only if a plan
  // asks for what it might have offered.
  static Registry load(const std::vector<std::filesystem::path>& folders);

  // nullptr if there is none.
  const Component* find(Kind kind, std::string_view id) const;
  // Like find; the error names the nearest id and the files that were rejected.
  Result<const Component*> require(Kind kind, std::string_view id) const;

  // Sorted by kind, then id.
  using Components = std::map<std::pair<Kind, std::string>, Component>;
  const Components& all() const { return components_; }
  // The components as plans are checked against them.
  Catalog catalog() const;

  struct Rejected {
    std::filesystem::path path;
    std::string why;
  };
  const std::vector<Rejected>& rejected() const { return rejected_; }

 private:
  Status add(const std::filesystem::path& path);

  Components components_;
  std::vector<Rejected> rejected_;
};

// The folders that KERNELRL_PLUGIN_PATH names, separated by ':'.
std::vector<std::filesystem::path> plugin_folders_of_environment();

// The folders to search, first to last: `extra`, then KERNELRL_PLUGIN_PATH, then
// ../lib/kernelrl/plugins beside the running program.
std::vector<std::filesystem::path> plugin_folders(const std::vector<std::filesystem::path>& extra);

}  // namespace krl
