#include "plugins/policies/openai/refusals.hpp"

#include <algorithm>
#include <cctype>

namespace krl::openai {
namespace {

constexpr const char* kNewName = "max_completion_tokens";

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// True if `text` has `name` as a separate word; a name of one letter must be in quotes.
bool names(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const std::size_t end = at + name.size();
    const char after = end < text.size() ? text[end] : ' ';
    if (is_part_of_name(before) || is_part_of_name(after)) continue;
    const bool quoted = (before == '\'' || before == '"' || before == '`') && before == after;
    if (quoted || name.size() > 1) return true;
  }
  return false;
}

// True if sampling without the field still follows the request, except for its repeatability.
bool may_be_dropped(const Json::json_pointer& pointer, const Json& body) {
  return pointer.back() != "temperature" || body.at(pointer) == 1;
}

}  // namespace

std::string Refusals::learn(const Dialect& dialect, const Json& body, const std::string& answer) {
  if (body.contains("max_tokens") && !max_completion_tokens_ && names(answer, kNewName)) {
    max_completion_tokens_ = true;
    return "the server requires max_completion_tokens instead of max_tokens";
  }
  for (const char* field : dialect.optional_fields) {
    const Json::json_pointer pointer(field);
    if (!body.contains(pointer) || !names(answer, pointer.back())) continue;
    if (!may_be_dropped(pointer, body)) continue;
    if (!pointers_.insert(field).second) continue;
    return "the server refuses the field " + pointer.back() + ", which is left out from now on";
  }
  return {};
}

void Refusals::apply(Json& body) const {
  if (max_completion_tokens_ && body.contains("max_tokens")) {
    body[kNewName] = body["max_tokens"];
    body.erase("max_tokens");
  }
  for (const std::string& field : pointers_) {
    const Json::json_pointer pointer(field);
    if (!body.contains(pointer) || !may_be_dropped(pointer, body)) continue;
    body.at(pointer.parent_pointer()).erase(pointer.back());
  }
}

}  // namespace krl::openai
