#include "plugins/backends/remote/messages.hpp"

#include <algorithm>
#include <cstring>
#include <kernelrl/evaluation_json.hpp>
#include <map>

#include "plugins/files/digest.hpp"

namespace krl::remote {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestWords = 600;  // bytes

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json names_of_stages(std::uint32_t stages) {
  constexpr std::pair<std::uint32_t, const char*> kStages[] = {
      {KRL_STAGE_COMPILE, "compile"},   {KRL_STAGE_CHECK, "check"},     {KRL_STAGE_TIME, "time"},
      {KRL_STAGE_COUNTERS, "counters"}, {KRL_STAGE_HOLDOUT, "holdout"}, {KRL_STAGE_POOL, "pool"}};
  Json names = Json::array();
  for (const auto& [stage, name] : kStages) {
    if ((stages & stage) != 0) names.push_back(name);
  }
  return names;
}

// The JSON object in the text; throws if there is none.
Json object_of(const std::string& body, const char* what) {
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  throw Failure(KRL_UNAVAILABLE, std::string(what) + " is no JSON object");
}

krl_status status_of(unsigned status, const std::string& code) {
  static const std::map<std::string, krl_status> kByName = {
      {"invalid_argument", KRL_INVALID_ARGUMENT},
      {"not_found", KRL_NOT_FOUND},
      {"failed_precondition", KRL_FAILED_PRECONDITION},
      {"unimplemented", KRL_UNIMPLEMENTED},
      {"deadline_exceeded", KRL_DEADLINE_EXCEEDED}};
  if (status == 401 || status == 403) return KRL_FAILED_PRECONDITION;
  if (const auto found = kByName.find(code); found != kByName.end()) return found->second;
  return status >= 400 && status < 500 ? KRL_INVALID_ARGUMENT : KRL_UNAVAILABLE;
}

}  // namespace

std::string ServerInfo::judges_by() const {
  std::string text = identity;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

ServerInfo info_of(const std::string& body) {
  const Json json = object_of(body, "the answer to GET /v1/info");
  ServerInfo info;
  try {
    json.at("identity").get_to(info.identity);
    json.at("device").get_to(info.device);
    json.at("toolchain").get_to(info.toolchain);
    json.at("concurrency").get_to(info.concurrency);
    json.at("signals").get_to(info.signals);
    json.at("real_sizes").get_to(info.real_sizes);
    info.version = json.value("version", "");
    info.seeds = json.value("seeds", "");
  } catch (const Json::exception& error) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  std::string("this is no kernelrl serve: ") + error.what());
  }
  info.concurrency = std::clamp(info.concurrency, 1U, 1U << 16);
  return info;
}

std::vector<std::string> members_of(const std::string& body) {
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("members")) json = json["members"];
  const bool is_list =
      json.is_array() &&
      std::all_of(json.begin(), json.end(), [](const Json& url) { return url.is_string(); });
  if (!is_list)
    throw Failure(KRL_UNAVAILABLE, "the list of members is not a JSON list of addresses");
  return json.get<std::vector<std::string>>();
}

Wanted::Wanted(const Task& task, std::string_view source, bool host_contract,
               const EvaluateOptions& options)
    : definition_(task.definition_json()) {
  rest_ = ",\"source\":" + text_of(source) + ",\"contract\":\"" +
          (host_contract ? "host" : "device") +
          "\",\"stages\":" + names_of_stages(options.stages).dump() +
          ",\"seed\":" + std::to_string(options.seed);
  const auto digest = files::Digest().add(definition_).add(rest_).bytes();
  std::memcpy(&content_, digest.data(), sizeof content_);
}

std::string Wanted::body(const std::string& task, std::int64_t deadline_s) const {
  std::string body = "{\"task\":" + task + rest_;
  if (deadline_s > 0) body += ",\"deadline_s\":" + std::to_string(deadline_s);
  return body + "}";
}

Judged judged_of(const std::string& body) {
  const Json json = object_of(body, "the answer");
  try {
    Judged judged{json.at("evaluation").get<Evaluation>(), json.value("digest", ""),
                  json.value("kept", false)};
    if (!judged.evaluation.infra_error()) return judged;
  } catch (const std::exception& error) {
    throw Failure(KRL_UNAVAILABLE, std::string("the answer holds no evaluation: ") + error.what());
  }
  throw Failure(KRL_UNAVAILABLE, "the answer holds no verdict");
}

Refusal refusal_of(const http::Answer& answer) {
  const Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  std::string code, words = answer.body;
  if (json.is_object() && json.contains("error") && json["error"].is_object()) {
    const auto text = [&](const char* key) {
      const auto at = json["error"].find(key);
      return at != json["error"].end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    code = text("code");
    words = text("message");
  }
  if (words.size() > kLongestWords) words = words.substr(0, kLongestWords) + " …";
  return {status_of(answer.status, code), std::move(words)};
}

}  // namespace krl::remote
