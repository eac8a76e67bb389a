#include "tests/unit/backends/docker/small_image.hpp"

#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "plugins/backends/evaluator/process/subprocess.hpp"

namespace krl::docker::testing {
namespace {

// Each is in every Debian.
constexpr const char* kCommands[] = {
    "/bin/bash",  "/bin/cat",  "/bin/chmod",  "/bin/chown",  "/bin/cp", "/bin/dd",
    "/bin/find",  "/bin/grep", "/bin/head",   "/bin/id",     "/bin/ln", "/bin/ls",
    "/bin/mkdir", "/bin/rm",   "/bin/mkfifo", "/bin/setsid", "/bin/sh", "/bin/sleep",
    "/bin/touch", "/bin/true", "/bin/yes"};
constexpr std::uint64_t kMaxBytes = 64 << 20;
constexpr std::chrono::seconds kPatience{60};

// Its standard output.
std::string output_of(std::vector<std::string> arguments) {
  const MemoryFile output = MemoryFile::create("test-output");
  Subprocess process({std::move(arguments), {"PATH=/usr/bin:/bin"}, {{output.descriptor(), 1}}});
  const Ending ending = process.wait(kPatience);
  if (!ending.ok()) throw std::runtime_error("a command of the test " + ending.description());
  return output.read(kMaxBytes);
}

// The commands, and what ldd says that they load: "libc.so.6 => /lib/…/libc.so.6 (0x7f…)".
std::set<std::string> files() {
  std::set<std::string> all(std::begin(kCommands), std::end(kCommands));
  std::vector<std::string> ldd = {"/usr/bin/ldd"};
  ldd.insert(ldd.end(), all.begin(), all.end());
  std::istringstream words(output_of(ldd));
  for (std::string word; words >> word;) {
    if (word.front() == '/' && word.back() != ':') all.insert(word);
  }
  return all;
}

}  // namespace

void import_small_image(const Engine& engine) {
  std::vector<std::string> tar = {"/bin/tar", "--create", "--dereference", "--directory", "/"};
  for (const std::string& file : files()) tar.push_back(file.substr(1));
  engine.import_image(kSmallImage, output_of(tar), Patience::of(kPatience));
}

}  // namespace krl::docker::testing
