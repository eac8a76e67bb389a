#include "core/run/metrics.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/clock.hpp"
#include "core/base/file_system.hpp"
#include "core/base/hash.hpp"

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

// Protocol buffers, by hand: the four encodings that an Event needs
// (protobuf.dev/programming-guides/encoding).
enum class Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

template <class Unsigned>
void put_fixed(std::string& out, Unsigned value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_tag(std::string& out, int field, Wire wire) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire));
}

void put_varint_field(std::string& out, int field, std::uint64_t value) {
  put_tag(out, field, Wire::kVarint);
  put_varint(out, value);
}

void put_bytes_field(std::string& out, int field, std::string_view bytes) {
  put_tag(out, field, Wire::kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

// Field numbers of tensorflow/core/util/event.proto and tensorflow/core/framework/summary.proto.
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace session_log {
constexpr int kStatus = 1, kStart = 1;
}
namespace summary {
constexpr int kValue = 1;
}
namespace value {
constexpr int kTag = 1, kSimpleValue = 2;
}

std::string event_at(double time) {
  std::string event;
  put_tag(event, event::kWallTime, Wire::kFixed64);
  put_fixed(event, std::bit_cast<std::uint64_t>(time));
  return event;
}

std::string encode_value(std::string_view name, double number) {
  std::string value;
  put_bytes_field(value, value::kTag, name);
  put_tag(value, value::kSimpleValue, Wire::kFixed32);
  put_fixed(value, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
  return value;
}

// Masks the checksum as record_writer.h does, so that a checksum of data that holds checksums stays
// a good one.
std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return std::rotr(crc, 15) + 0xa282ead8u;
}

// TensorBoard reads the files of a folder in the order of their names; microseconds keep that the
// order of their making.
std::filesystem::path event_file(const std::filesystem::path& directory, double time) {
  return directory / ("events.out.tfevents." + std::to_string(time) + ".kernelrl");
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

std::string tfrecord_frame(std::string_view payload) {
  std::string frame;
  put_fixed(frame, static_cast<std::uint64_t>(payload.size()));
  put_fixed(frame, masked_crc(frame));
  frame += payload;
  put_fixed(frame, masked_crc(payload));
  return frame;
}

std::string encode_version_event(double time) {
  std::string event = event_at(time);
  put_bytes_field(event, event::kFileVersion, "brain.Event:2");
  return event;
}

std::string encode_session_start(double time, int first_step) {
  std::string log;
  put_varint_field(log, session_log::kStatus, session_log::kStart);
  std::string event = event_at(time);
  put_varint_field(event, event::kStep, static_cast<std::uint64_t>(first_step));
  put_bytes_field(event, event::kSessionLog, log);
  return event;
}

std::string encode_scalars(const IterationMetrics& metrics) {
  std::string values;
  for (const auto& [name, number] : metrics.values)
    put_bytes_field(values, summary::kValue, encode_value(name, number));
  std::string event = event_at(metrics.time);
  put_varint_field(event, event::kStep, static_cast<std::uint64_t>(metrics.iteration));
  put_bytes_field(event, event::kSummary, values);
  return event;
}

Result<TensorBoardWriter> TensorBoardWriter::open(const std::filesystem::path& directory,
                                                  int last_iteration, FileSystem& files) {
  KRL_TRY(make_directories(files, directory));
  const double now = unix_seconds();
  const std::filesystem::path path = event_file(directory, now);
  KRL_ASSIGN(auto file, files.create(path));
  std::string head = tfrecord_frame(encode_version_event(now));
  head += tfrecord_frame(encode_session_start(now, last_iteration + 1));
  KRL_TRY(file->append(head));
  return TensorBoardWriter(std::move(file), directory);
}

Status TensorBoardWriter::append(const IterationMetrics& metrics) {
  return explain_full_disk(file_->append(tfrecord_frame(encode_scalars(metrics))), directory_);
}

}  // namespace krl::core
