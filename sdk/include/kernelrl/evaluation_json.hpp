// Converts evaluations to and from JSON: objects with a member for each field; verdicts, kinds and
// contracts by their names. JSON has no NaN and no infinity: null, "inf" and "-inf" replace them.
//
//   nlohmann::json json = evaluation;
//   json.get<krl::Evaluation>()
//
// A member that is missing when a value is read keeps its default: an evaluation written before a
// field was added can be read. Throws a std::exception if a member has another type or an unknown
// name.
//
// Header-only, C++17; its one dependency besides the SDK is nlohmann-json.
#pragma once

#include <kernelrl/evaluation.hpp>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace krl {
namespace detail {

template <class T>
nlohmann::json json_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return name_of(value);
  } else if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(value)) return nullptr;
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  } else {
    return value;
  }
}

template <class T>
void read(const nlohmann::json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto name = json.get<std::string>();
    const auto known = named<T>(name);
    if (!known) throw std::invalid_argument("unknown name '" + name + "'");
    value = *known;
  } else if constexpr (std::is_same_v<T, double>) {
    if (json.is_string()) {
      value = json.get<std::string>() == "inf" ? HUGE_VAL : -HUGE_VAL;
    } else {
      value = json.is_null() ? kUnknown : json.get<double>();
    }
  } else {
    json.get_to(value);
  }
}

template <class T>
nlohmann::json fields_to_json(const T& value) {
  nlohmann::json json;
  T::each_field([&](const char* name, auto member, auto) { json[name] = json_of(value.*member); });
  return json;
}
template <class T>
void fields_from_json(const nlohmann::json& json, T& value) {
  T::each_field([&](const char* name, auto member, auto) {
    if (const auto found = json.find(name); found != json.end()) read(*found, value.*member);
  });
}

}  // namespace detail

inline void to_json(nlohmann::json& json, const Diagnostic& d) { json = detail::fields_to_json(d); }
inline void to_json(nlohmann::json& json, const Kernel& k) { json = detail::fields_to_json(k); }
inline void to_json(nlohmann::json& json, const Case& c) { json = detail::fields_to_json(c); }
inline void to_json(nlohmann::json& json, const Value& v) { json = detail::fields_to_json(v); }
inline void to_json(nlohmann::json& json, const Evaluation& evaluation) {
  json = detail::fields_to_json(evaluation);
  json["contract"] = name_of(evaluation.contract);
  Evaluation::each_list(
      [&](const char* name, auto list, auto, auto) { json[name] = evaluation.*list; });
}

inline void from_json(const nlohmann::json& json, Diagnostic& d) {
  detail::fields_from_json(json, d);
}
inline void from_json(const nlohmann::json& json, Kernel& k) { detail::fields_from_json(json, k); }
inline void from_json(const nlohmann::json& json, Case& c) { detail::fields_from_json(json, c); }
inline void from_json(const nlohmann::json& json, Value& v) { detail::fields_from_json(json, v); }
inline void from_json(const nlohmann::json& json, Evaluation& evaluation) {
  detail::fields_from_json(json, evaluation);
  if (const auto found = json.find("contract"); found != json.end())
    detail::read(*found, evaluation.contract);
  Evaluation::each_list([&](const char* name, auto list, auto, auto) {
    if (const auto found = json.find(name); found != json.end()) found->get_to(evaluation.*list);
  });
}

// Nothing where the text is not an evaluation's.
inline std::optional<Evaluation> parse_evaluation(std::string_view json_text) {
  try {
    return nlohmann::json::parse(json_text).get<Evaluation>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// One line; bytes that are no UTF-8 are replaced.
inline std::string to_json_text(const Evaluation& evaluation) {
  return nlohmann::json(evaluation).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace krl
