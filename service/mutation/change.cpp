#include "service/mutation/change.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace krl::service {

Changes changes_of(const CodeText& code) {
  Changes all;
  for (const auto collect :
       {collect_comparisons, collect_arithmetic, collect_constants, collect_functions,
        collect_names, collect_types, collect_statements, collect_loops, collect_directives}) {
    collect(code, all);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Change& a, const Change& b) { return a.offset < b.offset; });
  std::set<std::string> seen = {code.source()};
  std::erase_if(all, [&](const Change& change) {
    return !seen.insert(changed(code.source(), change)).second;
  });
  return all;
}

void collect_swaps(const CodeToken& token, std::span<const Swap> swaps, Changes& changes) {
  for (const auto& [kind, from, to] : swaps) {
    if (token.is(from)) changes.push_back({kind, token.offset, from.size(), std::string(to)});
  }
}

std::string changed(const std::string& source, const Change& change) {
  std::string result = source;
  return result.replace(change.offset, change.length, change.text);
}

bool needs_size(std::string_view kind) {
  return kind == "integer_to_16_bits" || kind == "integer_to_32_bits" ||
         kind == "counter_in_float" || kind == "ptx_16_bits";
}

bool is_undefined(std::string_view kind) {
  for (const std::string_view undefined :
       {"initial_value_dropped", "barrier_", "fence_", "atomicity_dropped", "scope_narrowed",
        "volatile_dropped", "ptx_initial_value_dropped", "ptx_order_dropped"}) {
    if (kind.starts_with(undefined)) return true;
  }
  return false;
}

}  // namespace krl::service
