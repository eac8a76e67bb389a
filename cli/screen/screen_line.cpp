#include "cli/screen/screen_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace krl::cli {

namespace {

std::string_view escape(Ink ink) {
  static constexpr std::array<std::string_view, 6> kEscapes = {"",         "\x1b[1m",  "\x1b[2m",
                                                               "\x1b[32m", "\x1b[33m", "\x1b[31m"};
  return kEscapes[static_cast<std::size_t>(ink)];
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

ScreenLine& ScreenLine::add(std::string_view text, Ink ink) {
  std::size_t end = 0;
  while (end < text.size()) {
    if (!continues_character(text[end])) {
      if (used_ == columns_) break;
      ++used_;
    }
    ++end;
  }
  if (end == 0) return *this;
  const bool inked = color_ && ink != Ink::kPlain;
  if (inked) text_ += escape(ink);
  text_ += text.substr(0, end);
  if (inked) text_ += "\x1b[0m";
  return *this;
}

ScreenLine& ScreenLine::tab(int column, int gap) {
  const int spaces = std::max(column - used_, gap);
  return add(std::string(static_cast<std::size_t>(spaces), ' '));
}

ScreenLine& ScreenLine::bar(double fraction, int width) {
  const int filled = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * width));
  std::string full, empty;
  for (int i = 0; i < filled; ++i) full += "█";
  for (int i = filled; i < width; ++i) empty += "░";
  return add(full, Ink::kGreen).add(empty, Ink::kDim);
}

}  // namespace krl::cli
