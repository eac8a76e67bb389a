#include "core/plugin/instance.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "core/plugin/host.hpp"

namespace krl {
namespace {

using nlohmann::json;

// A plan's table behind krl_config: dotted keys walk into nested tables. Lives for the length of
// create().
class ConfigView {
 public:
  explicit ConfigView(const json& table)
      : table_(table), text_(table.dump()), c_{sizeof(krl_config), 0,       this,
                                               get_bool,           get_int, get_float,
                                               get_string,         whole} {}

  const krl_config* c() const { return &c_; }

 private:
  static const ConfigView& of(const krl_config* c) {
    return *static_cast<const ConfigView*>(c->ctx);
  }

  const json* find(krl_str key) const {
    std::string_view rest(key.data, key.size);
    const json* at = &table_;
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
    const json* value = of(c).find(key);
    if (value == nullptr || !value->is_boolean()) return 0;
    *out = value->get<bool>() ? 1 : 0;
    return 1;
  }
  static int32_t get_int(const krl_config* c, krl_str key, int64_t* out) {
    const json* value = of(c).find(key);
    if (value == nullptr || !value->is_number_integer()) return 0;
    *out = value->get<int64_t>();
    return 1;
  }
  static int32_t get_float(const krl_config* c, krl_str key, double* out) {
    const json* value = of(c).find(key);
    if (value == nullptr || !value->is_number()) return 0;
    *out = value->get<double>();
    return 1;
  }
  static int32_t get_string(const krl_config* c, krl_str key, krl_str* out) {
    const json* value = of(c).find(key);
    if (value == nullptr || !value->is_string()) return 0;
    const std::string& text = value->get_ref<const std::string&>();
    *out = {text.data(), text.size()};
    return 1;
  }
  static krl_str whole(const krl_config* c) { return {of(c).text_.data(), of(c).text_.size()}; }

  const json& table_;
  const std::string text_;
  krl_config c_;
};

}  // namespace

Result<Instance> Instance::create(const Component& component, const json& table,
                                  const CallScope& scope) {
  const ConfigView config(table);
  Call call(component, scope);
  void* self = nullptr;
  const krl_status status = component.raw->create(host(), config.c(), call.c(), &self);
  KRL_TRY(call.finish(status, "create"));
  if (self == nullptr) return failure(call.broken("create", "it gave no instance"));
  return Instance(component, scope, self);
}

}  // namespace krl
