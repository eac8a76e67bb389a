// metrics.jsonl: one JSON object an iteration.
// One writer; readers may open the file at any time and see whole lines, and perhaps a last one
// that is not whole yet.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/file_system.hpp"
#include "core/base/metrics.hpp"
#include "core/base/result.hpp"

namespace krl::core {

struct IterationMetrics {
  int iteration = 0;  // counts over all stages, from 1
  std::string stage;
  double time = 0;  // Unix seconds, at its end
  Metrics values;   // keyed by name: "reward/mean", "kernel/pass_rate", …
};

// False for metrics that depend on the clock or on the contents of a cache: `time`, `time_s/…`,
// `perf/…`, `cache/…`. All other metrics of a run are the same for the same plan and seed, whether
// it was interrupted or not.
bool is_repeatable(std::string_view metric);

// {"iteration":1,"stage":"reinforce","time":…,<values in alphabetical order>}, without a newline.
// Numbers are the shortest that read back as the same double; not-a-number and infinities are null.
std::string metrics_line(const IterationMetrics& metrics);
Result<IterationMetrics> parse_metrics_line(std::string_view line);

class MetricsWriter {
 public:
  // Opens the file and forgets what came after `last_iteration`: complete lines of later
  // iterations, and a torn last one. 0 starts over.
  static Result<MetricsWriter> open(const std::filesystem::path& path, int last_iteration,
                                    FileSystem& files = real_file_system());

  // Appends one line. After an error the call may be repeated.
  Status append(const IterationMetrics& metrics);

  Status sync();

 private:
  MetricsWriter(std::filesystem::path path, LineFile lines)
      : path_(std::move(path)), lines_(std::move(lines)) {}

  std::filesystem::path path_;
  LineFile lines_;
};

}  // namespace krl::core
