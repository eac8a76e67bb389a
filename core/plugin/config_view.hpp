// A component's table of the plan as a plugin reads it.
#pragma once

#include <kernelrl/abi.h>

#include <nlohmann/json.hpp>
#include <string>

namespace krl {

// Dotted keys walk into nested tables. Lives for the length of the call that it is made for; it
// borrows the table.
class ConfigView {
 public:
  explicit ConfigView(const nlohmann::json& table)
      : table_(table), text_(table.dump()), c_{sizeof(krl_config), 0,       this,
                                               get_bool,           get_int, get_float,
                                               get_string,         whole} {}

  const krl_config* c() const { return &c_; }

 private:
  static const ConfigView& of(const krl_config* c) {
    return *static_cast<const ConfigView*>(c->ctx);
  }

  const nlohmann::json* find(krl_str key) const {
    std::string_view rest(key.data, key.size);
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

  static int32_t get_bool(const krl_config* c, krl_str key, int32_t* out) {
    const nlohmann::json* value = of(c).find(key);
    if (value == nullptr || !value->is_boolean()) return 0;
    *out = value->get<bool>() ? 1 : 0;
    return 1;
  }
  static int32_t get_int(const krl_config* c, krl_str key, int64_t* out) {
    const nlohmann::json* value = of(c).find(key);
    if (value == nullptr || !value->is_number_integer()) return 0;
    *out = value->get<int64_t>();
    return 1;
  }
  static int32_t get_float(const krl_config* c, krl_str key, double* out) {
    const nlohmann::json* value = of(c).find(key);
    if (value == nullptr || !value->is_number()) return 0;
    *out = value->get<double>();
    return 1;
  }
  static int32_t get_string(const krl_config* c, krl_str key, krl_str* out) {
    const nlohmann::json* value = of(c).find(key);
    if (value == nullptr || !value->is_string()) return 0;
    const std::string& text = value->get_ref<const std::string&>();
    *out = {text.data(), text.size()};
    return 1;
  }
  static krl_str whole(const krl_config* c) { return {of(c).text_.data(), of(c).text_.size()}; }

  const nlohmann::json& table_;
  const std::string text_;
  krl_config c_;
};

}  // namespace krl
