#include "plugins/backends/emulate/buffers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <kernelrl/values.hpp>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "plugins/backends/evaluator/check/inputs.hpp"

namespace krl::emulate {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
  invalid_argument("--buffer " + text + ": " + what);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// Splits at commas outside of parentheses, without blanks around the parts.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

// The contents of a buffer, as a call gives them: "uniform(0, 1)".
struct Filling {
  std::string kind;
  std::vector<double> bounds;

  double low(double otherwise) const { return bounds.empty() ? otherwise : bounds[0]; }
  double high(double otherwise) const { return bounds.size() < 2 ? otherwise : bounds[1]; }
};

Filling read_filling(const std::string& text, std::string_view contents) {
  const std::size_t open = contents.find('(');
  Filling read{std::string(contents.substr(0, open)), {}};
  if (open == std::string_view::npos) return read;
  if (contents.back() != ')') refuse(text, "a ')' is missing");
  for (const std::string& part : parts_of(contents.substr(open + 1, contents.size() - open - 2))) {
    const auto bound = number(part);
    if (!bound) refuse(text, "'" + part + "' is not a number");
    read.bounds.push_back(*bound);
  }
  const bool drawn = read.kind == "normal" || read.kind == "uniform" || read.kind == "integers";
  if (!drawn) refuse(text, "'" + read.kind + "' takes no numbers");
  if (read.bounds.size() != 2) refuse(text, read.kind + " takes two numbers, or none");
  const double low = read.kind == "normal" ? 0 : read.bounds[0];
  if (!std::isfinite(read.bounds[0]) || !std::isfinite(read.bounds[1]) || read.bounds[1] < low ||
      (read.kind == "integers" && std::floor(read.bounds[1]) <= read.bounds[0]))
    refuse(text, "no numbers are within " + std::string(contents));
  return read;
}

// Returns the element at `index`; it depends on the seed and the index alone.
double drawn(const Filling& filling, std::uint64_t seed, std::int64_t index) {
  const std::uint64_t of_element = evaluator::mix_seed(seed, static_cast<std::uint64_t>(index));
  const auto share = [&](std::uint64_t salt) {  // in [0, 1)
    return std::ldexp(static_cast<double>(evaluator::mix_seed(of_element, salt) >> 11), -53);
  };
  const auto between = [&](double low, double high) { return low + (high - low) * share(0); };
  if (filling.kind == "uniform") return between(filling.low(0), filling.high(1));
  if (filling.kind == "integers") return std::floor(between(filling.low(0), filling.high(100)));
  constexpr double kTurn = 6.283185307179586;
  const double radius = std::sqrt(-2 * std::log(1 - share(0)));
  return filling.low(0) + filling.high(1) * radius * std::cos(kTurn * share(1));
}

void fill(const std::string& text, std::string_view from, std::uint64_t seed, Buffer* buffer) {
  Array& array = buffer->contents;
  const ElementType& type = *array.type;
  const auto all = number(from);
  const Filling filling = all ? Filling{} : read_filling(text, from);
  const bool is_drawn =
      filling.kind == "normal" || filling.kind == "uniform" || filling.kind == "integers";
  const bool is_counted = filling.kind == "arange";
  if (!all && !is_drawn && !is_counted && filling.kind != "zeros" && filling.kind != "ones")
    refuse(text,
           "'" + filling.kind +
               "' is none of normal, uniform, integers, arange, zeros, ones, a number, FILE.npy");
  const double same = all ? *all : filling.kind == "ones" ? 1 : 0;
  array.bytes.resize(buffer->bytes());
  for (std::int64_t i = 0; i < buffer->elements; ++i) {
    const double value = is_drawn     ? drawn(filling, seed, i)
                         : is_counted ? static_cast<double>(i)
                                      : same;
    store(type, value, array.bytes.data() + static_cast<std::uint64_t>(i) * type.bytes);
  }
}

std::int64_t size_of(const std::string& text, const std::string& size, const IntegerNames& names) {
  const auto parsed = Expression::parse(size);
  if (!parsed) refuse(text, "the size '" + size + "': " + parsed.error().message);
  const auto value = parsed->integer(names);
  if (!value) refuse(text, "the size '" + size + "': " + value.error().message);
  if (*value < 1) refuse(text, "the size '" + size + "' is " + std::to_string(*value));
  return *value;
}

void set_elements(const std::string& text, Buffer* buffer) {
  buffer->elements = 1;
  for (const std::int64_t size : buffer->contents.shape) {
    if (__builtin_mul_overflow(buffer->elements, size, &buffer->elements) ||
        static_cast<std::uint64_t>(buffer->elements) > kMostBytes)
      refuse(text, "more than 256 MiB");
  }
  if (buffer->bytes() > kMostBytes) refuse(text, "more than 256 MiB");
  if (buffer->elements == 0) refuse(text, "no elements");
}

std::pair<std::string, std::string> split(const std::string& option, const std::string& text,
                                          const char* form) {
  const std::size_t at = text.find('=');
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const std::string name = text.substr(0, at);
  const bool good = at != std::string::npos && !name.empty() &&
                    std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                    std::all_of(name.begin(), name.end(), is_of_name);
  if (!good) invalid_argument(option + " " + text + ": expected " + form);
  return {name, text.substr(at + 1)};
}

}  // namespace

