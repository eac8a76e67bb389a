#include "plugins/backends/nvcc/nvcc_toolkit.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <sstream>

#include "plugins/backends/evaluator/compile/cuda_folders.hpp"
#include "plugins/backends/nvcc/dry_run.hpp"
#include "plugins/process/subprocess.hpp"

namespace krl::nvcc {
using namespace evaluator;
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kQuestionLimit{30};
constexpr std::uint64_t kMaxAnswerBytes = 256 << 10;
// Twice the preprocessor, cudafe++, cicc, ptxas, fatbinary, g++, the linker.
constexpr std::size_t kLibrarySteps = 8, kAssembleStep = 4;
constexpr const char* kSearchPath = "PATH=/usr/bin:/usr/local/bin:/bin";

struct Answer {
  Ending ending;
  std::string text;  // stdout and stderr together
};

Answer ask(std::vector<std::string> arguments) {
  const MemoryFile output = MemoryFile::create("krl-answer");
  Subprocess child({std::move(arguments),
                    {kSearchPath, "LC_ALL=C"},
                    {{output.descriptor(), 1}, {output.descriptor(), 2}}});
  const Ending ending = child.wait(kQuestionLimit);
  return {ending, output.read(kMaxAnswerBytes)};
}

[[noreturn]] void unusable(const fs::path& nvcc, const std::string& why) {
  throw Failure(KRL_FAILED_PRECONDITION, nvcc.string() + " cannot be used: " + why);
}

// An absolute path, found as a shell would with `search_path`.
std::string find_program(const fs::path& nvcc, const std::string& name,
                         const std::string& search_path) {
  std::error_code error;
  if (name.find('/') != std::string::npos) {
    if (fs::exists(name, error)) return fs::canonical(name, error).string();
    unusable(nvcc, "it needs " + fs::path(name).lexically_normal().string() +
                       ", which is not there; scripts/setup.sh --cuda installs all its parts");
  }
  std::istringstream folders(search_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder) / name;
    if (fs::exists(path, error)) return fs::canonical(path, error).string();
  }
  unusable(nvcc, "it needs " + name + ", which is not in " + search_path);
}

// A program that g++ starts: cc1plus, as, …
std::string part_of_gxx(const fs::path& nvcc, const std::string& gxx, const std::string& name) {
  const Answer answer = ask({gxx, "-print-prog-name=" + name});
  const std::string path = answer.text.substr(0, answer.text.find('\n'));
  if (answer.ending.ok() && !path.empty()) {
    return find_program(nvcc, path, "/usr/bin:/usr/local/bin:/bin");
  }
  unusable(nvcc, gxx + " has no " + name + ": install g++");
}

// Asks nvcc which commands it would execute with these options.
DryRun ask_for_commands(const fs::path& nvcc, const std::vector<std::string>& options) {
  std::vector<std::string> question = {nvcc.string(), "--dryrun", "--keep", "--keep-dir=.",
                                       kSourceFile};
  question.insert(question.end(), options.begin(), options.end());
  const Answer answer = ask(question);
  if (!answer.ending.ok()) {
    invalid_argument("nvcc refuses the flags: " + answer.text.substr(0, answer.text.find('\n')));
  }
  return read_dry_run(answer.text);
}

[[noreturn]] void wrong_number_of_steps(std::size_t steps, const std::string& instead) {
  invalid_argument("flags: with these, nvcc compiles in " + std::to_string(steps) +
                   " steps instead of " + instead);
}

std::vector<std::string> readable_with(const fs::path& nvcc) {
  return {"/usr/lib",
          "/usr/libexec",
          "/usr/lib64",
          "/lib",
          "/lib64",
          "/usr/include",
          "/usr/local/include",
          "/etc/ld.so.cache",
          nvcc.parent_path().parent_path().string()};
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// True for a command that links device code of several files; here there is only one file.
bool links_device_code(const std::vector<std::string>& command) {
  const std::string program = fs::path(command[0]).filename();
  return program == "rm" || program == "nvlink" ||
         (program == "fatbinary" && contains(command, "-link")) ||
         std::any_of(command.begin(), command.end(), [](const std::string& word) {
           return word.ends_with("/link.stub") || word.ends_with("_dlink.o");
         });
}

// Returns the folders where the linker finds CUDA's runtime. nvcc names the folder of a toolkit's
// installation, which the wheels do not have.
std::vector<std::string> library_folders(const fs::path& nvcc) {
  std::vector<std::string> options;
  std::error_code error;
  for (const char* folder : {"lib64", "lib"}) {
    const fs::path path = nvcc.parent_path().parent_path() / folder;
    if (fs::exists(path / "libcudart_static.a", error)) options.push_back("-L" + path.string());
  }
  return options;
}

void replace(std::string_view from, std::string_view to, std::string* text) {
  const std::size_t at = text->find(from);
  if (at != std::string::npos) text->replace(at, from.size(), to);
}

}  // namespace

