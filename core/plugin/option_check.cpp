#include "core/plugin/option_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/utf8.hpp"
#include "core/plan/key_check.hpp"
#include "core/plan/schema.hpp"
#include "core/plan/toml_reader.hpp"
#include "core/plan/value_range.hpp"

namespace krl {
namespace {

constexpr std::size_t kMostKeyBytes = 100;

// "model.layers": words that TOML takes without quotes.
bool is_key(std::string_view key) {
  if (key.size() > kMostKeyBytes) return false;
  for (;;) {
    const std::size_t dot = key.find('.');
    if (!is_bare_key(key.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    key.remove_prefix(dot + 1);
  }
}

Status check_key(Kind kind, const std::string& key) {
  if (!is_key(key)) {
    return invalid(fmt::format(
        "'{}' is no key; letters, digits, '_' and '-', with dots between tables, at most {}",
        one_line(key.substr(0, kMostKeyBytes)), kMostKeyBytes));
  }
  const std::vector<KeyRule>& taken = table_rules(name_of(kind)).keys;
  const std::string first = key.substr(0, key.find('.'));
  const bool reserved = std::any_of(taken.begin(), taken.end(),
                                    [&](const KeyRule& rule) { return rule.key == first; });
  if (!reserved) return {};
  return invalid(fmt::format("'{}' is a key of kernelrl's own in the table of a {}; rename it",
                             first, name_of(kind)));
}

Status check_range(const KeyRule& option) {
  if (option.range.empty()) return {};
  const bool number = option.type == ValueType::kInteger || option.type == ValueType::kFloat;
  const bool good = number                              ? is_interval(option.range)
                    : option.type == ValueType::kString ? !choices_of(option.range).empty()
                                                        : false;
  if (good && one_line(option.range) == option.range) return {};
  return invalid(fmt::format(
      "the range '{}' of '{}', {}, cannot be read; a number has a range such as 0..1 or 1.., a "
      "string a|b|c, other types none",
      one_line(option.range), option.key, described(option.type)));
}

// As if a plan had written the default out.
Status check_default(const KeyRule& option) {
  if (option.fallback.empty()) return {};
  if (option.required) {
    return invalid(
        fmt::format("'{}' is required and has a default; it is one or the other", option.key));
  }
  const std::vector<KeyRule> rules = {option};
  std::vector<Problem> problems;
  Node table = Node::table({});
  check_table(table, rules, {}, problems);  // fills the default in
  if (!problems.empty()) {
    return invalid(fmt::format("the default of '{}', {}, is not {}; mend it", option.key,
                               one_line(option.fallback), described(option.type)));
  }
  check_table(table, rules, {}, problems);  // and checks it like any value
  if (problems.empty()) return {};
  return invalid(
      fmt::format("the default of '{}' is not allowed: {}; mend the default or the range",
                  option.key, one_line(problems.front().message)));
}

}  // namespace

Status check_options(Kind kind, const std::vector<KeyRule>& options) {
  for (auto option = options.begin(); option != options.end(); ++option) {
    KRL_TRY(check_key(kind, option->key));
    const auto same = [&](const KeyRule& earlier) { return earlier.key == option->key; };
    if (std::any_of(options.begin(), option, same)) {
      return invalid(fmt::format("'{}' is declared twice; rename one of the two", option->key));
    }
    KRL_TRY(check_range(*option));
    KRL_TRY(check_default(*option));
  }
  return {};
}

}  // namespace krl
