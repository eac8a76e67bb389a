#include "plugins/policies/openai/probe.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

namespace krl::openai {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

[[noreturn]] void refuse(const Server& server, const std::string& why) {
  throw Failure(KRL_FAILED_PRECONDITION, server.name() + ": " + why);
}

// Returns the JSON object at `path`; null if there is none.
Json look(Server& server, const std::string& path, const Patience& patience, Yield yield) {
  const http::Answer answer = server.get(path, patience, yield);
  if (answer.status == 401 || answer.status == 403) {
    throw Failure(KRL_FAILED_PRECONDITION, server.complaint("GET " + path, answer) +
                                               "; check api_key, which names the environment "
                                               "variable that holds the key");
  }
  if (answer.status == 429 || answer.status >= 500) {
    throw Failure(KRL_UNAVAILABLE, server.complaint("GET " + path, answer));
  }
  if (!answer.good()) return nullptr;
  const Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json();
}

std::int64_t number_in(const Json& object, const Json::json_pointer& pointer) {
  if (!object.is_object() || !object.contains(pointer)) return 0;
  const Json& number = object.at(pointer);
  if (!number.is_number_integer()) return 0;
  return std::clamp<std::int64_t>(number.get<std::int64_t>(), 0, kMost);
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Found found_as(const Dialect& dialect, const std::string& version) {
  Found found;
  found.dialect = &dialect;
  found.server = std::string(dialect.server) + (version.empty() ? "" : " " + version);
  return found;
}

// Asks the dialects' own addresses, and takes the first dialect whose characteristic answer comes.
Found recognise(Server& server, const Patience& patience, Yield yield) {
  if (const Json version = look(server, "/version", patience, yield); version.contains("version")) {
    return found_as(vllm_dialect(), text_in(version, "version"));
  }
  for (const char* path : {"/get_server_info", "/get_model_info"}) {
    const Json info = look(server, path, patience, yield);
    if (!info.contains("model_path")) continue;
    Found found = found_as(sglang_dialect(), text_in(info, "version"));
    found.context = number_in(info, "/context_length"_json_pointer);
    return found;
  }
  const Json props = look(server, "/props", patience, yield);
  if (props.contains("default_generation_settings")) {
    Found found = found_as(llamacpp_dialect(), text_in(props, "build_info"));
    found.context = number_in(props, "/default_generation_settings/n_ctx"_json_pointer);
    found.most_at_once = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(number_in(props, "/total_slots"_json_pointer), 1, 64));
    return found;
  }
  return found_as(plain_dialect(), "");
}

// Keeps the plan's dialect, as far as the server can support it.
void choose_dialect(Server& server, const Settings& settings) {
  Found& found = server.found;
  const Dialect* wanted = settings.dialect;
  if (wanted == nullptr || wanted == found.dialect) return;
  const bool is_recognised = found.dialect != &plain_dialect();
  if (is_recognised && wanted->gives_tokens) {
    refuse(server, "the plan says dialect = \"" + std::string(wanted->name) + "\", but this is " +
                       found.server + "; set dialect = \"" + std::string(found.dialect->name) +
                       "\" or \"auto\"");
  }
  found.dialect = wanted;  // a gateway may hide its kind; every server can chat
}

void take_model(Server& server, const Json& entry) {
  const std::int64_t context = std::max(number_in(entry, "/max_model_len"_json_pointer),
                                        number_in(entry, "/meta/n_ctx"_json_pointer));
  if (server.found.context == 0) server.found.context = context;
  server.found.vocabulary = number_in(entry, "/meta/n_vocab"_json_pointer);
}

// The models that a server lists, each name once; adapters that it was given name their parent.
std::vector<const Json*> models_in(const Json& models) {
  std::vector<const Json*> entries;
  const auto data = models.find("data");
  if (data == models.end() || !data->is_array()) return entries;
  for (const Json& entry : *data) {
    if (!entry.is_object() || !text_in(entry, "parent").empty()) continue;
    const bool is_known = std::ranges::any_of(
        entries, [&](const Json* known) { return text_in(*known, "id") == text_in(entry, "id"); });
    if (!is_known) entries.push_back(&entry);
  }
  return entries;
}

std::string names_of(const std::vector<const Json*>& entries) {
  constexpr std::size_t kMostNames = 12;
  std::string names;
  for (std::size_t i = 0; i < std::min(entries.size(), kMostNames); ++i) {
    names += (i > 0 ? ", " : "") + text_in(*entries[i], "id");
  }
  return entries.size() > kMostNames ? names + ", …" : names;
}

void choose_model(Server& server, const Settings& settings, const Json& models) {
  server.found.model = settings.model;
  const std::vector<const Json*> entries = models_in(models);
  if (settings.model.empty() && entries.size() != 1) {
    refuse(server, entries.empty()
                       ? "it does not list its models at /v1/models; set the option model"
                       : "set the option model to one of: " + names_of(entries));
  }
  for (const Json* entry : entries) {
    const std::string name = text_in(*entry, "id");
    if (!settings.model.empty() && name != settings.model) continue;
    server.found.model = name;
    take_model(server, *entry);
    return;
  }
  if (!entries.empty()) {
    refuse(server,
           "it does not serve the model '" + settings.model + "'; it serves " + names_of(entries));
  }
}

}  // namespace

void probe(Server& server, const Settings& settings, const Patience& patience, Yield yield) {
  Found found = recognise(server, patience, yield);
  found.most_at_once = std::max(found.most_at_once, found.dialect->most_at_once);
  server.found = found;
  choose_dialect(server, settings);
  choose_model(server, settings, look(server, "/v1/models", patience, yield));
}

}  // namespace krl::openai
