#include "core/plugin/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <kernelrl/spelling.hpp>
#include <sstream>
#include <system_error>

#include "core/base/file_system.hpp"
#include "core/base/user_folders.hpp"
#include "core/plugin/active_call.hpp"
#include "core/plugin/component.hpp"
#include "core/plugin/description.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/library.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".krl.so";

bool is_installed(const fs::path& folder) {
  std::error_code error;
  return fs::equivalent(folder, installed_plugins(), error);
}

// Absolute, in the same order.
std::vector<fs::path> each_once(const std::vector<fs::path>& folders) {
  std::vector<fs::path> unique;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    fs::path absolute = fs::absolute(folder, ignored).lexically_normal();
    if (!absolute.has_filename()) absolute = absolute.parent_path();  // "plugins/" is "plugins"
    if (std::ranges::find(unique, absolute) == unique.end()) unique.push_back(std::move(absolute));
  }
  return unique;
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files = children_of(folder).value_or(std::vector<fs::path>());
  std::erase_if(files, [](const fs::path& file) {
    const std::string name = file.filename().string();
    return name.size() <= kSuffix.size() || !name.ends_with(kSuffix);
  });
  return files;
}

// Loads a file and asks for its components: its constructors and its entry point run.
Result<std::vector<Component>> offers_of(const fs::path& path) {
  KRL_TRY(check_library(path));
  KRL_ASSIGN(const krl_plugin_entry entry, open_library(path));
  const krl_plugin* plugin = nullptr;
  const auto thrown = enter({path.native()}, KRL_PLUGIN_ENTRY, [&] { plugin = entry(host()); });
  if (thrown)
    return invalid(
        fmt::format("its entry point threw an exception across the C boundary: {}", *thrown));
  return read_description(plugin, path);
}

Status rehearse_stranger(const fs::path& path) {
  KRL_TRY(check_library(path));  // a check that runs no code needs no child process
  return rehearse([&] { static_cast<void>(offers_of(path)); });
}

// "reward.speedup", as a plan's [plugins] replace has it.
std::string dotted(const Registry::Key& key) {
  return fmt::format("{}.{}", name_of(key.first), key.second);
}

std::string named(const Registry::Key& key) {
  return fmt::format("the {} '{}'", name_of(key.first), key.second);
}

}  // namespace

Registry Registry::load(const std::vector<fs::path>& folders,
                        const std::vector<std::string>& replace) {
  Registry registry;
  registry.folders_ = each_once(folders);
  registry.replace_ = {replace.begin(), replace.end()};
  registry.load_files(registry.find_files());
  return registry;
}

Registry Registry::load_file(const fs::path& file) {
  Registry registry;
  std::error_code ignored;
  const fs::path path = fs::absolute(file, ignored);
  registry.load_files({{path, is_installed(path.parent_path())}});
  return registry;
}

// All rehearsals come first, because loaded code may start threads.
void Registry::load_files(const std::vector<File>& files) {
  std::vector<Status> rehearsed;
  for (const File& file : files) {
    rehearsed.push_back(file.installed ? Status() : rehearse_stranger(file.path));
  }
  for (std::size_t i = 0; i < files.size(); ++i) add(files[i], rehearsed[i]);
}

// Returns every file once, at its first occurrence; those of the installation last.
std::vector<Registry::File> Registry::find_files() {
  std::vector<File> files;
  for (const fs::path& folder : folders_) {
    if (const std::string why = why_no_folder(folder); !why.empty()) {
      notes_.push_back(fmt::format("no plugins from {}: it {}", folder.string(), why));
    }
    for (const fs::path& found : files_of(folder)) {
      std::error_code error;
      const fs::path path = fs::canonical(found, error);
      if (error) {
        rejected_.push_back({found, "cannot be read: " + error.message()});
        continue;
      }
      const bool installed = is_installed(folder) || is_installed(path.parent_path());
      const auto same = [&path](const File& file) { return file.path == path; };
      const auto known = std::ranges::find_if(files, same);
      if (known == files.end()) {
        files.push_back({path, installed});
      } else {
        known->installed |= installed;
      }
    }
  }
  std::stable_partition(files.begin(), files.end(),
                        [](const File& file) { return !file.installed; });
  return files;
}

