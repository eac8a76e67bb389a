#include "core/plan/value_range.hpp"

#include <charconv>
#include <cmath>

namespace krl {
namespace {

std::optional<double> bound(std::string_view text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  const bool whole = !text.empty() && error == std::errc{} && end == last;
  if (!whole || std::isnan(number)) return std::nullopt;
  return number;
}

}  // namespace

std::vector<std::string> choices_of(std::string_view range) {
  std::vector<std::string> choices;
  if (range.empty() || range.find("..") != std::string_view::npos) return choices;
  for (;;) {
    const std::size_t bar = range.find('|');
    choices.emplace_back(range.substr(0, bar));
    if (bar == std::string_view::npos) return choices;
    range.remove_prefix(bar + 1);
  }
}

bool is_interval(std::string_view range) {
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return false;
  const std::string_view low_text = range.substr(0, dots), high_text = range.substr(dots + 2);
  const std::optional<double> low = bound(low_text), high = bound(high_text);
  if (!low && !high) return false;
  return (low || low_text.empty()) && (high || high_text.empty()) && !(low && high && *low > *high);
}

std::optional<std::string> expected_instead_of(double number, std::string_view range) {
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::string_view low_text = range.substr(0, dots), high_text = range.substr(dots + 2);
  const std::optional<double> low = bound(low_text), high = bound(high_text);
  if ((!low || number >= *low) && (!high || number <= *high)) return std::nullopt;
  if (!high) return "at least " + std::string(low_text);
  if (!low) return "at most " + std::string(high_text);
  return "between " + std::string(low_text) + " and " + std::string(high_text);
}

std::string either(const std::vector<std::string>& choices) {
  std::string out;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) out += i + 1 == choices.size() ? " or " : ", ";
    out += choices[i];
  }
  return out;
}

}  // namespace krl
