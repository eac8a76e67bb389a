// Between the boundary's texts and the core's.
#pragma once

#include <kernelrl/abi.h>

#include <string>
#include <string_view>

namespace krl {

inline krl_str borrow(std::string_view text) { return {text.data(), text.size()}; }
inline std::string copy(krl_str text) {
  return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

}  // namespace krl
