#include "plugins/backends/evaluator/sandbox/sandbox.hpp"

#include <kernelrl/values.hpp>
#include <mutex>
#include <sstream>

namespace krl::evaluator {
namespace {

constexpr std::chrono::seconds kProbeLimit{20};
constexpr std::uint64_t kProbeOutputLimit = 4096;

void add(std::vector<std::string>& arguments, const char* option, const std::string& value) {
  arguments.emplace_back(option);
  arguments.push_back(value);
}

}  // namespace

std::vector<std::string> with_system_libraries(std::vector<std::string> files) {
  files.insert(files.begin(), {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache"});
  return files;
}

Command sandboxed(const std::string& launcher, const SandboxRules& rules,
                  const std::vector<std::vector<std::string>>& steps) {
  Command command;
  std::vector<std::string>& arguments = command.arguments;
  arguments.push_back(launcher);
  add(arguments, "--address-space", std::to_string(rules.address_space_bytes));
  add(arguments, "--file-size", std::to_string(rules.file_bytes));
  add(arguments, "--cpu", std::to_string(rules.cpu_seconds));
  add(arguments, "--open-files", std::to_string(rules.open_files));
  add(arguments, "--processes", std::to_string(rules.processes));
  add(arguments, "--data", std::to_string(rules.data_bytes));
  if (rules.children) arguments.emplace_back("--children");
  if (rules.forks) arguments.emplace_back("--forks");
  if (rules.gpu) arguments.emplace_back("--gpu");
  add(arguments, "--processors-share", std::to_string(rules.processors_share));
  if (rules.private_folder_bytes > 0) {
    add(arguments, "--private-folder", std::to_string(rules.private_folder_bytes));
  }
  for (const std::string& path : rules.readable) add(arguments, "--read", path);
  for (const std::string& path : rules.programs) add(arguments, "--execute", path);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    arguments.emplace_back(i == 0 ? "--" : "--then");
    arguments.insert(arguments.end(), steps[i].begin(), steps[i].end());
  }
  return command;
}

SandboxFeatures probe_sandbox(const std::string& launcher) {
  const MemoryFile output = MemoryFile::create("krl-probe");
  Subprocess child({{launcher, "--probe"}, {}, {{output.descriptor(), 1}}});
  const Ending ending = child.wait(kProbeLimit);
  if (!ending.ok()) {
    throw Failure(KRL_UNAVAILABLE, launcher + " --probe " + ending.description());
  }
  SandboxFeatures features;
  std::istringstream lines(output.read(kProbeOutputLimit));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("missing ", 0) == 0) {
      features.missing.push_back(line.substr(8));
    } else {
      features.active += (features.active.empty() ? "" : ", ") + line;
    }
  }
  return features;
}

void require_sandbox(const SandboxFeatures& features, const std::string& wanted,
                     const Context& context) {
  static std::once_flag once;
  std::call_once(once, [&] {
    context.info("workers are protected by: " + features.active);
    for (const std::string& missing : features.missing)
      context.warning("sandbox layer not available: " + missing);
  });
  if (wanted != "complete" || features.missing.empty()) return;
  std::string layers;
  for (const std::string& missing : features.missing) layers += "\n  " + missing;
  throw Failure(KRL_FAILED_PRECONDITION,
                "sandbox = \"complete\": sandbox layers not available on this machine:" + layers +
                    "\nmake these layers available, or accept the risk with sandbox = "
                    "\"available\"");
}

}  // namespace krl::evaluator
