#include "core/plugin/registry.hpp"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <kernelrl/spelling.hpp>

#include <algorithm>
#include <boost/dll/library_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cstdlib>
#include <deque>
#include <system_error>

#include "core/base/installation.hpp"
#include "core/plugin/host.hpp"
#include "core/plugin/text.hpp"

namespace krl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".krl.so";

// Looks for the entry point in the ELF symbols, so that a stranger's code does not run if it is of
// another version.
Status check_symbols(const fs::path& path) {
  std::vector<std::string> symbols;
  try {
    boost::dll::library_info info(path);
    symbols = info.symbols();
  } catch (const std::exception& e) {
    return invalid(fmt::format("not a shared library that can be read ({})", e.what()));
  }
  std::string other;
  for (const std::string& symbol : symbols) {
    if (symbol == KRL_PLUGIN_ENTRY) return {};
    if (symbol.rfind("krl_plugin_v", 0) == 0) other = symbol;
  }
  if (!other.empty()) {
    return invalid(fmt::format(
        "built for another version of the plugin boundary: it exports {}, this program wants {}; "
        "rebuild it with this version's SDK",
        other, KRL_PLUGIN_ENTRY));
  }
  return invalid(fmt::format("exports no {}: not a kernelrl plugin, or built without KRL_PLUGIN",
                             KRL_PLUGIN_ENTRY));
}

// A call to data would end the process, so the symbol's type is looked up first.
bool is_function(krl_plugin_entry entry) {
  Dl_info library;
  void* symbol = nullptr;
  if (dladdr1(reinterpret_cast<void*>(entry), &library, &symbol, RTLD_DL_SYMENT) == 0) return false;
  return symbol != nullptr &&
         ELF64_ST_TYPE(static_cast<const ElfW(Sym)*>(symbol)->st_info) == STT_FUNC;
}

