// TORCH_CHECK and its like: a condition that does not hold is an exception with the text of all
// further arguments.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace c10 {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <class... Parts>
[[noreturn]] void fail(const char* otherwise, const Parts&... parts) {
  throw Error(sizeof...(Parts) == 0 ? std::string(otherwise) : str(parts...));
}

}  // namespace c10

#define TORCH_CHECK(condition, ...)                                                 \
  do {                                                                              \
    if (!(condition))                                                               \
      ::c10::fail("Expected " #condition " to be true" __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define TORCH_CHECK_VALUE(...) TORCH_CHECK(__VA_ARGS__)
#define TORCH_CHECK_TYPE(...) TORCH_CHECK(__VA_ARGS__)
#define TORCH_CHECK_INDEX(...) TORCH_CHECK(__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) ::c10::fail("error" __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_WARN(...) static_cast<void>(0)
#define TORCH_WARN_ONCE(...) static_cast<void>(0)
