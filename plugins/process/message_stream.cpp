#include "plugins/process/message_stream.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/files/descriptor.hpp"

namespace krl::process {
namespace {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;

// False if nothing came before the deadline.
bool wait_for_input(int descriptor, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{descriptor, POLLIN, 0};
    if (left <= 0) return false;
    if (::poll(&ready, 1, static_cast<int>(left)) > 0) return true;
  }
}

bool read_exactly(int descriptor, std::uint8_t* data, std::size_t size, Deadline deadline) {
  while (size > 0) {
    if (deadline && !wait_for_input(descriptor, *deadline)) return false;
    const ssize_t n = ::read(descriptor, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

bool write_message(int descriptor, const nlohmann::json& message, Encoding encoding) {
  std::string bytes(sizeof(std::uint32_t), '\0');  // the length goes in front
  if (encoding == Encoding::kJson) {
    bytes += message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  } else {
    nlohmann::json::to_cbor(message, bytes);
  }
  const std::size_t size = bytes.size() - sizeof(std::uint32_t);
  if (size > kMaxMessageBytes)
    throw Failure(KRL_RESOURCE_EXHAUSTED,
                  "a message of " + std::to_string(size >> 20) +
                      " MiB to or from another process, which takes at most " +
                      std::to_string(kMaxMessageBytes >> 20) + "; smaller batches help");
  const auto length = static_cast<std::uint32_t>(size);
  std::memcpy(bytes.data(), &length, sizeof length);
  return files::write_all(descriptor, bytes);
}

std::optional<nlohmann::json> read_message(int descriptor,
                                           std::optional<std::chrono::milliseconds> limit,
                                           std::uint32_t most_bytes, Encoding encoding) {
  const Deadline deadline = limit ? Deadline(Clock::now() + *limit) : std::nullopt;
  std::uint32_t size = 0;
  if (!read_exactly(descriptor, reinterpret_cast<std::uint8_t*>(&size), sizeof size, deadline) ||
      size > most_bytes) {
    return std::nullopt;
  }
  std::vector<std::uint8_t> bytes(size);
  if (!read_exactly(descriptor, bytes.data(), size, deadline)) return std::nullopt;
  auto message = encoding == Encoding::kJson ? nlohmann::json::parse(bytes, nullptr, false)
                                             : nlohmann::json::from_cbor(bytes, true, false);
  if (message.is_discarded()) return std::nullopt;
  return message;
}

}  // namespace krl::process
