// Messages between a process and its worker: each a 32-bit length in the machine's byte order, then
// that many bytes of CBOR, or of JSON for workers whose language reads it faster.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace krl::process {

inline constexpr std::uint32_t kMaxMessageBytes = 256u << 20;

enum class Encoding { kCbor, kJson };

// False if the other side is gone. JSON has no NaN, which becomes null, and bytes that are no UTF-8
// are replaced. Throws KRL_RESOURCE_EXHAUSTED if the message is too large.
bool write_message(int descriptor, const nlohmann::json& message,
                   Encoding encoding = Encoding::kCbor);

// No value at the end of the stream, if it is broken, or after `limit` (of the whole message).
// Values inside one another take stack: of an untrusted sender, read few bytes.
std::optional<nlohmann::json> read_message(
    int descriptor, std::optional<std::chrono::milliseconds> limit = std::nullopt,
    std::uint32_t most_bytes = kMaxMessageBytes, Encoding encoding = Encoding::kCbor);

}  // namespace krl::process
