#include "core/plugin/views.hpp"

#include <nlohmann/json.hpp>

namespace krl::core {

krl_task view_of(const Task& task) {
  return {sizeof(krl_task), task.tier,         to_c(task.id),
          to_c(task.title), to_c(task.prompt), to_c(task.definition_json)};
}

ConfigView::ConfigView(const nlohmann::json& table)
    : table_(table), text_(table.dump()), c_{sizeof(krl_config), 0,       this,
                                             get_bool,           get_int, get_float,
                                             get_string,         whole} {}

const nlohmann::json* ConfigView::find(krl_str key) const {
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

int32_t ConfigView::get_bool(const krl_config* c, krl_str key, int32_t* out) {
  const nlohmann::json* value = of(c).find(key);
  if (value == nullptr || !value->is_boolean()) return 0;
  *out = value->get<bool>() ? 1 : 0;
  return 1;
}

int32_t ConfigView::get_int(const krl_config* c, krl_str key, int64_t* out) {
  const nlohmann::json* value = of(c).find(key);
  if (value == nullptr || !value->is_number_integer()) return 0;
  *out = value->get<int64_t>();
  return 1;
}

int32_t ConfigView::get_float(const krl_config* c, krl_str key, double* out) {
  const nlohmann::json* value = of(c).find(key);
  if (value == nullptr || !value->is_number()) return 0;
  *out = value->get<double>();
  return 1;
}

int32_t ConfigView::get_string(const krl_config* c, krl_str key, krl_str* out) {
  const nlohmann::json* value = of(c).find(key);
  if (value == nullptr || !value->is_string()) return 0;
  const std::string& text = value->get_ref<const std::string&>();
  *out = to_c(text);
  return 1;
}

}  // namespace krl::core
