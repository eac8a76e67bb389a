#include "plugins/files/descriptor.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace krl::files {

void Descriptor::reset() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

std::string read_all(int descriptor) {
  std::string bytes;
  std::array<char, 1 << 16> part;
  for (;;) {
    const ssize_t n = ::read(descriptor, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.append(part.data(), static_cast<std::size_t>(n));
  }
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace krl::files
