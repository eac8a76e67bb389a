// The registry: every component of every plugin found on the search path.
//
// Filled once, on the main thread, before any other thread runs; read-only afterwards, from any
// thread.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/component.hpp"

namespace krl::core {

class Registry {
 public:
  using Key = std::pair<Kind, std::string>;  // a component's kind and id

  // Loads every `*.krl.so` of `folders`, in order, each folder sorted by name. A file that is not a
  // plugin of this version, whose description breaks a rule, or that offers an id for a second
  // time, does not stop the others: it is listed in `rejected` and matters only if a plan asks for
  // a component that it might have offered.
  //
  // Only the installation's own plugins may have ids without a vendor (component.hpp), except for
  // the ids that `replace` names, "reward.speedup": for these a stranger's is taken, and the
  // installation's own is left out.
  static Registry load(const std::vector<std::filesystem::path>& folders,
                       const std::vector<std::string>& replace = {});

  // Loads one file alone, as a stranger's unless it came with this installation.
  static Registry load_file(const std::filesystem::path& file);

  // Returns nullptr if there is none.
  const Component* find(Kind kind, std::string_view id) const;
  // Like find; the error names the nearest id, the folders that were searched and the files that
  // were rejected.
  Result<const Component*> require(Kind kind, std::string_view id) const;

  // Sorted by kind, then id.
  using Components = std::map<Key, Component>;
  const Components& all() const { return components_; }
  // The components as plans are checked against them.
  Catalog catalog() const;

  struct Rejected {
    std::filesystem::path path;
    std::string why;
    // Components that it would have brought, as far as they can be known.
    std::vector<Key> offers = {};
  };
  const std::vector<Rejected>& rejected() const { return rejected_; }

  // Notes for users of these plugins, a line each: folders that do not exist, built-in components
  // that were replaced.
  const std::vector<std::string>& notes() const { return notes_; }
  // The same about one component: the files that offer it too and were not loaded.
  std::vector<std::string> notes_on(const Key& key) const;

 private:
  struct File {
    std::filesystem::path path;  // canonical
    bool installed = false;      // it came with this installation of kernelrl
  };
  std::vector<File> find_files();
  void load_files(const std::vector<File>& files);
  void add(const File& file, const Status& rehearsed);
  Status admit(const File& file, const std::vector<Component>& offered);
  Status check_id(const File& file, const Key& key) const;

  Components components_;
  std::vector<Rejected> rejected_;
  std::vector<std::string> notes_;
  std::vector<std::filesystem::path> folders_;
  std::set<std::string> replace_;
  std::set<Key> replaced_;  // members of `replace` that a stranger's plugin offers
};

// Returns the folders to search for strangers' plugins: `first`, then those that
// KERNELRL_PLUGIN_PATH names, separated by ':', then the user's, if it exists. Absolute, each once.
std::vector<std::filesystem::path> strangers_folders(
    const std::vector<std::filesystem::path>& first);

// The user's folder, $XDG_DATA_HOME/kernelrl/plugins or ~/.local/share/kernelrl/plugins, whether it
// exists or not. An error: there is no home.
Result<std::filesystem::path> users_plugins();

// The folder of the installation's own, ../lib/kernelrl/plugins from the running program.
std::filesystem::path installed_plugins();

// Returns all folders to search: those of strangers, then the installation's own.
std::vector<std::filesystem::path> plugin_folders(const std::vector<std::filesystem::path>& first);

// Explains why no plugins can be found in `folder`: "does not exist"; empty if it is a folder.
std::string why_no_folder(const std::filesystem::path& folder);

}  // namespace krl::core
