// A component's table of options from JSON, for hosts of components.
//
// Header-only, C++17; its one dependency besides the SDK is nlohmann-json.
#pragma once

#include <kernelrl/values.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace krl {

// The table as a component reads it, with dotted keys for what nested tables hold. Borrows the
// table, which is complete: nothing is checked, and no default filled in. Keeps its address.
class JsonConfig {
 public:
  explicit JsonConfig(const nlohmann::json& table) : table_(table), text_(table.dump()) {
    c_ = {sizeof c_, 0, this, get_bool, get_int, get_float, get_string, whole_table};
  }
  JsonConfig(const JsonConfig&) = delete;
  JsonConfig& operator=(const JsonConfig&) = delete;

  const krl_config* c() const { return &c_; }

 private:
  static const JsonConfig& of(const krl_config* c) {
    return *static_cast<const JsonConfig*>(c->ctx);
  }
  const nlohmann::json* find(krl_str key) const {
    std::string_view rest = view(key);
    const nlohmann::json* at = &table_;
    while (true) {
      const std::size_t dot = rest.find('.');
      if (!at->is_object()) return nullptr;
      const auto entry = at->find(std::string(rest.substr(0, dot)));
      if (entry == at->end()) return nullptr;
      if (dot == std::string_view::npos) return &*entry;
      at = &*entry;
      rest.remove_prefix(dot + 1);
    }
  }
  static std::int32_t get_bool(const krl_config* c, krl_str key, std::int32_t* out) {
    const nlohmann::json* value = of(c).find(key);
    if (value == nullptr || !value->is_boolean()) return 0;
    *out = value->get<bool>() ? 1 : 0;
    return 1;
  }
  static std::int32_t get_int(const krl_config* c, krl_str key, std::int64_t* out) {
    const nlohmann::json* value = of(c).find(key);
    if (value == nullptr || !value->is_number_integer()) return 0;
    *out = value->get<std::int64_t>();
    return 1;
  }
  static std::int32_t get_float(const krl_config* c, krl_str key, double* out) {
    const nlohmann::json* value = of(c).find(key);
    if (value == nullptr || !value->is_number()) return 0;
    *out = value->get<double>();
    return 1;
  }
  static std::int32_t get_string(const krl_config* c, krl_str key, krl_str* out) {
    const nlohmann::json* value = of(c).find(key);
    if (value == nullptr || !value->is_string()) return 0;
    *out = to_c(value->get_ref<const std::string&>());
    return 1;
  }
  static krl_str whole_table(const krl_config* c) { return to_c(of(c).text_); }

  const nlohmann::json& table_;
  const std::string text_;
  krl_config c_{};
};

}  // namespace krl
