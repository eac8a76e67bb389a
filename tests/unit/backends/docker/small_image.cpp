#include "tests/unit/backends/docker/small_image.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "plugins/backends/evaluator/process/subprocess.hpp"

namespace krl::docker::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kBusybox[] = "/bin/busybox";
constexpr std::uint64_t kMaxBytes = 16 << 20;
constexpr std::chrono::seconds kPatience{60};

// Its standard output.
std::string output_of(std::vector<std::string> arguments) {
  const MemoryFile output = MemoryFile::create("test-output");
  Subprocess process({std::move(arguments), {}, {{output.descriptor(), 1}}});
  const Ending ending = process.wait(kPatience);
  if (!ending.ok()) throw std::runtime_error("a helper of the test " + ending.description());
  return output.read(kMaxBytes);
}

}  // namespace

// A dynamically linked busybox says where its loader is.
std::string small_image_obstacle() {
  if (!fs::exists(kBusybox)) return "skipped: no /bin/busybox (package busybox-static)";
  const bool dynamic = read_file(kBusybox).find("/lib64/ld-linux") != std::string::npos;
  return dynamic ? "skipped: /bin/busybox is not static (package busybox-static)" : "";
}

void import_small_image(const Engine& engine) {
  std::string pattern = fs::temp_directory_path() / "krl-rootfs-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const fs::path root = pattern;
  fs::create_directories(root / "bin");
  fs::permissions(root, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec |
                            fs::perms::group_read | fs::perms::others_read);
  fs::copy_file(kBusybox, root / "bin" / "busybox");
  std::istringstream applets(output_of({kBusybox, "--list"}));
  for (std::string applet; applets >> applet;) {
    std::error_code taken;  // the list has busybox itself
    fs::create_symlink("busybox", root / "bin" / applet, taken);
  }
  std::string tar = output_of({"/bin/tar", "--create", "--directory", root, "."});
  fs::remove_all(root);
  engine.import_image(kSmallImage, std::move(tar), Patience::of(kPatience));
}

}  // namespace krl::docker::testing
