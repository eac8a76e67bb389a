// TensorBoard event files: the metrics again, for TensorBoard to draw. Tag = the metric's name,
// step = the iteration. Format: TFRecord frames (length, masked CRC-32C, payload, masked CRC-32C)
// of `Event` protocol buffers, as tensorflow/core/util/event.proto and
// tensorflow/core/lib/io/record_writer.h have them. One writer at a time. A convenience copy:
// metrics.jsonl is the record.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"
#include "core/run/metrics.hpp"

namespace krl {

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

}  // namespace krl
