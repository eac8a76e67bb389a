#include "service/export/task_file.hpp"

#include <string_view>

namespace krl::service {
namespace {

using Json = nlohmann::ordered_json;

// JSON's strings are TOML's. A text of several lines becomes literal where it can.
std::string text_value(const std::string& text) {
  const bool literal = text.find('\n') != std::string::npos &&
                       text.find("'''") == std::string::npos && text.back() != '\'';
  for (const char c : text) {
    if (!literal || (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == '\x7f')
      return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  return "'''\n" + text + "'''";
}

std::string value_text(const Json& value) {
  if (value.is_string()) return text_value(value);
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, member] : value.items()) {
    text += text.empty() ? "" : ", ";
    if (value.is_object()) text += Json(key).dump() + " = ";
    text += value_text(member);
  }
  if (value.is_array()) return "[" + text + "]";
  return text.empty() ? "{}" : "{ " + text + " }";
}

bool is_list_of_tensors(const std::string& key) {
  return key == "input" || key == "scalar" || key == "output";
}

}  // namespace

std::string task_file_text(const Json& definition) {
  std::string keys, tables;
  for (const auto& [key, value] : definition.items()) {
    if (!is_list_of_tensors(key)) {
      keys += key + " = " + value_text(value) + "\n";
      continue;
    }
    for (const Json& tensor : value) {
      tables += "\n[[" + key + "]]\n";
      for (const auto& [name, member] : tensor.items())
        tables += name + " = " + value_text(member) + "\n";
    }
  }
  return keys + tables;
}

}  // namespace krl::service
