// logs.log: what happened, for later diagnosis. Rotates by size; never prints on
// the terminal. Thread-safe. Before `hold_log` or `start_log`, and after a failure to write,
// messages are dropped: a log never stops a run.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/result.hpp"

namespace krl::core {

// The numbers are the boundary's (KRL_LOG_TRACE …).
enum class Severity { kTrace, kDebug, kInfo, kWarning, kError };

// Appends all further messages to `file`; at 8 MB it becomes logs.1.log, and so on, three at most.
// Messages that `hold_log` kept come first.
Status start_log(const std::filesystem::path& file, Severity least = Severity::kInfo);
// Keeps messages until a log is started: the last thousand.
void hold_log();
void stop_log();

// Becomes one printable line, as one_line() makes it (text.hpp), and is cut after 16 KiB.
void log(Severity severity, std::string_view message);

// The same of each line of a text, each as a record; empty lines at its end are left out.
void log_lines(Severity severity, std::string_view text);

// The whole lines of `lines` as errors, each a record: for signal handlers of a process that dies,
// and children of a fork, where `log` could wait for ever.
void log_last_words(std::string_view lines);

}  // namespace krl::core
