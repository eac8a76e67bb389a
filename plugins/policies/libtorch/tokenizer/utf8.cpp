#include "tokenizer/byte_pair_encoding.hpp"

namespace krl::libtorch {
namespace {

// The length of the valid UTF-8 sequence at the start of `bytes`, 0 if there is none
// (Unicode 15, table 3-7).
std::size_t valid_sequence(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (bytes.size() < size) return 0;
  unsigned char low = 0x80, high = 0xBF;  // of the second byte: no overlong form, no surrogate
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if (at(i) < 0x80 || at(i) > 0xBF) return 0;
  }
  return size;
}

}  // namespace

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t size = valid_sequence(bytes);
    text += size > 0 ? bytes.substr(0, size) : std::string_view("\xEF\xBF\xBD");
    bytes.remove_prefix(size > 0 ? size : 1);
  }
  return text;
}

}  // namespace krl::libtorch
