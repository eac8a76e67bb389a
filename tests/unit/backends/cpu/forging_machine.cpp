// Takes the machine's place and does what its "PTX" says: one word, and for `report` the text to
// report. See machine_protocol.hpp for the descriptors.
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

constexpr int kArena = 3, kModule = 4, kResult = 5;

std::string read_all(int descriptor) {
  std::string text;
  char part[4096];
  for (ssize_t n; (n = ::read(descriptor, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

int main() {
  const std::string module = read_all(kModule);
  const std::size_t space = module.find(' ');
  const std::string what = module.substr(0, space);
  if (what == "exit") return std::atoi(module.c_str() + space + 1);
  if (what == "abort") std::abort();
  if (what == "sleep") {
    for (;;) ::pause();
  }
  while (what == "loop" && ::getpid() > 0) {
  }
  if (what == "shrink" && ::ftruncate(kArena, 0) == 0) return 0;
  const std::string report = space == std::string::npos ? "" : module.substr(space + 1);
  return ::write(kResult, report.data(), report.size()) < 0 ? 1 : 0;
}
