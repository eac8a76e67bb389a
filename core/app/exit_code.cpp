#include "core/app/exit_code.hpp"

#include "core/app/console.hpp"

namespace krl {

int exit_code_of(const Error& error) {
  switch (error.code) {
    case Code::kOk:
      return kDone;
    case Code::kCancelled:
      return kInterrupted;
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kFailedPrecondition:
    case Code::kUnimplemented:
      return kWrongCall;
    default:
      return kRunFailed;
  }
}

int report(const Error& error) {
  const bool rendered = error.message.ends_with('\n');  // a plan's errors name their places
  print_error(rendered ? error.message : "kernelrl: error: " + error.message + "\n");
  return exit_code_of(error);
}

}  // namespace krl
