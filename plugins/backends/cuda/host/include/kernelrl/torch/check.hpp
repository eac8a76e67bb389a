// TORCH_CHECK and similar macros: a condition that does not hold throws an exception with the text
// of all further arguments.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

namespace c10 {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Values as texts; more of them where their types are. (Streams would take half a second to
// compile.)
inline std::string text_of(const char* value) { return value; }
inline std::string text_of(const std::string& value) { return value; }
inline std::string text_of(char value) { return std::string(1, value); }
inline std::string text_of(bool value) { return value ? "1" : "0"; }
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
std::string text_of(T value) {
  return std::to_string(value);
}

template <class... Parts>
std::string str(const Parts&... parts) {
  std::string text;
  ((text += text_of(parts)), ...);
  return text;
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
