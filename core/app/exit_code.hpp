// What the program tells its caller.
#pragma once

#include "core/base/result.hpp"

namespace krl {

enum ExitCode : int {
  kDone = 0,
  kRunFailed = 1,
  kWrongCall = 2,  // the plan or the call
  kInterrupted = 130,
};

// Of a call that ends with this error.
int exit_code_of(const Error& error);

// Prints "kernelrl: error: …" on the error stream, or the list of a plan's errors as it is. Returns
// the error's exit code.
int report(const Error& error);

}  // namespace krl
