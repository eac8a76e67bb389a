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

// TensorBoard event files: the metrics again, for TensorBoard to draw. Tag = the metric's name,
// step = the iteration. Format: TFRecord frames (length, masked CRC-32C, payload, masked CRC-32C)
// of `Event` protocol buffers, as tensorflow/core/util/event.proto and
// tensorflow/core/lib/io/record_writer.h have them. One writer at a time. A convenience copy:
// metrics.jsonl is the record.
class TensorBoardWriter {
 public:
  // Starts a new file in `directory`. After a resume its first event tells readers to drop the
  // steps after `last_iteration` that an earlier file may hold (SessionLog START), so that no step
  // shows twice.
  static Result<TensorBoardWriter> open(const std::filesystem::path& directory, int last_iteration,
                                        FileSystem& files = real_file_system());

  Status append(const IterationMetrics& metrics);

 private:
  TensorBoardWriter(std::unique_ptr<WritableFile> file, std::filesystem::path directory)
      : file_(std::move(file)), directory_(std::move(directory)) {}

  std::unique_ptr<WritableFile> file_;
  std::filesystem::path directory_;
};

// The parts of the format, for tests.
std::string tfrecord_frame(std::string_view payload);
std::string encode_version_event(double time);
std::string encode_session_start(double time, int first_step);
std::string encode_scalars(const IterationMetrics& metrics);

}  // namespace krl::core
