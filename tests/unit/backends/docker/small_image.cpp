#include "tests/unit/backends/docker/small_image.hpp"

#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "plugins/process/subprocess.hpp"

namespace krl::docker::testing {
using namespace process;
namespace {

// Each is in every Debian.
constexpr const char* kCommands[] = {
    "/bin/bash",  "/bin/cat",  "/bin/chmod",  "/bin/chown",  "/bin/cp", "/bin/dd",
    "/bin/find",  "/bin/grep", "/bin/head",   "/bin/id",     "/bin/ln", "/bin/ls",
    "/bin/mkdir", "/bin/rm",   "/bin/mkfifo", "/bin/setsid", "/bin/sh", "/bin/sleep",
    "/bin/touch", "/bin/true", "/bin/yes"};
constexpr const char* kCompilerCommands[] = {"/usr/bin/gcc", "/usr/bin/g++", "/usr/bin/sed",
                                             "/usr/bin/wc",  "/usr/bin/as",  "/usr/bin/ld"};
// What a shared object is linked with; the last by its full name, as a linker's script has it.
constexpr const char* kLinked[] = {
    "crti.o",       "crtn.o",      "crtbeginS.o", "crtendS.o",        "libstdc++.so",
    "libgcc.a",     "libgcc_s.so", "libc.so",     "libm.so",          "librt.a",
    "libpthread.a", "libdl.a",     "libmvec.so",  "liblto_plugin.so", "libc_nonshared.a"};
constexpr char kVectorMath[] = "/lib/x86_64-linux-gnu/libmvec.so.1";
constexpr const char* kHeaderFolders[] = {"/usr/include/asm-generic", "/usr/include/c++",
                                          "/usr/include/linux", "/usr/include/x86_64-linux-gnu"};
constexpr std::uint64_t kMaxBytes = 512 << 20;
constexpr std::chrono::seconds kPatience{60};

// Its standard output.
std::string output_of(std::vector<std::string> arguments) {
  const MemoryFile output = MemoryFile::create("test-output");
  Subprocess process({std::move(arguments), {"PATH=/usr/bin:/bin"}, {{output.descriptor(), 1}}});
  const Ending ending = process.wait(kPatience);
  if (!ending.ok()) throw std::runtime_error("a command of the test " + ending.description());
  return output.read(kMaxBytes);
}

// What ldd says that they load: "libc.so.6 => /lib/…/libc.so.6 (0x7f…)".
std::set<std::string> libraries_of(const std::set<std::string>& programs) {
  std::set<std::string> all;
  std::vector<std::string> ldd = {"/usr/bin/ldd"};
  ldd.insert(ldd.end(), programs.begin(), programs.end());
  std::istringstream words(output_of(ldd));
  for (std::string word; words >> word;) {
    if (word.front() == '/' && word.back() != ':') all.insert(word);
  }
  return all;
}

std::string answer_of_gcc(const char* question) {
  const std::string answer = output_of({"/usr/bin/g++", question});
  return answer.substr(0, answer.find('\n'));
}

std::set<std::string> compiler_files() {
  std::set<std::string> all(std::begin(kHeaderFolders), std::end(kHeaderFolders));
  for (const auto& entry : std::filesystem::directory_iterator("/usr/include")) {
    if (entry.path().extension() == ".h") all.insert(entry.path());
  }
  all.insert(answer_of_gcc("-print-file-name=include"));
  return all;
}

void import(const Engine& engine, const char* name, const std::set<std::string>& files) {
  std::vector<std::string> tar = {"/bin/tar", "--create", "--dereference", "--directory", "/"};
  for (const std::string& file : files) tar.push_back(file.substr(1));
  engine.import_image(name, output_of(tar), Patience::of(kPatience));
}

}  // namespace

void import_small_image(const Engine& engine) {
  std::set<std::string> files(std::begin(kCommands), std::end(kCommands));
  files.merge(libraries_of(files));
  import(engine, kSmallImage, files);
}

void import_compiler_image(const Engine& engine, const std::vector<std::string>& programs) {
  std::set<std::string> files(std::begin(kCommands), std::end(kCommands));
  files.insert(std::begin(kCompilerCommands), std::end(kCompilerCommands));
  files.insert(answer_of_gcc("-print-prog-name=cc1plus"));
  files.insert(answer_of_gcc("-print-prog-name=collect2"));
  std::set<std::string> linked = files;
  linked.insert(programs.begin(), programs.end());
  files.merge(libraries_of(linked));
  files.merge(compiler_files());
  files.insert(kVectorMath);
  for (const char* name : kLinked) {
    const std::string file = answer_of_gcc(("-print-file-name=" + std::string(name)).c_str());
    if (file != name)
      files.insert(std::filesystem::weakly_canonical(file.substr(0, file.rfind('/'))) / name);
  }
  import(engine, kCompilerImage, files);
}

}  // namespace krl::docker::testing
