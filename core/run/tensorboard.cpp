#include "core/run/tensorboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/hash.hpp"
#include "core/plan/node.hpp"

namespace krl::core {
namespace {

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

void put_double_field(std::string& out, int field, double value) {
  put_tag(out, field, Wire::kFixed64);
  put_fixed(out, std::bit_cast<std::uint64_t>(value));
}

void put_bytes_field(std::string& out, int field, std::string_view bytes) {
  put_tag(out, field, Wire::kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

// Field numbers of tensorflow/core/util/event.proto, of summary.proto, tensor.proto and
// tensor_shape.proto in tensorflow/core/framework, and of tensorboard/plugins/hparams/plugin_data.proto
// and google/protobuf/struct.proto.
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
constexpr int kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;
}
namespace metadata {
constexpr int kPluginData = 1, kPluginName = 1, kPluginContent = 2;
}
namespace tensor {
constexpr int kType = 1, kShape = 2, kStrings = 8, kTypeFloat = 1, kTypeString = 7;
}
namespace shape {
constexpr int kDimension = 2, kSize = 1;
}
namespace hparams {
constexpr int kSessionStart = 3, kParameters = 1, kStartTime = 5, kKey = 1, kValue = 2;
}
namespace dynamic {
constexpr int kNumber = 2, kText = 3, kBoolean = 4;
}

std::string event_at(double time) {
  std::string event;
  put_double_field(event, event::kWallTime, time);
  return event;
}

std::string encode_value(std::string_view name, double number) {
  std::string value;
  put_bytes_field(value, value::kTag, name);
  put_tag(value, value::kSimpleValue, Wire::kFixed32);
  put_fixed(value, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
  return value;
}

// A value that a plugin of TensorBoard's shows.
std::string encode_plugin_value(std::string_view tag, std::string_view plugin,
                                std::string_view content, std::string_view tensor) {
  std::string data, metadata, value;
  put_bytes_field(data, metadata::kPluginName, plugin);
  if (!content.empty()) put_bytes_field(data, metadata::kPluginContent, content);
  put_bytes_field(metadata, metadata::kPluginData, data);
  put_bytes_field(value, value::kTag, tag);
  put_bytes_field(value, value::kTensor, tensor);
  put_bytes_field(value, value::kMetadata, metadata);
  return value;
}

// An event with one value.
std::string event_with(double time, int step, const std::string& encoded_value) {
  std::string values, event = event_at(time);
  put_bytes_field(values, summary::kValue, encoded_value);
  put_varint_field(event, event::kStep, static_cast<std::uint64_t>(step));
  put_bytes_field(event, event::kSummary, values);
  return event;
}

// A google.protobuf.Value; empty of what has no place there.
std::string encode_dynamic(const nlohmann::json& json) {
  std::string value;
  if (json.is_boolean()) put_varint_field(value, dynamic::kBoolean, json.get<bool>() ? 1 : 0);
  if (json.is_number()) put_double_field(value, dynamic::kNumber, json.get<double>());
  if (json.is_string()) put_bytes_field(value, dynamic::kText, json.get_ref<const std::string&>());
  return value;
}

// As a block of code: markdown shows it as it is.
std::string verbatim(std::string_view text) {
  std::string block = "    ";
  for (const char c : text) {
    block += c;
    if (c == '\n') block += "    ";
  }
  return block;
}

// The plan as a table; null if its text cannot be read.
nlohmann::json settings_of(const std::string& plan) {
  const auto table = read_toml(std::make_shared<const Source>(Source{"plan.toml", {}, plan}));
  return table ? table->json() : nlohmann::json();
}

// The answer with the highest score of these records as markdown; empty without one.
std::string best_answer(const std::vector<std::string>& samples) {
  nlohmann::json best;
  for (const std::string& sample : samples) {
    auto record = nlohmann::json::parse(sample, nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || !record.contains("answer") || !record.contains("score")) continue;
    if (best.is_null() || record.at("score") > best.at("score")) best = std::move(record);
  }
  if (best.is_null()) return {};
  return fmt::format("{}: {}, score {}\n\n{}", best.value("task", ""), best.value("verdict", ""),
                     best.at("score").dump(),
                     verbatim(best.at("answer").get_ref<const std::string&>()));
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

std::string encode_text(double time, int step, std::string_view tag, std::string_view markdown) {
  std::string dimension, shape, tensor;
  put_varint_field(dimension, shape::kSize, 1);
  put_bytes_field(shape, shape::kDimension, dimension);
  put_varint_field(tensor, tensor::kType, tensor::kTypeString);
  put_bytes_field(tensor, tensor::kShape, shape);
  put_bytes_field(tensor, tensor::kStrings, markdown);
  return event_with(time, step, encode_plugin_value(tag, "text", "", tensor));
}

std::string encode_hyperparameters(double time, const nlohmann::json& settings) {
  std::string start, content, tensor;
  const nlohmann::json flat = settings.flatten();
  for (const auto& [path, json] : flat.items()) {
    const std::string value = encode_dynamic(json);
    if (value.empty()) continue;
    std::string name = path.substr(1), entry;
    std::ranges::replace(name, '/', '.');
    put_bytes_field(entry, hparams::kKey, name);
    put_bytes_field(entry, hparams::kValue, value);
    put_bytes_field(start, hparams::kParameters, entry);
  }
  put_double_field(start, hparams::kStartTime, time);
  put_bytes_field(content, hparams::kSessionStart, start);
  put_varint_field(tensor, tensor::kType, tensor::kTypeFloat);
  put_bytes_field(tensor, tensor::kShape, "");
  return event_with(
      time, 0, encode_plugin_value("_hparams_/session_start_info", "hparams", content, tensor));
}

Result<TensorBoardWriter> TensorBoardWriter::open(const std::filesystem::path& directory,
                                                  int last_iteration, const std::string& plan,
                                                  FileSystem& files) {
  KRL_TRY(make_directories(files, directory));
  const double now = unix_seconds();
  const std::filesystem::path path = event_file(directory, now);
  KRL_ASSIGN(auto file, files.create(path));
  std::string head = tfrecord_frame(encode_version_event(now));
  head += tfrecord_frame(encode_session_start(now, last_iteration + 1));
  if (const nlohmann::json settings = settings_of(plan); settings.is_object() && !plan.empty()) {
    head += tfrecord_frame(encode_text(now, last_iteration, "plan", verbatim(plan)));
    head += tfrecord_frame(encode_hyperparameters(now, settings));
  }
  KRL_TRY(file->append(head));
  return TensorBoardWriter(std::move(file), directory);
}

Status TensorBoardWriter::append(const IterationMetrics& metrics,
                                 const std::vector<std::string>& samples) {
  std::string events = tfrecord_frame(encode_scalars(metrics));
  if (const std::string answer = best_answer(samples); !answer.empty()) {
    events += tfrecord_frame(
        encode_text(metrics.time, metrics.iteration, "samples/highest_score", answer));
  }
  return explain_full_disk(file_->append(events), directory_);
}

}  // namespace krl::core
