// The display of a run: a live view on a terminal, one plain line an iteration elsewhere.
// The only printer of the program during a run. Thread-safe.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "core/journal/run_observer.hpp"

namespace krl::cli {
using namespace core;

// Warnings go to the error stream in a plain log.
class Display : public RunObserver {
 public:
  // The user asked the run to end: after its iteration, or at once.
  virtual void stopping(bool at_once) = 0;
};

// True if `out` is a terminal that can redraw: TERM is not "dumb".
bool can_redraw(std::FILE* out);

// The live view of the run of this name if `out` can redraw, else the plain log. Colours unless
// NO_COLOR is set (no-color.org).
std::unique_ptr<Display> make_display(const std::string& run, std::FILE* out, std::FILE* errors);

}  // namespace krl::cli
