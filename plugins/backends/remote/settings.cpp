#include "plugins/backends/remote/settings.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

namespace krl::remote {
namespace {

std::string content_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) invalid_argument("token_file: cannot read " + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

std::vector<std::string> servers_of(std::string_view options_json, const std::string& members) {
  const auto options = nlohmann::json::parse(options_json, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> servers;
  if (const auto found = options.find("servers"); found != options.end() && found->is_array()) {
    for (const nlohmann::json& url : *found) {
      if (!url.is_string()) invalid_argument("servers must be a list of texts");
      servers.push_back(url.get<std::string>());
    }
  }
  if (servers.empty() && members.empty()) {
    invalid_argument(
        "set servers = [\"http://127.0.0.1:8400\"], the addresses of one or more kernelrl serve, "
        "or members, the URL of their list");
  }
  if (!servers.empty() && !members.empty()) invalid_argument("set servers or members, not both");
  return servers;
}

std::string token_of(const std::string& variable, const std::string& file) {
  if (!variable.empty() && !file.empty()) invalid_argument("set token_env or token_file, not both");
  if (!file.empty()) {
    const std::string token = trimmed(content_of(file));
    if (token.empty()) invalid_argument("token_file: " + file + " is empty");
    return token;
  }
  if (variable.empty()) return {};
  const char* token = std::getenv(variable.c_str());
  if (token != nullptr && *token != 0) return token;
  invalid_argument("token_env names the environment variable " + variable +
                   ", which is not set; export it, or remove token_env");
}

}  // namespace krl::remote
