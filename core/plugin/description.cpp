#include "core/plugin/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <kernelrl/growth.hpp>

#include "core/base/text.hpp"
#include "core/plan/key_check.hpp"
#include "core/plan/keys.hpp"
#include "core/plan/node.hpp"
#include "core/plan/schema.hpp"
#include "core/plugin/component.hpp"
#include "core/plugin/views.hpp"

namespace krl::core {
namespace {

constexpr std::size_t kMostKeyBytes = 100;

// "model.layers": words that TOML takes without quotes.
bool is_key(std::string_view key) {
  if (key.size() > kMostKeyBytes) return false;
  for (;;) {
    const std::size_t dot = key.find('.');
    if (!is_bare_key(key.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    key.remove_prefix(dot + 1);
  }
}

Status check_key(Kind kind, const std::string& key) {
  if (!is_key(key)) {
    return invalid(fmt::format(
        "'{}' is not a valid key; use letters, digits, '_' and '-', with dots between tables, at most {}",
        one_line(key.substr(0, kMostKeyBytes)), kMostKeyBytes));
  }
  const std::vector<KeyRule>& taken = table_rules(name_of(kind)).keys;
  const std::string first = key.substr(0, key.find('.'));
  const bool reserved =
      std::ranges::any_of(taken, [&](const KeyRule& rule) { return rule.key == first; });
  if (!reserved) return {};
  return invalid(fmt::format("'{}' is reserved for kernelrl in the table of a {}; rename it", first,
                             name_of(kind)));
}

Status check_range(const KeyRule& option) {
  if (option.range.empty()) return {};
  const bool number = option.type == ValueType::kInteger || option.type == ValueType::kFloat;
  const bool good = number                              ? is_interval(option.range)
                    : option.type == ValueType::kString ? !choices_of(option.range).empty()
                                                        : false;
  if (good && one_line(option.range) == option.range) return {};
  return invalid(fmt::format(
      "the range '{}' of '{}', {}, cannot be read; a number has a range such as 0..1 or 1.., a "
      "string a|b|c, other types none",
      one_line(option.range), option.key, described(option.type)));
}

// Checks the default as if a plan had written it out.
Status check_default(const KeyRule& option) {
  if (option.fallback.empty()) return {};
  if (option.required) {
    return invalid(
        fmt::format("'{}' is required and has a default; it is one or the other", option.key));
  }
  const std::vector<KeyRule> rules = {option};
  std::vector<Problem> problems;
  Node table = Node::table({});
  check_table(table, rules, {}, problems);  // fills the default in
  if (!problems.empty()) {
    return invalid(fmt::format("the default of '{}', {}, is not {}; correct it", option.key,
                               one_line(option.fallback), described(option.type)));
  }
  check_table(table, rules, {}, problems);  // and checks it like any value
  if (problems.empty()) return {};
  return invalid(
      fmt::format("the default of '{}' is not allowed: {}; correct the default or the range",
                  option.key, one_line(problems.front().message)));
}

constexpr std::size_t kMostComponents = 1000;  // limit of a plugin
constexpr std::size_t kMostOptions = 1000;     // limit of a component
constexpr std::size_t kMostTextBytes = 10'000;

constexpr std::uint32_t kKnownComponentFlags =
    KRL_THREAD_SAFE | KRL_DETERMINISTIC | KRL_NEEDS_GPU | KRL_TAKES_HOST;
constexpr std::uint32_t kKnownFieldFlags = KRL_REQUIRED | KRL_SECRET;
constexpr std::uint32_t kKnownSignals =
    KRL_SIGNAL_COMPILE | KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME | KRL_SIGNAL_REGISTERS |
    KRL_SIGNAL_SHARED_MEMORY | KRL_SIGNAL_OCCUPANCY | KRL_SIGNAL_INSTRUCTIONS | KRL_SIGNAL_MEMORY;

// True of a plugin for a later 1.x, whose structs may be larger than ours, and hold what we do not
// know.
bool is_newer(std::uint32_t minor) { return minor > KRL_ABI_MINOR; }

struct Sizes {
  std::size_t at_1_0, now;

  // A size outside of the known versions' range marks a different struct. For a version that this
  // program does not know yet only the minimum is known.
  bool allow(std::uint32_t size, std::uint32_t minor) const {
    return size >= at_1_0 && (size <= now || is_newer(minor));
  }
};

template <class Struct>
constexpr Sizes kSizes{kSizeAt10<Struct>, sizeof(Struct)};

Sizes table_sizes(Kind kind) {
  switch (kind) {
    case Kind::kPolicy:
      return kSizes<krl_policy_v>;
    case Kind::kBackend:
      return kSizes<krl_backend_v>;
    case Kind::kReward:
      return kSizes<krl_reward_v>;
    case Kind::kDataset:
      break;
  }
  return kSizes<krl_dataset_v>;
}

// The beginning of every table.
struct TableHead {
  std::uint32_t struct_size;
  std::uint32_t kind;  // a reward's `needs`
};

// The functions without which the core cannot use a component of this kind. REQUIRES: a table of
// the right size.
bool is_complete(Kind kind, const void* table) {
  switch (kind) {
    case Kind::kPolicy: {
      const auto* t = static_cast<const krl_policy_v*>(table);
      const bool both_or_neither = (t->follows == nullptr) == (t->follow == nullptr);
      return t->describe != nullptr && t->sample != nullptr && t->tokenize != nullptr &&
             both_or_neither;
    }
    case Kind::kBackend: {
      const auto* t = static_cast<const krl_backend_v*>(table);
      return t->describe != nullptr && t->prepare != nullptr && t->evaluate != nullptr;
    }
    case Kind::kReward:
      return static_cast<const krl_reward_v*>(table)->score != nullptr;
    case Kind::kDataset:
      break;
  }
  const auto* t = static_cast<const krl_dataset_v*>(table);
  return t->size != nullptr && t->read != nullptr;
}

Status check_text(krl_str text, std::string_view what) {
  if (text.data == nullptr && text.size > 0) {
    return invalid(fmt::format("its {} is at NULL and has {} bytes; the empty text is {{NULL, 0}}",
                               what, text.size));
  }
  if (text.size <= kMostTextBytes) return {};
  return invalid(fmt::format("its {} has {} bytes, more than {}; shorten it", what, text.size,
                             kMostTextBytes));
}

Status check_bits(std::uint32_t bits, std::uint32_t known, std::string_view what) {
  if ((bits & ~known) == 0) return {};
  return invalid(fmt::format(
      "its {} contain {:#x}, which is unknown to this version of kernelrl; remove it, or use a newer version",
      what, bits & ~known));
}

// The same of flags, of which a later version may have some that need not be understood.
Status check_flags(std::uint32_t flags, std::uint32_t known, std::string_view what,
                   std::uint32_t minor) {
  return check_bits(is_newer(minor) ? flags & ~(KRL_MUST_KNOW - 1) : flags, known, what);
}

// Reads one component. Its errors do not name it yet.
class ComponentReader {
 public:
  ComponentReader(const krl_component& raw, std::uint32_t minor) : raw_(raw), minor_(minor) {}

  Result<Component> read() const {
    KRL_TRY(check_flags(raw_.flags, kKnownComponentFlags, "flags", minor_));
    KRL_TRY(check_text(raw_.summary, "summary"));
    KRL_TRY(check_functions());
    Component component;
    component.kind = static_cast<Kind>(raw_.kind);
    component.id = copy(raw_.id);
    component.summary = one_line(view(raw_.summary));
    component.flags = raw_.flags;
    component.raw = component.offered = &raw_;
    if (component.kind == Kind::kReward)
      component.needs = static_cast<const krl_reward_v*>(raw_.table)->needs;
    KRL_ASSIGN(component.keys, read_options());
    return component;
  }

 private:
  Status check_functions() const {
    const auto kind = static_cast<Kind>(raw_.kind);
    const auto* table = static_cast<const TableHead*>(raw_.table);
    if (raw_.create == nullptr || raw_.destroy == nullptr || table == nullptr) {
      return invalid("it lacks create, destroy or its table of functions");
    }
    const Sizes sizes = table_sizes(kind);
    if (!sizes.allow(table->struct_size, minor_)) {
      return invalid(fmt::format(
          "the struct_size of its table is {}, and a {}'s table has {} bytes; set it to the "
          "table's sizeof, and the component's kind to the table's",
          table->struct_size, name_of(kind), sizes.now));
    }
    if (kind == Kind::kReward) {
      KRL_TRY(check_bits(table->kind, kKnownSignals, "needs"));
    } else if (table->kind != raw_.kind) {
      return invalid(fmt::format("its kind is {}, its table's {}; a {}'s are both {}", raw_.kind,
                                 table->kind, name_of(kind), raw_.kind));
    }
    if (is_complete(kind, table)) return {};
    return invalid("its table lacks functions that its kind needs");
  }

  Result<std::vector<KeyRule>> read_options() const {
    if (raw_.n_fields > kMostOptions) {
      return invalid(fmt::format("it has {} options, more than {}", raw_.n_fields, kMostOptions));
    }
    if (raw_.fields == nullptr && raw_.n_fields > 0) return invalid("its list of options is NULL");
    std::vector<KeyRule> options;
    for (std::uint32_t i = 0; i < raw_.n_fields; ++i) {
      KRL_ASSIGN(KeyRule option, read_option(raw_.fields[i], i));
      options.push_back(std::move(option));
    }
    KRL_TRY(check_options(static_cast<Kind>(raw_.kind), options));
    return options;
  }

  Result<KeyRule> read_option(const krl_field* field, std::uint32_t index) const {
    if (field == nullptr) return invalid(fmt::format("its option {} is NULL", index));
    if (!kSizes<krl_field>.allow(field->struct_size, minor_)) {
      return invalid(fmt::format("the struct_size of its option {} is {}, not {}", index,
                                 field->struct_size, kSizes<krl_field>.now));
    }
    if (field->key.size == 0) return invalid(fmt::format("its option {} has no name", index));
    for (const auto& [text, what] : {std::pair(field->key, "key"),
                                     {field->fallback, "default"},
                                     {field->range, "range"},
                                     {field->doc, "doc"}}) {
      KRL_TRY(check_text(text, fmt::format("option {}'s {}", index, what)));
    }
    KRL_TRY(check_flags(field->flags, kKnownFieldFlags, fmt::format("option {}'s flags", index),
                        minor_));
    if (field->reserved != 0) return invalid(fmt::format("its option {} has reserved bits", index));
    if (field->type < KRL_BOOL || field->type > KRL_TABLE) {
      return invalid(fmt::format("its option '{}' has the unknown type {}",
                                 one_line(view(field->key)), field->type));
    }
    return KeyRule{.key = copy(field->key),
                   .type = static_cast<ValueType>(field->type),
                   .fallback = copy(field->fallback),
                   .range = copy(field->range),
                   .doc = one_line(view(field->doc)),
                   .required = (field->flags & KRL_REQUIRED) != 0};
  }

  const krl_component& raw_;
  const std::uint32_t minor_;
};

// Checks everything that can be checked before a component's name is known.
Status check_head(const krl_component* raw, std::uint32_t minor) {
  if (raw == nullptr) return invalid("lists a component that is null");
  if (!kSizes<krl_component>.allow(raw->struct_size, minor)) {
    return invalid(fmt::format("lists a component whose struct_size is {}, not {}",
                               raw->struct_size, kSizes<krl_component>.now));
  }
  if (raw->id.size == 0) return invalid("offers a component without an id");
  const Status text = check_text(raw->id, "id");
  if (!text) return invalid("offers a component, but " + text.error().message);
  if (!is_id(view(raw->id))) {
    return invalid(fmt::format("offers a component with the id '{}'; {}",
                               one_line(view(raw->id).substr(0, kMostIdBytes)), kIdRule));
  }
  if (raw->kind >= KRL_POLICY && raw->kind <= KRL_DATASET) return {};
  return invalid(fmt::format("offers '{}' of the unknown kind {}", view(raw->id), raw->kind));
}

// True of a component of a kind that a later version has added.
bool is_of_later_kind(const krl_component* raw, std::uint32_t minor) {
  return is_newer(minor) && raw != nullptr &&
         kSizes<krl_component>.allow(raw->struct_size, minor) && raw->kind > KRL_DATASET;
}

Result<PluginInfo> read_plugin(const krl_plugin* plugin, const std::filesystem::path& file) {
  if (plugin == nullptr) return invalid("its entry point gives no description");
  if (!kSizes<krl_plugin>.allow(plugin->struct_size, plugin->abi_minor)) {
    return invalid(fmt::format("the struct_size of its krl_plugin is {}, not {}",
                               plugin->struct_size, kSizes<krl_plugin>.now));
  }
  for (const auto& [text, what] : {std::pair(plugin->name, "name"),
                                   {plugin->version, "version"},
                                   {plugin->license, "licence"},
                                   {plugin->built_with, "built_with"}}) {
    KRL_TRY(check_text(text, what));
  }
  if (plugin->n_components == 0 || plugin->components == nullptr)
    return invalid("offers no components");
  if (plugin->n_components > kMostComponents) {
    return invalid(
        fmt::format("offers {} components, more than {}", plugin->n_components, kMostComponents));
  }
  return PluginInfo{one_line(view(plugin->name)), one_line(view(plugin->version)),
                    one_line(view(plugin->license)), one_line(view(plugin->built_with)), file};
}

}  // namespace

Status check_options(Kind kind, const std::vector<KeyRule>& options) {
  for (auto option = options.begin(); option != options.end(); ++option) {
    KRL_TRY(check_key(kind, option->key));
    const auto same = [&](const KeyRule& earlier) { return earlier.key == option->key; };
    if (std::any_of(options.begin(), option, same)) {
      return invalid(fmt::format("'{}' is declared twice; rename one of the two", option->key));
    }
    KRL_TRY(check_range(*option));
    KRL_TRY(check_default(*option));
  }
  return {};
}

Result<std::vector<Component>> read_description(const krl_plugin* plugin,
                                                const std::filesystem::path& file) {
  KRL_ASSIGN(const PluginInfo info, read_plugin(plugin, file));
  std::vector<Component> components;
  for (std::size_t i = 0; i < plugin->n_components; ++i) {
    const krl_component* raw = plugin->components[i];
    if (is_of_later_kind(raw, plugin->abi_minor)) continue;
    KRL_TRY(check_head(raw, plugin->abi_minor));
    const std::string what =
        fmt::format("offers the {} '{}'", name_of(static_cast<Kind>(raw->kind)), view(raw->id));
    Result<Component> component = ComponentReader(*raw, plugin->abi_minor).read();
    if (!component) return invalid(what + ", but " + component.error().message);
    const auto same = [&](const Component& earlier) {
      return earlier.kind == component->kind && earlier.id == component->id;
    };
    if (std::ranges::any_of(components, same)) return invalid(what + " twice");
    component->plugin = info;
    components.push_back(std::move(*component));
  }
  if (components.empty())
    return invalid("offers only components of kinds that came later; use a newer kernelrl");
  return components;
}

}  // namespace krl::core
