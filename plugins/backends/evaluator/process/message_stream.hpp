// Messages between a process and its worker: each a 32-bit length, then that many bytes of CBOR.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace krl::evaluator {

inline constexpr std::uint32_t kMaxMessageBytes = 256u << 20;

// False if the other side is gone.
bool write_message(int descriptor, const nlohmann::json& message);

// No value at the end of the stream, if it is broken, or after `limit` (of the whole message).
// Values inside one another take stack: of an untrusted sender, read few bytes.
std::optional<nlohmann::json> read_message(
    int descriptor, std::optional<std::chrono::milliseconds> limit = std::nullopt,
    std::uint32_t most_bytes = kMaxMessageBytes);

}  // namespace krl::evaluator
