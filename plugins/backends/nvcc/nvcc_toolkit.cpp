#include "plugins/backends/nvcc/nvcc_toolkit.hpp"

#include <kernelrl/values.hpp>
#include <sstream>

#include "plugins/backends/cuda/cuda_folders.hpp"
#include "plugins/backends/evaluator/process/subprocess.hpp"
#include "plugins/backends/nvcc/dry_run.hpp"

namespace krl {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kQuestionLimit{30};
constexpr std::uint64_t kMaxAnswerBytes = 256 << 10;
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

// What g++ starts to preprocess.
std::string preprocessor_of(const fs::path& nvcc, const std::string& gxx) {
  const Answer answer = ask({gxx, "-print-prog-name=cc1plus"});
  const std::string path = answer.text.substr(0, answer.text.find('\n'));
  if (!answer.ending.ok() || !fs::path(path).is_absolute()) {
    unusable(nvcc, gxx + " has no C++ compiler: install g++");
  }
  return path;
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
  not_in_cuda_folders("nvcc", folders);
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
  std::vector<std::string> question = {nvcc.string(), "--dryrun",  "--keep", "--keep-dir=.",
                                       "--cubin",     kNvccSource, "-o",     kNvccCubin};
  question.insert(question.end(), options.begin(), options.end());
  const Answer answer = ask(question);
  if (!answer.ending.ok()) {
    invalid_argument("nvcc refuses the flags: " + answer.text.substr(0, answer.text.find('\n')));
  }
  DryRun run = read_dry_run(answer.text);
  if (run.commands.size() != 3) {
    invalid_argument("flags: with these, nvcc compiles in " + std::to_string(run.commands.size()) +
                     " steps instead of 3: preprocessor, cicc, ptxas");
  }
  for (std::vector<std::string>& command : run.commands) {
    command[0] = find_program(nvcc, command[0], run.variables["PATH"]);
  }
  NvccPlan plan{run.commands[0], run.commands[1], run.commands[2], {}, {}};
  for (const std::vector<std::string>& command : run.commands) {
    plan.programs.push_back(command[0]);
  }
  plan.programs.push_back(preprocessor_of(nvcc, plan.preprocess[0]));
  plan.readable = {"/usr/lib",
                   "/usr/lib64",
                   "/lib",
                   "/lib64",
                   "/usr/include",
                   "/usr/local/include",
                   "/etc/ld.so.cache",
                   nvcc.parent_path().parent_path().string()};
  return plan;
}

}  // namespace krl
