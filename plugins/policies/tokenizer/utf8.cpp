#include "plugins/policies/tokenizer/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace krl::policies {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The beginning of `bytes`: a character, or the bytes that one U+FFFD replaces.
struct Sequence {
  std::size_t size;
  bool valid;
};

// Unicode 15, table 3-7. REQUIRES: `bytes` is not empty.
Sequence first_sequence(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const std::size_t wanted = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // Bounds of the second byte: no overlong form, no surrogate.
  unsigned char low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  std::size_t size = 1;
  while (size < std::min(wanted, bytes.size()) && at(size) >= low && at(size) <= high) {
    ++size;
    low = 0x80;
    high = 0xBF;
  }
  return {size, size == wanted};
}

// The length of the ASCII that `bytes` begins with, give or take seven.
std::size_t ascii_prefix(std::string_view bytes) {
  std::size_t size = 0;
  for (std::uint64_t word; size + sizeof word <= bytes.size(); size += sizeof word) {
    std::memcpy(&word, bytes.data() + size, sizeof word);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  return size;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    bytes.remove_prefix(ascii_prefix(bytes));
    if (bytes.empty()) break;
    const Sequence sequence = first_sequence(bytes);
    if (!sequence.valid) return false;
    bytes.remove_prefix(sequence.size);
  }
  return true;
}

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Sequence sequence = first_sequence(bytes);
    text += sequence.valid ? bytes.substr(0, sequence.size) : kReplacement;
    bytes.remove_prefix(sequence.size);
  }
  return text;
}

}  // namespace krl::policies
