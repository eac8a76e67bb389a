#include "core/base/result.hpp"

namespace krl {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kCancelled:
      return "cancelled";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kDeadlineExceeded:
      return "deadline exceeded";
    case Code::kNotFound:
      return "not found";
    case Code::kResourceExhausted:
      return "resource exhausted";
    case Code::kFailedPrecondition:
      return "failed precondition";
    case Code::kUnimplemented:
      return "not supported";
    case Code::kInternal:
      return "internal error";
    case Code::kUnavailable:
      return "unavailable";
  }
  return "unknown code";
}

Error Error::in(std::string_view where) && { return {code, std::string(where) + ": " + message}; }

}  // namespace krl