fs::path find_nvcc(const fs::path& wanted, const fs::path& wheels) {
  std::error_code error;
  if (fs::is_regular_file(wanted, error)) return fs::canonical(wanted);
  const std::vector<fs::path> folders = cuda_folders(wanted, wheels);
  for (const fs::path& folder : folders) {
    const fs::path nvcc = folder / "bin" / "nvcc";
    if (fs::is_regular_file(nvcc, error)) return fs::canonical(nvcc);
  }
  not_in_cuda_folders("nvcc", "scripts/setup.sh --cuda", folders);
}

std::string nvcc_version(const fs::path& nvcc) {
  const Answer answer = ask({nvcc.string(), "--version"});
  constexpr std::string_view kBefore = ", release ";
  const std::size_t at = answer.text.find(kBefore);
  if (!answer.ending.ok() || at == std::string::npos) {
    unusable(nvcc, "--version " + answer.ending.description() + ": " + answer.text);
  }
  const std::size_t begin = at + kBefore.size();
  return answer.text.substr(begin, answer.text.find(',', begin) - begin);
}

NvccPlan plan_nvcc(const fs::path& nvcc, const std::vector<std::string>& options) {
  std::vector<std::string> all = {"--cubin", "-o", kNvccCubin};
  all.insert(all.end(), options.begin(), options.end());
  DryRun run = ask_for_commands(nvcc, all);
  if (run.commands.size() != 3) {
    wrong_number_of_steps(run.commands.size(), "3: preprocessor, cicc, ptxas");
  }
  for (std::vector<std::string>& command : run.commands) {
    command[0] = find_program(nvcc, command[0], run.variables["PATH"]);
  }
  NvccPlan plan{run.commands[0], run.commands[1], run.commands[2], {}, {}};
  for (const std::vector<std::string>& command : run.commands) {
    plan.programs.push_back(command[0]);
  }
  plan.programs.push_back(part_of_gxx(nvcc, plan.preprocess[0], "cc1plus"));
  plan.readable = readable_with(nvcc);
  return plan;
}

NvccLibraryPlan plan_nvcc_library(const fs::path& nvcc, const std::vector<std::string>& options) {
  std::vector<std::string> all = {"-shared", "-o", kNvccLibrary, "-Xcompiler=-fPIC,-O1"};
  all.insert(all.end(), options.begin(), options.end());
  DryRun run = ask_for_commands(nvcc, all);
  NvccLibraryPlan plan;
  for (std::vector<std::string>& command : run.commands) {
    const bool makes_library = contains(command, kNvccLibrary);
    if (makes_library) std::erase(command, "./kernel_dlink.o");
    if (links_device_code(command)) continue;
    command[0] = find_program(nvcc, command[0], run.variables["PATH"]);
    if (makes_library) {
      for (std::string& option : library_folders(nvcc)) command.push_back(std::move(option));
      command.emplace_back("-Wl,-z,defs");
    }
    plan.programs.push_back(command[0]);
    plan.commands.push_back(std::move(command));
  }
  if (plan.commands.size() != kLibrarySteps) {
    wrong_number_of_steps(plan.commands.size(), std::to_string(kLibrarySteps) + " for a library");
  }
  const std::string cubin = plan.commands[kAssembleStep].back();
  for (std::vector<std::string>& command : plan.commands) {
    for (std::string& word : command) replace(cubin, kNvccCubin, &word);
  }
  const std::string gxx = plan.commands.back()[0];
  for (const char* name : {"cc1plus", "as", "collect2", "ld"}) {
    plan.programs.push_back(part_of_gxx(nvcc, gxx, name));
  }
  plan.readable = readable_with(nvcc);
  return plan;
}

}  // namespace krl::nvcc
