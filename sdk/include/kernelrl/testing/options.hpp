// The options of a component, for tests: checked against its declared fields and completed with
// their defaults, as kernelrl does with a plan's table.
#pragma once

#include <kernelrl/values.hpp>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace krl::testing {

// One value of a plan: {"cap", 3.0}, {"mode", "all"}, {"steps", {1.05, 2.0}}. Anything else is
// JSON text: {"model", Value::json(R"({"layers": 4})")}.
class Value {
 public:
  Value(bool value) : value_(value) {}                      // NOLINT(google-explicit-constructor)
  Value(int value) : value_(std::int64_t{value}) {}         // NOLINT(google-explicit-constructor)
  Value(std::int64_t value) : value_(value) {}              // NOLINT(google-explicit-constructor)
  Value(double value) : value_(value) {}                    // NOLINT(google-explicit-constructor)
  Value(const char* value) : value_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Value(std::string value) : value_(std::move(value)) {}    // NOLINT(google-explicit-constructor)
  Value(std::initializer_list<double> values) {
    std::string text = "[";
    for (const double value : values) {
      if (text.size() > 1) text += ",";
      text += number(value);
    }
    *this = json(text + "]");
  }
  static Value json(std::string text) {
    Value value(false);
    value.value_ = Json{std::move(text)};
    return value;
  }
  // Reads a default as a component declares it: true, 3, 0.5 or "text".
  static Value from_toml(std::uint32_t type, const std::string& text) {
    if (type == KRL_BOOL) return text == "true";
    if (type == KRL_INT) return static_cast<std::int64_t>(std::strtoll(text.c_str(), nullptr, 10));
    if (type == KRL_FLOAT) return std::strtod(text.c_str(), nullptr);
    std::string plain;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
      if (text[i] == '\\' && text[i + 1] == 'u') {
        plain += static_cast<char>(std::strtol(text.substr(i + 2, 4).c_str(), nullptr, 16));
        i += 5;
        continue;
      }
      if (text[i] == '\\') ++i;
      plain += text[i];
    }
    return plain;
  }

  // The value as a T, or null.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value_);
  }
  bool fits(std::uint32_t type) const {
    switch (type) {
      case KRL_BOOL:
        return as<bool>() != nullptr;
      case KRL_INT:
        return as<std::int64_t>() != nullptr;
      case KRL_FLOAT:
        return as<double>() != nullptr || as<std::int64_t>() != nullptr;
      case KRL_STRING:
      case KRL_PATH:
        return as<std::string>() != nullptr;
      default:
        return as<Json>() != nullptr;
    }
  }
  std::string to_json() const {
    if (const bool* b = as<bool>()) return *b ? "true" : "false";
    if (const std::int64_t* i = as<std::int64_t>()) return std::to_string(*i);
    if (const double* d = as<double>()) return number(*d);
    if (const std::string* s = as<std::string>()) return quoted(*s);
    return as<Json>()->text;
  }
  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(c));
      if (c == '"' || c == '\\') {
        out += std::string{'\\', c};
      } else {
        out += static_cast<unsigned char>(c) < 0x20 ? std::string(escape) : std::string{c};
      }
    }
    return out + "\"";
  }

 private:
  struct Json {
    std::string text;
  };
  static std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  std::variant<bool, std::int64_t, double, std::string, Json> value_;
};

using Table = std::map<std::string, Value>;

// A krl_config over a Table.
class Options {
 public:
  // Throws std::runtime_error for an unknown key, a missing one, or a value of another type or
  // range.
  Options(const krl_component& component, Table table) : table_(std::move(table)) {
    std::map<std::string, const krl_field*> fields;
    for (std::uint32_t i = 0; i < component.n_fields; ++i)
      fields[std::string(view(component.fields[i]->key))] = component.fields[i];
    for (const auto& [key, value] : table_) {
      if (fields.count(key) == 0) throw std::runtime_error("unknown option '" + key + "'");
      check(key, *fields[key], value);
    }
    for (const auto& [key, field] : fields) complete(key, *field);
    for (const auto& [key, value] : table_) {
      json_ += json_.empty() ? "{" : ",";
      json_ += Value::quoted(key);
      json_ += ":";
      json_ += value.to_json();
    }
    json_ += json_.empty() ? "{}" : "}";
    config_ = {sizeof(krl_config), 0, this, get_bool, get_int, get_float, get_string, json};
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  const krl_config* config() const { return &config_; }

 private:
  static void check(const std::string& key, const krl_field& field, const Value& value) {
    if (!value.fits(field.type)) throw std::runtime_error("option '" + key + "': wrong type");
    const std::string range(view(field.range));
    if (range.empty()) return;
    if (const std::string* text = value.as<std::string>()) {
      if (("|" + range + "|").find("|" + *text + "|") == std::string::npos)
        throw std::runtime_error("option '" + key + "': '" + *text + "' is none of " + range);
      return;
    }
    const double number =
        value.as<double>() ? *value.as<double>() : static_cast<double>(*value.as<std::int64_t>());
    const std::size_t dots = range.find("..");
    const std::string low = range.substr(0, dots), high = range.substr(dots + 2);
    if ((!low.empty() && !(number >= std::strtod(low.c_str(), nullptr))) ||
        (!high.empty() && !(number <= std::strtod(high.c_str(), nullptr))))
      throw std::runtime_error("option '" + key + "': not in " + range);
  }
  void complete(const std::string& key, const krl_field& field) {
    if (table_.count(key) != 0) return;
    if ((field.flags & KRL_REQUIRED) != 0)
      throw std::runtime_error("option '" + key + "' is required");
    if (field.fallback.size == 0) return;
    table_.emplace(key, Value::from_toml(field.type, std::string(view(field.fallback))));
  }

  static const Value* find(const krl_config* c, krl_str key) {
    const Table& table = static_cast<const Options*>(c->ctx)->table_;
    const auto found = table.find(std::string(view(key)));
    return found == table.end() ? nullptr : &found->second;
  }
  static std::int32_t get_bool(const krl_config* c, krl_str key, std::int32_t* out) {
    const Value* value = find(c, key);
    if (value == nullptr || value->as<bool>() == nullptr) return 0;
    *out = *value->as<bool>() ? 1 : 0;
    return 1;
  }
  static std::int32_t get_int(const krl_config* c, krl_str key, std::int64_t* out) {
    const Value* value = find(c, key);
    if (value == nullptr || value->as<std::int64_t>() == nullptr) return 0;
    *out = *value->as<std::int64_t>();
    return 1;
  }
  static std::int32_t get_float(const krl_config* c, krl_str key, double* out) {
    const Value* value = find(c, key);
    if (value == nullptr || !value->fits(KRL_FLOAT)) return 0;
    *out = value->as<double>() ? *value->as<double>()
                               : static_cast<double>(*value->as<std::int64_t>());
    return 1;
  }
  static std::int32_t get_string(const krl_config* c, krl_str key, krl_str* out) {
    const Value* value = find(c, key);
    if (value == nullptr || value->as<std::string>() == nullptr) return 0;
    *out = to_c(*value->as<std::string>());
    return 1;
  }
  static krl_str json(const krl_config* c) {
    return to_c(static_cast<const Options*>(c->ctx)->json_);
  }

  Table table_;
  std::string json_;
  krl_config config_{};
};

}  // namespace krl::testing
