// What a candidate is: device code that the harness launches, or a program of its own.
#pragma once

#include <kernelrl/abi.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace krl {

enum class Contract : std::uint32_t {
  kDevice = KRL_CONTRACT_DEVICE,  // kernels and launch directives; the harness owns the host side
  kHost = KRL_CONTRACT_HOST,      // its own host code runs too, so what it shows is trusted less
};

inline std::string_view name_of(Contract contract) {
  return contract == Contract::kHost ? "host" : "device";
}

inline std::optional<Contract> contract_named(std::string_view name) {
  if (name == "device") return Contract::kDevice;
  if (name == "host") return Contract::kHost;
  return std::nullopt;
}

}  // namespace krl
