// Reports that a plugin ends the process, and which plugin did it: a crash, an exception that is
// not caught, exit(). The report goes to the error stream and to logs.log; then the process ends as
// it would have, except that exit() becomes the exit code 1.
#pragma once

#include <string_view>

namespace krl::core {

// Writes whole lines before a plugin ends the process: to a stream of the program's choice, and to
// logs.log. Signal-safe.
void write_last_words(std::string_view lines);

// The descriptor that they are written to as well; none before this is called.
void set_last_words_stream(int descriptor);

// Sets the line that ends a report: the kept results, how to resume. Any thread, but not
// signal-safe.
void set_last_words_hint(std::string_view hint);

// Main thread, once, before a plugin is loaded. A signal that has a handler already is left to it:
// sanitizers have theirs.
void report_crashes();

// Gives this thread a stack for signal handlers. Cheap after the first time. Without effect before
// report_crashes.
void guard_this_thread();

// Stops reporting crashes and exits in a child process that exists to find out how a plugin ends
// it: the process ends as the plugin makes it end.
void stop_reporting_crashes();

}  // namespace krl::core
