#include "core/plugin/components.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/plan/source.hpp"

namespace krl::core {
namespace {

// Returns the plugin's own words, without the host's "policy 'x' (create): " in front.
std::string_view words_of_plugin(const ComponentSettings& settings, std::string_view message) {
  const std::size_t begin = message.find("'" + settings.use + "' (");
  const std::size_t end = begin == std::string_view::npos ? begin : message.find("): ", begin);
  return end == std::string_view::npos ? message : message.substr(end + 3);
}

bool is_of_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

// Returns where `text` mentions the key: at its beginning, in quotes, or anywhere if no other word
// could be meant, as with "model.heads". npos if nowhere.
std::size_t place_of_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const char before = at == 0 ? '\0' : text[at - 1];
    const std::size_t end = at + key.size();
    char after = end < text.size() ? text[end] : '\0';
    const bool ends_sentence = after == '.' && (end + 1 == text.size() || text[end + 1] == ' ');
    if (ends_sentence) after = '\0';
    if (is_of_key(before) || is_of_key(after)) continue;
    const bool quoted = (before == '\'' || before == '"' || before == '`') && after == before;
    if (at == 0 || quoted || key.find('.') != std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

// The option whose key the text names first.
const Origin* named_option(const ComponentSettings& settings, std::string_view text) {
  const Origin* found = nullptr;
  std::size_t first = std::string_view::npos;
  for (const auto& [key, origin] : settings.option_origins) {
    const std::size_t at = place_of_key(text, key);
    if (at >= first) continue;
    first = at;
    found = &origin;
  }
  return found;
}

// Returns the text at a dotted key; empty if there is none.
std::string text_at(const nlohmann::json& options, std::string key) {
  std::replace(key.begin(), key.end(), '.', '/');
  const nlohmann::json::json_pointer place("/" + key);
  const bool is_text = options.contains(place) && options.at(place).is_string();
  return is_text ? options.at(place).get<std::string>() : std::string();
}

// Returns the option whose path the text contains; the longest if there are several.
const Origin* option_of_path(const ComponentSettings& settings, std::string_view text) {
  const Origin* found = nullptr;
  std::size_t longest = 1;  // "/" is in every path
  for (const auto& [key, origin] : settings.option_origins) {
    const std::string path = text_at(settings.options, key);
    if (path.size() <= longest || path.front() != '/') continue;
    if (text.find(path) == std::string_view::npos) continue;
    longest = path.size();
    found = &origin;
  }
  return found;
}

// Equal for settings that one instance serves.
std::string identity_of(const ComponentSettings& settings) {
  return settings.use + "\n" + settings.isolation + "\n" + settings.options.dump();
}

}  // namespace

Error at_component(const ComponentSettings& settings, Error error) {
  if (settings.origin.is_default()) return error;
  const std::string_view text = words_of_plugin(settings, error.message);
  const Origin* origin = named_option(settings, text);
  if (origin == nullptr) origin = option_of_path(settings, text);
  Error placed = problem_at(origin == nullptr ? settings.origin : *origin, error.message);
  placed.code = error.code;
  return placed;
}

CallScope call_scope(const RunSettings& run, const std::atomic<bool>& stop) {
  return {&stop,
          std::chrono::seconds(run.call_timeout_s),
          {static_cast<int>(run.retries), std::chrono::duration<double>(run.retry_wait_s)},
          run.threads > 0 ? static_cast<std::uint32_t>(run.threads) : CallScope::kMostThreads};
}

Result<Instance> Components::create_instance(Kind kind, const ComponentSettings& settings) const {
  KRL_ASSIGN(const Component* component, registry_.require(kind, settings.use));
  Result<Instance> instance = settings.isolation.empty()
                                  ? Instance::create(*component, settings.options, scope_)
                                  : create_isolated(*component, settings);
  if (!instance) return failure(at_component(settings, std::move(instance).error()));
  return instance;
}

// The built-in component `isolated` of the kind acts for the component, under its name.
Result<Instance> Components::create_isolated(const Component& component,
                                             const ComponentSettings& settings) const {
  if (nlohmann::json::parse(settings.options.dump()) != settings.options)
    return failure(Code::kInvalidArgument,
                   "an option is nan or inf, which cannot be sent to a process of its own");
  KRL_ASSIGN(const Component* actor, registry_.require(component.kind, "isolated"));
  Component& isolated = isolated_.emplace_back(component);
  isolated.raw = actor->raw;
  return Instance::create(isolated,
                          {{"file", component.plugin.path.string()},
                           {"component", component.id},
                           {"options", settings.options}},
                          scope_);
}

Result<const Backend*> Components::backend(const ComponentSettings& settings) {
  std::unique_ptr<Backend>& backend = backends_[identity_of(settings)];
  if (backend == nullptr) {
    KRL_ASSIGN(Instance instance, create_instance(Kind::kBackend, settings));
    KRL_ASSIGN(Backend opened, Backend::open(std::move(instance)));
    backend = std::make_unique<Backend>(std::move(opened));
  }
  return backend.get();
}

Result<const Dataset*> Components::dataset(const ComponentSettings& settings) {
  std::unique_ptr<Dataset>& dataset = datasets_[identity_of(settings)];
  if (dataset == nullptr) {
    KRL_ASSIGN(Instance instance, create_instance(Kind::kDataset, settings));
    dataset = std::make_unique<Dataset>(std::move(instance));
  }
  return dataset.get();
}

}  // namespace krl::core