Buffer read_buffer(const std::string& text, const IntegerNames& names, std::uint64_t seed) {
  constexpr const char* kForm =
      "NAME=TYPE[SIZES], NAME=TYPE[SIZES]:CONTENTS or NAME=FILE.npy, as in x=f32[1024]:normal";
  Buffer buffer;
  std::string rest;
  std::tie(buffer.name, rest) = split("--buffer", text, kForm);
  if (rest.ends_with(".npy") && rest.find('[') == std::string::npos) {
    buffer.contents = read_npy(rest);
    set_elements(text, &buffer);
    return buffer;
  }
  const std::size_t open = rest.find('['), close = rest.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open)
    refuse(text, std::string("expected ") + kForm);
  Array& array = buffer.contents;
  array.type = find_type(rest.substr(0, open));
  if (array.type == nullptr)
    refuse(text, "the type '" + rest.substr(0, open) + "' is none of " + known_types());
  for (const std::string& size : parts_of(rest.substr(open + 1, close - open - 1)))
    array.shape.push_back(size_of(text, size, names));
  set_elements(text, &buffer);
  const std::string from = rest.substr(close + 1);
  if (from.empty()) return buffer;
  if (from.front() != ':' || from.size() == 1) refuse(text, std::string("expected ") + kForm);
  if (!from.ends_with(".npy")) {
    fill(text, from.substr(1), evaluator::mix_seed(seed, buffer.name), &buffer);
    return buffer;
  }
  // The file's bits are elements of the type that the call names: bfloat16 in a file of uint16.
  array.bytes = read_npy(from.substr(1)).bytes;
  if (array.bytes.size() != buffer.bytes())
    refuse(text, "the file has " + std::to_string(array.bytes.size()) + " bytes, the buffer " +
                     std::to_string(buffer.bytes()));
  return buffer;
}

ResolvedScalar read_value(const std::string& text) {
  const auto [name, value] = split("--value", text, "NAME=NUMBER, as in n=1024 or scale=0.5");
  ResolvedScalar scalar;
  scalar.name = name;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, scalar.integer);
  if (parsed.ec == std::errc() && parsed.ptr == end && !value.empty()) {
    const bool narrow = scalar.integer == static_cast<std::int32_t>(scalar.integer);
    scalar.dtype = narrow ? DType::kInt32 : DType::kInt64;  // as Triton's launcher does
    scalar.real = static_cast<double>(scalar.integer);
    return scalar;
  }
  const auto real = number(value);
  if (!real) invalid_argument("--value " + text + ": '" + value + "' is not a number");
  scalar.real = *real;
  return scalar;
}

}  // namespace krl::emulate
