// The program's output while no run is active (then it is the Display's), and its exit codes.
// Main thread.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "service/process/child_program.hpp"

namespace krl::cli {
using namespace service;

// Keeps the program's two streams to the program. Output of plugins and their children, on either
// descriptor, goes to the error stream from here on: it is never taken for the program's output.
// Call it first of all, once.
void keep_streams();
std::FILE* output();
std::FILE* errors();

// The surroundings of programs that print in this one's place; KERNELRL_PYTHON names their Python.
ChildOptions child_options();

void print(std::string_view text);
// Prints it on one line, with text that is not UTF-8 replaced. Returns kDone.
int print_json(const nlohmann::ordered_json& json);
// Returns the exit code of a command that ends with `code`. Reports output that was not written, as
// on a full device, but for a reader that has read enough (`| head`).
int code_after_output(int code);
void print_error(std::string_view text);
void print_warning(const std::string& text);  // any thread

enum ExitCode : int {
  kDone = 0,
  kRunFailed = 1,
  kWrongCall = 2,  // the plan or the command line
  kNotRight = 3,   // the kernel was judged, and is not `ok`; or the plugin breaks its contract
  kInterrupted = 130,
  kUnread = 141,  // nobody reads the output any more; as a shell reports SIGPIPE
};

// Returns the exit code of a command that ends with this error.
int exit_code_of(const Error& error);

// Prints "kernelrl: error: …" on the error stream, or the list of a plan's errors as it is. Returns
// the error's exit code.
int report(const Error& error);
// Returns the exit code, or reports the error.
int exit_code_of(const Result<int>& code);

// Rows as columns two blanks apart, as wide as their longest cell; the last column is free.
std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace krl::cli