void Registry::add(const File& file, const Status& rehearsed) {
  std::vector<Component> offered;
  const auto read = [&]() -> Status {
    KRL_TRY(rehearsed);
    KRL_ASSIGN(offered, offers_of(file.path));
    return admit(file, offered);
  };
  const Status added = read();
  if (added) return;
  Rejected rejected{file.path, added.error().message};
  for (const Component& component : offered)
    rejected.offers.emplace_back(component.kind, component.id);
  rejected_.push_back(std::move(rejected));
}

// Takes all that a file offers, or nothing; a component that was replaced is left out.
Status Registry::admit(const File& file, const std::vector<Component>& offered) {
  for (const Component& c : offered) KRL_TRY(check_id(file, {c.kind, c.id}));
  for (const Component& component : offered) {
    const Key key(component.kind, component.id);
    const auto [place, is_new] = components_.emplace(key, component);
    if (!is_new) {
      notes_.push_back(
          fmt::format("{} is provided by {} instead of kernelrl, as requested by [plugins] replace",
                      named(key), place->second.plugin.path.string()));
    } else if (!file.installed && !has_vendor(component.id)) {
      replaced_.insert(key);
    }
  }
  return {};
}

Status Registry::check_id(const File& file, const Key& key) const {
  if (!file.installed && !has_vendor(key.second) && !replace_.contains(dotted(key))) {
    return invalid(fmt::format(
        "offers {}, an id reserved for kernelrl's own plugins; name it \"vendor.{}\", or enable it in a plan with [plugins] replace = [\"{}\"]",
        named(key), key.second, dotted(key)));
  }
  const Component* same = find(key.first, key.second);
  if (same == nullptr || (file.installed && replaced_.contains(key))) return {};
  return invalid(fmt::format("offers {}, which {} offers already; remove one of the two",
                             named(key), same->plugin.path.string()));
}

const Component* Registry::find(Kind kind, std::string_view id) const {
  const auto found = components_.find({kind, std::string(id)});
  return found == components_.end() ? nullptr : &found->second;
}

Result<const Component*> Registry::require(Kind kind, std::string_view id) const {
  if (const Component* component = find(kind, id)) return component;
  const Catalog known = catalog();
  const std::vector<std::string> ids = known.ids(kind);
  std::string message =
      fmt::format("no {} plugin is called '{}'{}", name_of(kind), id, did_you_mean(id, ids, ""));
  message += ids.empty() ? "; none was found" : fmt::format("   known: {}", fmt::join(ids, ", "));
  return failure(Code::kNotFound, message + known.search_report("\n"));
}

Catalog Registry::catalog() const {
  Catalog catalog;
  for (const auto& [key, component] : components_) catalog.entries.push_back(component);
  for (const fs::path& folder : folders_) catalog.searched.push_back(folder.string());
  for (const Rejected& r : rejected_) catalog.refused.push_back(r.path.string() + ": " + r.why);
  for (const Key& key : replaced_) catalog.replaced.push_back(dotted(key));
  return catalog;
}

std::vector<std::string> Registry::notes_on(const Key& key) const {
  std::vector<std::string> notes;
  for (const Rejected& r : rejected_) {
    if (std::ranges::find(r.offers, key) == r.offers.end()) continue;
    notes.push_back(fmt::format("not loaded: {}: {}", r.path.string(), r.why));
  }
  return notes;
}

std::vector<fs::path> strangers_folders(const std::vector<fs::path>& first) {
  std::vector<fs::path> folders = first;
  if (const char* variable = std::getenv("KERNELRL_PLUGIN_PATH")) {
    std::istringstream names(variable);
    for (std::string name; std::getline(names, name, ':');)
      if (!name.empty()) folders.emplace_back(name);
  }
  std::error_code ignored;
  if (const auto users = users_plugins(); users && fs::is_directory(*users, ignored))
    folders.push_back(*users);
  return each_once(folders);
}

Result<fs::path> users_plugins() {
  KRL_ASSIGN(const fs::path data, users_folder(UserFolder::kData));
  return data / "plugins";
}

fs::path installed_plugins() { return installation_prefix() / "lib/kernelrl/plugins"; }

std::vector<fs::path> plugin_folders(const std::vector<fs::path>& first) {
  std::vector<fs::path> folders = strangers_folders(first);
  folders.push_back(installed_plugins());
  return folders;
}

std::string why_no_folder(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (fs::is_directory(status)) return {};
  return fs::exists(status) ? "is a file; name the folder that contains it" : "does not exist";
}

}  // namespace krl::core
