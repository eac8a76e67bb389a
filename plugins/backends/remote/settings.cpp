#include "plugins/backends/remote/settings.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <kernelrl/values.hpp>

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
