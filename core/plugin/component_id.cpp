#include "core/plugin/component_id.hpp"

#include <algorithm>

namespace krl {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_of_a_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

}  // namespace

const std::string_view kIdRule =
    "an id is \"vendor.name\": words of a-z, 0-9, '_' and '-' joined by dots, with a letter in "
    "front, at most 64 characters";

bool has_vendor(std::string_view id) { return id.find('.') != std::string_view::npos; }

bool is_id(std::string_view id) {
  if (id.empty() || id.size() > kMostIdBytes || !is_letter(id.front())) return false;
  const bool empty_word = id.find("..") != std::string_view::npos || id.back() == '.';
  return !empty_word &&
         std::all_of(id.begin(), id.end(), [](char c) { return c == '.' || is_of_a_word(c); });
}

}  // namespace krl
