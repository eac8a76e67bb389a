#include "core/run/metrics.hpp"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/file_system.hpp"

namespace krl::core {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// The length of the leading lines that are whole and of iterations up to `last_iteration`.
std::uintmax_t bytes_to_keep(std::string_view text, int last_iteration) {
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return begin;
    const auto metrics = parse_metrics_line(text.substr(begin, end - begin));
    if (!metrics || metrics->iteration > last_iteration) return begin;
    begin = end + 1;
  }
}

}  // namespace

bool is_repeatable(std::string_view metric) {
  return metric != "time" && !metric.starts_with("time_s/") && !metric.starts_with("perf/") &&
         !metric.starts_with("cache/") && !metric.starts_with("cascade/") &&
         metric != "sampler/retries" && metric != "sampler/cached_tokens";
}

std::string metrics_line(const IterationMetrics& metrics) {
  Json line = {{"iteration", metrics.iteration}, {"stage", metrics.stage}, {"time", metrics.time}};
  for (const auto& [name, value] : metrics.values) line[name] = value;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<IterationMetrics> parse_metrics_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("iteration") || !json["iteration"].is_number_integer())
    return invalid("not a line of metrics: " + std::string(line.substr(0, 80)));
  IterationMetrics metrics;
  metrics.iteration = json["iteration"];
  for (const auto& [name, value] : json.items()) {
    if (name == "stage" && value.is_string())
      metrics.stage = value;
    else if (name == "time" && value.is_number())
      metrics.time = value;
    else if (name != "iteration" && value.is_number())
      metrics.values[name] = value;
    else if (value.is_null())
      metrics.values[name] = std::numeric_limits<double>::quiet_NaN();
  }
  return metrics;
}

Result<MetricsWriter> MetricsWriter::open(const fs::path& path, int last_iteration,
                                          FileSystem& files) {
  std::uintmax_t size = 0;
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    KRL_ASSIGN(const std::string text, read_file(path));
    size = bytes_to_keep(text, last_iteration);
  }
  KRL_ASSIGN(LineFile lines, LineFile::open(path, size, files));
  return MetricsWriter(path, std::move(lines));
}

Status MetricsWriter::append(const IterationMetrics& metrics) {
  return explain_full_disk(lines_.append(metrics_line(metrics)), path_);
}

Status MetricsWriter::sync() { return explain_full_disk(lines_.sync(), path_); }

}  // namespace krl::core
