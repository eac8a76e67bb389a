// Options that are arrays (free_opt with KRL_ARRAY), as lists.
// Header-only, C++17; its one dependency besides the SDK is nlohmann-json.
#pragma once

#include <kernelrl/component.hpp>
#include <kernelrl/spelling.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace krl {

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The elements of the option `key`, which may be dotted; empty if it is not given. Throws
// Failure(KRL_INVALID_ARGUMENT) for an element that is no T: a text or a number.
template <class T>
std::vector<T> list_option(const Config& config, const std::string& key) {
  std::vector<T> list;
  const auto options = nlohmann::json::parse(config.json(), nullptr, /*allow_exceptions=*/false);
  std::string path = "/" + key;
  std::replace(path.begin(), path.end(), '.', '/');
  const nlohmann::json::json_pointer place(path);
  if (!options.contains(place)) return list;
  for (const nlohmann::json& element : options.at(place)) {
    const bool fits = std::is_same_v<T, std::string> ? element.is_string()
                      : std::is_integral_v<T>        ? element.is_number_integer()
                                                     : element.is_number();
    if (!fits) {
      invalid_argument(key + ": " + element.dump() + " is not a " +
                       (std::is_same_v<T, std::string> ? "string" : "number"));
    }
    list.push_back(element.get<T>());
  }
  return list;
}

// Reads the names that the option `key` lists. Throws Failure(KRL_INVALID_ARGUMENT) for one that is
// not among `known`: "only: unknown name 'rleu'; did you mean 'relu'?".
inline std::vector<std::string> names_option(const Config& config, const std::string& key,
                                             const std::vector<std::string>& known) {
  auto names = list_option<std::string>(config, key);
  for (const std::string& name : names) {
    if (!contains(known, name)) {
      invalid_argument(std::string(key)
                           .append(": unknown name '")
                           .append(name)
                           .append("'")
                           .append(did_you_mean(name, known)));
    }
  }
  return names;
}

}  // namespace krl
