// Reports that a plugin ends the process, and which plugin did it: crashes, exit(), an exception
// that is not caught. The report goes to the error stream and to logs.log; then the process ends as
// it would have, except that exit() and the like become the exit code 1.
#pragma once

#include <climits>
#include <cstdint>
#include <string_view>

#include "core/base/text.hpp"

namespace krl::core {

// Writes to `buffer` the path of the file that the code at an address came from, according to the
// kernel's table of mappings; empty if no file is mapped there. Unlike dladdr() it takes no lock,
// so it is signal-safe.
std::string_view file_at(std::uintptr_t address, char (&buffer)[PATH_MAX]);

// Writes whole lines before a plugin ends the process: to a stream of the program's choice, and to
// logs.log. This and the following functions are signal-safe unless noted.
void write_last_words(std::string_view lines);

// The descriptor that they are written to as well; none before this is called.
void set_last_words_stream(int descriptor);

// Sets the line that add_hint appends: the kept results, how to resume. Any thread, but not
// signal-safe.
void set_last_words_hint(std::string_view hint);
void add_hint(FixedText& text);

// Main thread, once, before a plugin is loaded. A signal that has a handler already is left to it:
// sanitizers have theirs.
void report_crashes();

// Prepares this thread for reports: a stack for signal handlers, a look at exit(). Cheap after the
// first time. Without effect before report_crashes.
void guard_this_thread();

// Stops reporting crashes and exits in a child process that exists to find out how a plugin ends
// it: the process ends as the plugin makes it end.
void stop_reporting_crashes();

}  // namespace krl::core
