// Between the boundary's texts and the core's.
#pragma once

#include <kernelrl/abi.h>

#include <string>
#include <string_view>

namespace krl {

inline krl_str borrow(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(krl_str text) {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}
inline std::string copy(krl_str text) { return std::string(view(text)); }

}  // namespace krl
