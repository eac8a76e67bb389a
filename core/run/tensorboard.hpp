// TensorBoard event files: the metrics again, with the plan and the best answers, for TensorBoard to
// show. Tag = the metric's name, step = the iteration. Format: TFRecord frames (length, masked
// CRC-32C, payload, masked CRC-32C) of `Event` protocol buffers, as tensorflow/core/util/event.proto
// and tensorflow/core/lib/io/record_writer.h have them. A convenience copy: metrics.jsonl is the
// record.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"
#include "core/run/metrics.hpp"

namespace krl::core {

// One writer at a time.
class TensorBoardWriter {
 public:
  // Starts a new file in `directory`, with the plan's TOML, if it is given, as a text and as
  // hyperparameters. After a resume its first event tells readers to drop the steps after
  // `last_iteration` that an earlier file may hold (SessionLog START), so that no step shows twice.
  static Result<TensorBoardWriter> open(const std::filesystem::path& directory, int last_iteration,
                                        const std::string& plan = {},
                                        FileSystem& files = real_file_system());

  // `samples`: the iteration's records for SampleWriter, of which the answer with the highest score
  // is shown.
  Status append(const IterationMetrics& metrics, const std::vector<std::string>& samples = {});

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
// `markdown`: the text that is shown under the tag.
std::string encode_text(double time, int step, std::string_view tag, std::string_view markdown);
// `settings`: an object whose numbers, strings, booleans and those of its parts are shown by their
// dotted names.
std::string encode_hyperparameters(double time, const nlohmann::json& settings);

}  // namespace krl::core
