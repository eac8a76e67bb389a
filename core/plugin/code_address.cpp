#include "core/plugin/code_address.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace krl {
namespace {

// The path of the line "from-to rwxp offset device inode   /path" if it spans the address.
std::string_view path_in(std::string_view line, std::uintptr_t address) {
  const char* const end = line.data() + line.size();
  std::uintptr_t first = 0, last = 0;
  const auto from = std::from_chars(line.data(), end, first, 16);
  if (from.ptr == end || *from.ptr != '-') return {};
  std::from_chars(from.ptr + 1, end, last, 16);
  if (address < first || address >= last) return {};
  return line.substr(std::min(line.find('/'), line.size()));
}

}  // namespace

std::string_view file_at(std::uintptr_t address, char (&buffer)[PATH_MAX]) {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return {};
  std::string_view path;
  std::size_t size = 0;
  for (ssize_t n; path.empty() && (n = ::read(maps, buffer + size, sizeof buffer - size)) > 0;) {
    size += static_cast<std::size_t>(n);
    std::string_view rest(buffer, size);
    for (std::size_t at; path.empty() && (at = rest.find('\n')) != rest.npos;
         rest.remove_prefix(at + 1)) {
      path = path_in(rest.substr(0, at), address);
    }
    if (!path.empty()) break;
    size = static_cast<std::size_t>(std::copy(rest.begin(), rest.end(), buffer) - buffer);
  }
  ::close(maps);
  return path;
}

}  // namespace krl
