// Did you mean: the known name closest to a mistyped one.
// Header-only, C++17, no dependencies; thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace krl {

// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
// (optimal string alignment). Takes |a|·|b| steps.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before_last(width), last(width), row(width);
  for (std::size_t j = 0; j < width; ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = (std::min)({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = (std::min)(row[j], before_last[j - 2] + 1);
    }
  }
  return row[width - 1];
}

// The name in `known` closest to `name`, if at most a third of its letters differ; otherwise empty.
// Names longer than 64 bytes are never corrected, so that hostile input stays cheap.
inline std::string closest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 64;
  if (name.size() > kLongest) return {};
  std::string best;
  std::size_t best_distance = (std::max<std::size_t>)(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

// Returns the continuation of "unknown name 'wieght'" in a message: "; did you mean 'weight'?", or
// else `otherwise`.
inline std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                                const std::string& otherwise) {
  const std::string closest = closest_name(name, known);
  return closest.empty() ? otherwise : "; did you mean '" + closest + "'?";
}

// Returns the continuation of "unknown name 'wieght'" in a message: "; did you mean 'weight'?", or
// else "; known: cap, floor, weight".
inline std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string closest = closest_name(name, known);
  if (!closest.empty()) return "; did you mean '" + closest + "'?";
  constexpr std::size_t kShown = 16;
  std::string list;
  for (std::size_t i = 0; i < known.size() && i < kShown; ++i)
    list += (i == 0 ? "" : ", ") + known[i];
  if (known.size() > kShown) list += ", …";
  return list.empty() ? std::string() : "; known: " + list;
}

}  // namespace krl
