// A read in progress: the state shared by its parts.
#pragma once

#include "plugins/backends/ptx/reader.hpp"
#include "plugins/backends/ptx/source_lines.hpp"
#include "plugins/backends/ptx/symbols.hpp"
#include "plugins/backends/ptx/tokens.hpp"

namespace krl::ptx {

struct Reading {
  Tokens tokens;
  ReadLimits left;  // limits on the rest of the text
  Symbols symbols = {};
  SourceLines lines = {};
  Module module = {};

  // Takes `count` from a limit of `left`; `what` is for the message.
  void spend(std::size_t ReadLimits::*limit, std::size_t count, const char* what) {
    if (left.*limit < count) tokens.too_large(what);
    left.*limit -= count;
  }
  void count_name() { spend(&ReadLimits::names, 1, "the names that the module declares"); }
};

}  // namespace krl::ptx
