// What is said before a plugin ends the process: on the error stream, and in logs.log. Signal-safe
// where it does not say otherwise.
#pragma once

#include <string_view>

#include "core/base/fixed_text.hpp"

namespace krl {

// Writes whole lines.
void write_last_words(std::string_view lines);

// The descriptor that they are written to; 2 before this is called.
void set_last_words_stream(int descriptor);

// The line that add_hint appends: what stands, how to go on. Any thread, but not signal-safe.
void set_last_words_hint(std::string_view hint);
void add_hint(FixedText& text);

}  // namespace krl
