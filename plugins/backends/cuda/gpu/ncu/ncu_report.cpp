#include "plugins/backends/cuda/gpu/ncu/ncu_report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace krl::cuda {
namespace {

constexpr std::string_view kError = "==ERROR== ";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Splits a line of CSV; a quote inside of quotes is doubled.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// "1,234.5"; nothing for "n/a" and the like.
std::optional<double> number_of(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// Indices of the table's columns.
struct Columns {
  std::size_t id, kernel, metric, value, count;
};

std::optional<Columns> columns_of(const std::vector<std::string>& head) {
  const auto place = [&](const char* name) {
    return static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin());
  };
  const Columns columns{place("ID"), place("Kernel Name"), place("Metric Name"),
                        place("Metric Value"), head.size()};
  const std::size_t last = std::max({columns.id, columns.kernel, columns.metric, columns.value});
  return last < head.size() ? std::optional(columns) : std::nullopt;
}

}  // namespace

NcuReport read_ncu_report(std::string_view log) {
  NcuReport report;
  std::optional<Columns> columns;
  std::string id;  // ID of the last launch
  for (const std::string_view line : lines_of(log)) {
    if (line.starts_with(kError)) {
      report.errors +=
          (report.errors.empty() ? "" : "; ") + std::string(line.substr(kError.size()));
    }
    if (!line.starts_with('"')) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (!columns) {
      columns = columns_of(fields);
      continue;
    }
    if (fields.size() != columns->count) continue;
    if (report.launches.empty() || fields[columns->id] != id) {
      id = fields[columns->id];
      report.launches.push_back({fields[columns->kernel], {}});
    }
    if (const auto value = number_of(fields[columns->value])) {
      report.launches.back().metrics[fields[columns->metric]] = *value;
    }
  }
  return report;
}

}  // namespace krl::cuda
