#include "plugins/policies/storage/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "plugins/files/file.hpp"

namespace krl::policies {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kHeaderAlignment = 8;
constexpr std::size_t kLargestHeader = 100'000'000;  // the reference implementation's limit

std::optional<std::size_t> bytes_of(std::string_view type) {
  static const std::map<std::string_view, std::size_t> sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};
  const auto found = sizes.find(type);
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Failure(KRL_INVALID_ARGUMENT, path.string() + ": " + why);
}

// The bytes that a tensor of this type and shape takes; nothing if they do not fit 63 bits.
std::optional<std::size_t> extent(std::size_t element, const std::vector<std::int64_t>& shape) {
  std::int64_t bytes = static_cast<std::int64_t>(element);
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return static_cast<std::size_t>(bytes);
}

struct Range {
  std::size_t begin, end;
};

// One entry of the header; every way in which it may be wrong ends in refuse().
TensorView parse_entry(const std::filesystem::path& path, const std::string& name,
                       const nlohmann::json& entry, std::string_view data, Range& range) {
  const std::string where = "tensor '" + name + "': ";
  TensorView view;
  try {
    view.type = entry.at("dtype").get<std::string>();
    for (const auto& size : entry.at("shape")) {
      if (!size.is_number_unsigned()) refuse(path, where + "a dimension is not a natural number");
      view.shape.push_back(size.get<std::int64_t>());
    }
    const auto& offsets = entry.at("data_offsets");
    if (offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      refuse(path, where + "data_offsets must be two natural numbers");
    }
    range = {offsets[0].get<std::size_t>(), offsets[1].get<std::size_t>()};
  } catch (const nlohmann::json::exception&) {
    refuse(path, where + "dtype, shape or data_offsets is missing or of the wrong kind");
  }
  const auto element = bytes_of(view.type);
  if (!element) refuse(path, where + "unknown dtype '" + view.type + "'");
  if (range.begin > range.end || range.end > data.size()) {
    refuse(path, where + "its bytes " + std::to_string(range.begin) + ".." +
                     std::to_string(range.end) + " lie outside the " + std::to_string(data.size()) +
                     " bytes of data; the file may be cut off");
  }
  if (extent(*element, view.shape) != range.end - range.begin) {
    refuse(path, where + "shape " + shape_text(view.shape) + " of " + view.type +
                     " does not take " + std::to_string(range.end - range.begin) + " bytes");
  }
  view.bytes = data.substr(range.begin, range.end - range.begin);
  return view;
}

void check_coverage(const std::filesystem::path& path, std::vector<Range> ranges,
                    std::size_t data_size) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::size_t at = 0;
  for (const Range& range : ranges) {
    if (range.begin != at) refuse(path, "tensors overlap or leave holes");
    at = range.end;
  }
  if (at != data_size) refuse(path, "bytes follow the last tensor");
}

}  // namespace

void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t at = 0;
  std::vector<std::string_view> parts(2);
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.type},
                    {"shape", tensor.shape},
                    {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
    parts.push_back(tensor.bytes);
  }
  std::string text = header.dump();
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  char length[kLengthBytes];
  const std::uint64_t size = text.size();
  std::memcpy(length, &size, sizeof length);  // every platform that torch runs on is little-endian
  parts[0] = {length, sizeof length};
  parts[1] = text;
  files::write_file(path, parts);
}

Safetensors Safetensors::read(const std::filesystem::path& path) {
  Safetensors file;
  file.path_ = path;
  file.contents_ = std::make_shared<const MappedFile>(path);
  const std::string_view contents = file.contents_->bytes();
  std::uint64_t length = 0;
  if (contents.size() < kLengthBytes) refuse(path, "too short to be a safetensors file");
  std::memcpy(&length, contents.data(), kLengthBytes);
  if (length > kLargestHeader || length > contents.size() - kLengthBytes) {
    refuse(path, "the header's length of " + std::to_string(length) + " bytes is impossible");
  }
  const auto header = nlohmann::json::parse(contents.substr(kLengthBytes, length), nullptr, false);
  if (!header.is_object()) refuse(path, "the header is not a JSON object");
  const std::string_view data = contents.substr(kLengthBytes + length);
  std::vector<Range> ranges;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    file.tensors_[name] = parse_entry(path, name, entry, data, ranges.emplace_back());
  }
  check_coverage(path, std::move(ranges), data.size());
  return file;
}

const TensorView& Safetensors::get(const std::string& name, std::string_view type,
                                   const std::vector<std::int64_t>& shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) refuse(path_, "tensor '" + name + "' is missing");
  const TensorView& view = found->second;
  if (view.type != type || view.shape != shape) {
    refuse(path_, "tensor '" + name + "' is " + view.type + " " + shape_text(view.shape) +
                      ", not " + std::string(type) + " " + shape_text(shape));
  }
  return view;
}

}  // namespace krl::policies
