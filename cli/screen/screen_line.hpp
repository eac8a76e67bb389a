// One line of a terminal, cut at its width. Used by the live view alone.
#pragma once

#include <string>
#include <string_view>

namespace krl::cli {

enum class Ink { kPlain, kBold, kDim, kGreen, kYellow, kRed };

class ScreenLine {
 public:
  ScreenLine(int columns, bool color) : columns_(columns), color_(color) {}

  // Appends what still fits; a character is taken to be one column wide.
  ScreenLine& add(std::string_view text, Ink ink = Ink::kPlain);

  // Appends spaces up to `column`, or `gap` of them if the line is there already.
  ScreenLine& tab(int column, int gap = 2);

  // Appends a bar of `width` columns, filled to `fraction` (0 to 1).
  ScreenLine& bar(double fraction, int width);

  const std::string& text() const { return text_; }
  int used() const { return used_; }

 private:
  int columns_;
  bool color_;
  int used_ = 0;
  std::string text_;
};

}  // namespace krl::cli
