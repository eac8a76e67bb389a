#include "core/run/full_disk.hpp"

#include <string>
#include <system_error>

namespace krl {

namespace {

std::string megabytes(std::uintmax_t bytes) {
  constexpr std::uintmax_t kMegabyte = 1000 * 1000;
  return std::to_string((bytes + kMegabyte - 1) / kMegabyte) + " MB";
}

}  // namespace

Status explain_full_disk(Status status, const std::filesystem::path& path,
                         std::uintmax_t needed_bytes) {
  if (status || status.error().code != Code::kResourceExhausted) return status;
  std::string room;
  std::error_code unknown;
  const auto space = std::filesystem::space(path, unknown);
  if (needed_bytes > 0) room += "needs about " + megabytes(needed_bytes);
  if (!unknown)
    room += (room.empty() ? "" : ", ") + std::to_string(space.available / 1000000) + " MB free";
  Error error = std::move(status).error();
  if (!room.empty()) error.message += " (" + room + ")";
  error.message += "; nothing written so far is lost: make room and go on with --resume";
  return failure(std::move(error));
}

}  // namespace krl
