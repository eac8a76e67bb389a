// What a plugin does to the whole process, and who it was: crashes, exit(), an exception that
// nobody catches. The words go to the error stream and to logs.log; then the process ends as it
// would have, but for exit() and its like, which become the exit code 1.
#pragma once

namespace krl {

// Main thread, once, before a plugin is loaded. A signal that has a handler already is left to it:
// sanitizers have theirs.
void report_crashes();

// Gives this thread what reports need of it: a stack for signal handlers, a look at exit(). Cheap
// after the first time. Without effect before report_crashes.
void guard_this_thread();

// In a child process that is there to find out how a plugin ends it: crashes and exits are no
// longer reported, and the process's end is the plugin's own.
void stop_reporting_crashes();

}  // namespace krl
