#include "plugins/policies/openai/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <kernelrl/values.hpp>

namespace krl::openai {
namespace {

constexpr const char* kUsualKey = "OPENAI_API_KEY";

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string api_key(const std::string& variable, const std::vector<std::string>& base_urls) {
  if (!variable.empty()) {
    std::string key = environment(variable.c_str());
    if (key.empty()) {
      invalid_argument("api_key names the environment variable " + variable +
                       ", which is not set; export it, or remove api_key");
    }
    return key;
  }
  const bool private_ways = std::all_of(base_urls.begin(), base_urls.end(), [](const auto& url) {
    return url.rfind("https://", 0) == 0;
  });
  return private_ways ? environment(kUsualKey) : std::string();
}

Json table_of(const Json& plan, const char* name) {
  const auto found = plan.find(name);
  if (found == plan.end() || found->is_null()) return Json::object();
  if (!found->is_object()) invalid_argument(std::string(name) + " must be a table");
  return *found;
}

std::vector<http::Header> headers_of(const Json& plan) {
  std::vector<http::Header> headers;
  const Json table = table_of(plan, "headers");
  for (const auto& [name, value] : table.items()) {
    if (!value.is_string()) invalid_argument("headers." + name + " must be a text");
    headers.push_back({name, value.get<std::string>()});
  }
  return headers;
}

BaseUrl split_base_url(const std::string& url) {
  constexpr std::string_view kApi = "/v1";
  std::string text = url;
  while (!text.empty() && text.back() == '/') text.pop_back();
  const std::size_t scheme = text.find("://");
  const std::size_t path = scheme == std::string::npos ? scheme : text.find('/', scheme + 3);
  if (path == std::string::npos) return {text, std::string(kApi)};
  if (text.size() - path >= kApi.size() &&
      text.compare(text.size() - kApi.size(), kApi.size(), kApi) == 0)
    return {text.substr(0, text.size() - kApi.size()), std::string(kApi)};
  return {text, ""};
}

}  // namespace krl::openai
