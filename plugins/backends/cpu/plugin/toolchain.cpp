#include "plugins/backends/cpu/plugin/toolchain.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <kernelrl/values.hpp>
#include <sstream>

#include "plugins/backends/cpu/runner_protocol.hpp"
#include "plugins/backends/evaluator/cache/digest.hpp"
#include "plugins/backends/evaluator/process/subprocess.hpp"

namespace krl {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kQuestionLimit{30};
constexpr std::uint64_t kMaxAnswerBytes = 256 << 10;
constexpr const char* kSearchPath[] = {"/usr/bin", "/usr/local/bin", "/bin"};

// The work files of a compile, as the tools see them.
constexpr const char* kAssembly = "/proc/self/fd/5";
constexpr const char* kObject = "/proc/self/fd/6";
constexpr const char* kModule = "/proc/self/fd/4";

[[noreturn]] void unusable(const std::string& why) {
  throw Failure(KRL_FAILED_PRECONDITION, "the cpu backend needs g++ 12 or newer: " + why);
}

// Modules are compiled with -mfma and -mf16c.
void require_processor() {
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "the cpu backend needs a processor with FMA and F16C: Intel Haswell, AMD Zen, or "
                  "newer");
  }
}

std::string find_program(const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos) return fs::canonical(name, error).string();
  for (const char* folder : kSearchPath) {
    const fs::path path = fs::path(folder) / name;
    if (fs::exists(path, error)) return fs::canonical(path, error).string();
  }
  unusable("no program '" + name + "' in /usr/bin");
}

// What a program prints; stdout and stderr together.
std::string ask(std::vector<std::string> arguments) {
  const MemoryFile output = MemoryFile::create("krl-answer");
  const std::string question = arguments.front() + " " + arguments[1];
  Subprocess child({std::move(arguments),
                    {"PATH=/usr/bin:/usr/local/bin:/bin", "LC_ALL=C"},
                    {{output.descriptor(), 1}, {output.descriptor(), 2}}});
  const Ending ending = child.wait(kQuestionLimit);
  std::string answer = output.read(kMaxAnswerBytes);
  if (!ending.ok()) unusable(question + " " + ending.description() + ": " + answer);
  return answer;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Splits a line of `g++ -###`: words between blanks, some in double quotes with backslashes.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  bool inside = false, quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (c == '"') {
      quoted = !quoted;
      if (!inside) words.emplace_back();
      inside = true;
      continue;
    }
    if (c == ' ' && !quoted) {
      inside = false;
      continue;
    }
    if (c == '\\' && i + 1 < line.size()) c = line[++i];
    if (!inside) words.emplace_back();
    inside = true;
    words.back() += c;
  }
  return words;
}

// The commands that g++ would run, one a line, each after a blank.
std::vector<std::vector<std::string>> planned_commands(const std::string& answer) {
  std::vector<std::vector<std::string>> commands;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != ' ') continue;
    commands.push_back(words_of(line));
    if (commands.back().empty()) commands.pop_back();
  }
  return commands;
}

void drop_with_value(std::vector<std::string>& words, const std::string& option) {
  const auto at = std::find(words.begin(), words.end(), option);
  if (at != words.end() && at + 1 != words.end()) words.erase(at, at + 2);
}

// Puts `value` after "-o"; gives what stood there.
std::string set_output(std::vector<std::string>& words, const std::string& value) {
  const auto at = std::find(words.begin(), words.end(), "-o");
  if (at == words.end() || at + 1 == words.end()) unusable("no output in what it runs");
  return std::exchange(*(at + 1), value);
}

// Turns what the driver would run into steps that work on descriptors.
std::vector<std::vector<std::string>> steps_from(std::vector<std::vector<std::string>> commands,
                                                 const std::string& gxx) {
  if (commands.size() != 3) unusable(gxx + " -### printed something unknown");
  std::vector<std::string>&compile = commands[0], &assemble = commands[1], &link = commands[2];
  if (compile.back() == "|") compile.pop_back();
  set_output(compile, kAssembly);
  drop_with_value(compile, "-dumpdir");
  assemble[0] = find_program(first_line(ask({gxx, "-print-prog-name=as"})));
  const std::string object = set_output(assemble, kObject);
  assemble.emplace_back(kAssembly);
  link[0] = find_program(first_line(ask({gxx, "-print-prog-name=ld"})));
  set_output(link, kModule);
  drop_with_value(link, "-plugin");
  std::erase_if(link, [](const std::string& w) { return w.rfind("-plugin-opt", 0) == 0; });
  std::replace(link.begin(), link.end(), object, std::string(kObject));
  return commands;
}

// Every file of the shim, as one digest; what is precompiled from them is left out.
std::string digest_of_shim(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() != ".gch") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  Digest digest;
  for (const fs::path& file : files) {
    digest.add(file.lexically_relative(folder).string()).add(read_file(file.string()));
  }
  return digest.hex();
}

std::string toolchain_digest(const CompileWorkerOptions& worker, const std::string& version,
                             const std::string& shim) {
  Digest digest;
  digest.add(version).add(digest_of_shim(shim));
  for (const auto& step : worker.steps) {
    std::error_code error;
    digest.add(fs::file_size(step[0], error));
    // The place of the shim does not matter, its content does.
    for (const std::string& word : step) {
      if (word.find(shim) == std::string::npos) digest.add(word);
    }
  }
  return digest.hex();
}

}  // namespace

Toolchain find_toolchain(const std::string& launcher, const std::string& shim,
                         const ToolchainLimits& limits) {
  require_processor();
  const std::string gxx = find_program("g++");
  std::vector<std::string> question = {gxx, "-###"};
  for (std::string& flag : emulator::compile_flags(shim)) question.push_back(std::move(flag));
  question.insert(question.end(), {"-o", "module.so"});

  Toolchain toolchain;
  CompileWorkerOptions& worker = toolchain.worker;
  worker.launcher = launcher;
  worker.steps = steps_from(planned_commands(ask(question)), gxx);
  worker.time_limit = limits.time;
  worker.source_name = "kernel.cu";
  worker.rules.address_space_bytes = limits.memory_bytes;
  worker.rules.cpu_seconds =
      static_cast<std::uint32_t>(std::ceil(static_cast<double>(limits.time.count()) / 1000));
  worker.rules.children = true;
  worker.rules.readable = {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", shim};

  const std::string version = first_line(ask({gxx, "-dumpfullversion"}));
  toolchain.name = "g++ " + version;
  toolchain.digest = toolchain_digest(worker, version, shim);
  return toolchain;
}

}  // namespace krl
