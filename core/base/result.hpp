// Errors as values: `Status` and `Result<T>`.
//
// An error carries a code that programs read and a message that people read (what, where, what to
// do). Nothing in the core throws across a function that returns one of these.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace krl::core {

// The numbers are gRPC's and those of the plugin boundary (kernelrl/abi.h).
enum class Code : std::int32_t {
  kOk = 0,
  kCancelled = 1,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
};

struct Error {
  Code code = Code::kInternal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> failure(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
inline tl::unexpected<Error> failure(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
inline tl::unexpected<Error> invalid(std::string message) {
  return failure(Code::kInvalidArgument, std::move(message));
}

}  // namespace krl::core

// Returns the error of an expression that gives a Status or Result, if it is one.
#define KRL_TRY(expression)                                        \
  do {                                                             \
    if (auto krl_status_ = (expression); !krl_status_)             \
      return ::krl::core::failure(std::move(krl_status_).error()); \
  } while (false)

#define KRL_CONCAT_INNER(a, b) a##b
#define KRL_CONCAT(a, b) KRL_CONCAT_INNER(a, b)

// `KRL_ASSIGN(auto x, f())`: declares x from a Result, or returns its error.
#define KRL_ASSIGN(declaration, expression) \
  KRL_ASSIGN_IMPL(KRL_CONCAT(krl_result_, __LINE__), declaration, expression)
// NOLINTBEGIN(bugprone-macro-parentheses): names and a declaration bear none
#define KRL_ASSIGN_IMPL(result, declaration, expression)               \
  auto result = (expression);                                          \
  if (!result) return ::krl::core::failure(std::move(result).error()); \
  declaration = std::move(*result)
// NOLINTEND(bugprone-macro-parentheses)
