#include "plugins/backends/emulate/npy.hpp"

#include <charconv>
#include <cstring>
#include <kernelrl/values.hpp>
#include <string_view>

#include "plugins/files/file.hpp"

namespace krl::emulate {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostAxes = 32, kMostHeader = 1 << 16;
constexpr std::size_t kAlignment = 64;  // where NumPy lets the elements begin, in bytes

[[noreturn]] void refuse_file(const std::string& path, const std::string& what) {
  invalid_argument(path + ": " + what);
}

// The text behind a key of the header, which is a dictionary in Python's notation, between two
// characters; `begin` is 0 if nothing stands before it.
std::string value_of(const std::string& header, const std::string& key, char begin, char end) {
  const std::size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) return {};
  std::size_t from = header.find_first_not_of(" :", at + key.size() + 2);
  if (from == std::string::npos || (begin != '\0' && header[from] != begin)) return {};
  from += begin != '\0' ? 1 : 0;
  const std::size_t to = header.find(end, from);
  return to == std::string::npos ? std::string() : header.substr(from, to - from);
}

// Reads "2, 3" or "2,".
std::vector<std::int64_t> read_shape(const std::string& path, const std::string& text) {
  std::vector<std::int64_t> shape;
  const char *at = text.data(), *const end = at + text.size();
  const auto skip = [&](char c) {
    while (at != end && (*at == ' ' || *at == c)) ++at;
  };
  for (skip(' '); at != end; skip(',')) {
    std::int64_t size = 0;
    const auto parsed = std::from_chars(at, end, size);
    if (parsed.ec != std::errc() || size < 0 || shape.size() == kMostAxes)
      refuse_file(path, "the shape (" + text.substr(0, 80) + ")");
    shape.push_back(size);
    at = parsed.ptr;
  }
  return shape;
}

// Takes the header off the contents.
std::string take_header(const std::string& path, std::string_view* contents) {
  if (!contents->starts_with(kMagic) || contents->size() < 12)
    refuse_file(path, "this is no .npy file");
  const int version = (*contents)[6];
  if (version < 1 || version > 3) refuse_file(path, "a version that is not known");
  const bool is_first = version == 1;
  const std::size_t begin = is_first ? 10 : 12;
  std::uint32_t size = 0;
  std::memcpy(&size, contents->data() + 8, begin - 8);
  if (size > contents->size() - begin) refuse_file(path, "the header is cut");
  if (size > kMostHeader) refuse_file(path, "a header of " + std::to_string(size) + " bytes");
  std::string header(contents->substr(begin, size));
  contents->remove_prefix(begin + size);
  return header;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += std::to_string(size) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  return "(" + text + ")";
}

}  // namespace

Array read_npy(const std::string& path) {
  const std::string file = files::read_file(path);
  std::string_view contents = file;
  const std::string header = take_header(path, &contents);
  const std::string type = value_of(header, "descr", '\'', '\'');
  if (type.starts_with('>')) refuse_file(path, "big-endian elements (" + type + ")");
  Array array;
  array.type = find_npy_type(type.substr(type.empty() ? 0 : 1));
  if (array.type == nullptr) refuse_file(path, "elements of the type '" + type + "'");
  if (value_of(header, "fortran_order", '\0', ',') != "False")
    refuse_file(path, "column-major order; save numpy.ascontiguousarray(x)");
  array.shape = read_shape(path, value_of(header, "shape", '(', ')'));
  std::uint64_t bytes = array.type->bytes;
  for (const std::int64_t size : array.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
      refuse_file(path, "the shape is too large");
  }
  if (contents.size() != bytes)
    refuse_file(path, std::to_string(contents.size()) + " bytes of elements, of the shape " +
                          std::to_string(bytes));
  array.bytes.resize(bytes);
  std::memcpy(array.bytes.data(), contents.data(), bytes);
  return array;
}

void write_npy(const std::string& path, const Array& array) {
  const std::string order = array.type->bytes == 1 ? "|" : "<";
  std::string header = "{'descr': '" + order + std::string(array.type->npy) +
                       "', 'fortran_order': False, 'shape': " + shape_text(array.shape) + ", }";
  const std::size_t begin = kMagic.size() + 4;
  header.append(kAlignment - 1 - (begin + header.size()) % kAlignment, ' ');
  header += '\n';
  const auto size = static_cast<std::uint16_t>(header.size());
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(size & 255), static_cast<char>(size >> 8)};
  files::write_file(
      path,
      {start, header, {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()}});
}

}  // namespace krl::emulate
