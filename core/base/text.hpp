// Text of strangers, which may be anything. Pure functions.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krl::core {

// The bytes of the code point at the front of `text`; 0 if it is not UTF-8. REQUIRES: not empty.
std::size_t code_point_size(std::string_view text);

// The text as one line that is safe to print: control characters, line breaks among them, become
// spaces, and bytes that are not UTF-8 '?'.
std::string one_line(std::string_view text);

// Its lines, each as one_line() makes it; empty ones at the end are left out.
std::vector<std::string> printable_lines(std::string_view text);

// A text of bounded size for places where nothing may be allocated, such as signal handlers. Text
// that does not fit is left out. Values of one thread.
class FixedText {
 public:
  std::string_view view() const { return {bytes_.data(), size_}; }
  void clear() { size_ = 0; }

  // Appends one line's text: control characters become '?', since some of it is a stranger's.
  FixedText& add(std::string_view text) {
    for (const char c : text) put(static_cast<unsigned char>(c) < 0x20 || c == '\x7f' ? '?' : c);
    return *this;
  }
  // Zeros come first up to `width` digits.
  FixedText& add(std::uint64_t number, int base = 10, std::size_t width = 1) {
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), number, base).ptr;
    const std::string_view text(digits.begin(), end);
    for (std::size_t i = text.size(); i < width; ++i) put('0');
    return add(text);
  }
  FixedText& end_line() {
    put('\n');
    return *this;
  }

 private:
  void put(char c) {
    if (size_ < bytes_.size()) bytes_[size_++] = c;
  }

  std::array<char, 8192> bytes_;  // paths may have 4,096
  std::size_t size_ = 0;
};

}  // namespace krl::core