Result<krl_plugin_entry> open_library(const fs::path& path) {
  try {
    // Never unloaded: static data of the plugin are referred to until the process ends. Loads
    // happen on one thread; the list keeps the libraries in sight of leak checkers.
    static auto& loaded = *new std::deque<boost::dll::shared_library>;
    const boost::dll::shared_library& library = loaded.emplace_back(
        path, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    return reinterpret_cast<krl_plugin_entry>(
        &library.get<const krl_plugin*(const krl_host*)>(KRL_PLUGIN_ENTRY));
  } catch (const std::exception& e) {
    return invalid(fmt::format("cannot be loaded: {}", e.what()));
  }
}

bool known_kind(std::uint32_t kind) { return kind >= KRL_POLICY && kind <= KRL_DATASET; }

// The functions without which the core cannot use a component of this kind.
bool table_is_complete(const krl_component& c) {
  switch (c.kind) {
    case KRL_POLICY: {
      const auto* t = static_cast<const krl_policy_v*>(c.table);
      return t->describe != nullptr && t->sample != nullptr && t->tokenize != nullptr;
    }
    case KRL_BACKEND: {
      const auto* t = static_cast<const krl_backend_v*>(c.table);
      return t->describe != nullptr && t->prepare != nullptr && t->evaluate != nullptr;
    }
    case KRL_REWARD:
      return static_cast<const krl_reward_v*>(c.table)->score != nullptr;
    default: {
      const auto* t = static_cast<const krl_dataset_v*>(c.table);
      return t->size != nullptr && t->read != nullptr;
    }
  }
}

Status check_component(const krl_component* c) {
  if (c == nullptr) return invalid("lists a component that is null");
  if (c->struct_size < sizeof(krl_component)) return invalid("lists a component of the wrong size");
  const std::string id = copy(c->id);
  if (id.empty()) return invalid("offers a component without an id");
  if (!known_kind(c->kind))
    return invalid(fmt::format("offers '{}' of the unknown kind {}", id, c->kind));
  if (c->create == nullptr || c->destroy == nullptr || c->table == nullptr ||
      !table_is_complete(*c)) {
    return invalid(fmt::format("offers '{}' without the functions that its kind needs", id));
  }
  for (std::uint32_t i = 0; i < c->n_fields; ++i) {
    if (c->fields == nullptr || c->fields[i] == nullptr || c->fields[i]->key.size == 0) {
      return invalid(fmt::format("offers '{}' with an option that has no name", id));
    }
  }
  return {};
}

Component describe(const krl_component& raw, const krl_plugin& plugin, const fs::path& path) {
  Component component;
  component.kind = static_cast<Kind>(raw.kind);
  component.id = copy(raw.id);
  component.summary = copy(raw.summary);
  component.flags = raw.flags;
  component.raw = &raw;
  component.plugin = {copy(plugin.name), copy(plugin.version), copy(plugin.license),
                      copy(plugin.built_with), path};
  for (std::uint32_t i = 0; i < raw.n_fields; ++i) {
    const krl_field& f = *raw.fields[i];
    component.keys.push_back({.key = copy(f.key),
                              .type = static_cast<ValueType>(f.type),
                              .fallback = copy(f.fallback),
                              .range = copy(f.range),
                              .doc = copy(f.doc),
                              .required = (f.flags & KRL_REQUIRED) != 0});
  }
  return component;
}

std::vector<fs::path> plugin_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > kSuffix.size() && name.ends_with(kSuffix)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Registry Registry::load(const std::vector<fs::path>& folders) {
  Registry registry;
  std::vector<fs::path> seen;
  for (const fs::path& folder : folders) {
    for (const fs::path& file : plugin_files(folder)) {
      std::error_code error;
      const fs::path path = fs::canonical(file, error);
      if (error) {
        registry.rejected_.push_back({file, "cannot be read: " + error.message()});
        continue;
      }
      if (std::find(seen.begin(), seen.end(), path) != seen.end()) continue;
      seen.push_back(path);
      if (const Status added = registry.add(path); !added) {
        registry.rejected_.push_back({path, added.error().message});
      }
    }
  }
  return registry;
}

Status Registry::add(const fs::path& path) {
  KRL_TRY(check_symbols(path));
  KRL_ASSIGN(const krl_plugin_entry entry, open_library(path));
  if (!is_function(entry))
    return invalid(fmt::format("exports {} as data, not as a function", KRL_PLUGIN_ENTRY));
  const krl_plugin* plugin = entry(host());
  if (plugin == nullptr || plugin->struct_size < sizeof(krl_plugin)) {
    return invalid("its entry point gives no description of this version");
  }
  if (plugin->n_components == 0 || plugin->components == nullptr)
    return invalid("offers no components");
  Components offered;
  for (std::size_t i = 0; i < plugin->n_components; ++i) {
    KRL_TRY(check_component(plugin->components[i]));
    Component component = describe(*plugin->components[i], *plugin, path);
    const auto key = std::pair(component.kind, component.id);
    const std::string what = fmt::format("offers the {} '{}'", name_of(key.first), key.second);
    if (!offered.emplace(key, std::move(component)).second) return invalid(what + " twice");
    if (const auto same = components_.find(key); same != components_.end()) {
      return invalid(fmt::format("{}, which {} offers already; remove one of the two", what,
                                 same->second.plugin.path.string()));
    }
  }
  components_.merge(offered);
  return {};
}

const Component* Registry::find(Kind kind, std::string_view id) const {
  const auto found = components_.find({kind, std::string(id)});
  return found == components_.end() ? nullptr : &found->second;
}

Result<const Component*> Registry::require(Kind kind, std::string_view id) const {
  if (const Component* component = find(kind, id)) return component;
  const std::vector<std::string> known = catalog().ids(kind);
  std::string message =
      fmt::format("no {} plugin is called '{}'{}", name_of(kind), id, did_you_mean(id, known, ""));
  message += known.empty() ? "; none was found on the plugin path"
                           : fmt::format("   known: {}", fmt::join(known, ", "));
  for (const Rejected& r : rejected_)
    message += fmt::format("\nnot loaded: {}: {}", r.path.string(), r.why);
  return failure(Code::kNotFound, std::move(message));
}

Catalog Registry::catalog() const {
  Catalog catalog;
  for (const auto& [key, component] : components_) catalog.entries.push_back(component);
  for (const Rejected& r : rejected_) catalog.refused.push_back(r.path.string() + ": " + r.why);
  return catalog;
}

std::vector<fs::path> plugin_folders_of_environment() {
  std::vector<fs::path> folders;
  if (const char* variable = std::getenv("KERNELRL_PLUGIN_PATH")) {
    const std::string_view path = variable;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find(':', begin), path.size());
      if (end > begin) folders.emplace_back(path.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return folders;
}

std::vector<fs::path> plugin_folders(const std::vector<fs::path>& extra) {
  std::vector<fs::path> folders = extra;
  for (fs::path& folder : plugin_folders_of_environment()) folders.push_back(std::move(folder));
  folders.push_back(installation_prefix() / "lib/kernelrl/plugins");
  return folders;
}

}  // namespace krl
