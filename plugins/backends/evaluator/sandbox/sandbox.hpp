// The permissions of a worker, and the command that starts it with them.
//
// They are applied by `kernelrl-sandbox`, a small launcher that restricts itself and then becomes
// the worker (or starts several, one after the other). Rules that the machine does not support are
// left out; `probe_sandbox` reports them. Plain values; callable from any thread.
#pragma once

#include <cstdint>
#include <kernelrl/component.hpp>
#include <string>
#include <vector>

#include "plugins/process/subprocess.hpp"

namespace krl::evaluator {
using namespace process;

// Limits of one worker. It never may: open a socket, write or change a file by its path outside of
// its private folder, signal, trace or inspect another process, gain privileges.
struct SandboxRules {
  std::uint64_t address_space_bytes = std::uint64_t{4} << 30;
  // Limit of each file, including those in memory.
  std::uint64_t file_bytes = std::uint64_t{256} << 20;
  std::uint32_t cpu_seconds = 10;
  std::uint32_t open_files = 64;
  std::uint32_t processes = 16;  // ignored by Linux for root
  bool children = false;         // may it start processes?
  bool forks = false;            // may it copy itself, though it starts no other program?
  // May it use GPUs? Then it keeps its environment and has no separate namespaces, and local
  // sockets, as the driver needs all of them. Its address space cannot be limited; its data can.
  bool gpu = false;
  std::uint32_t processors_share = 1;            // it gets one in so many processors, at least two
  std::uint64_t data_bytes = ~std::uint64_t{0};  // private memory that it can write to
  // The most that its private folder may hold. The folder is where it starts; no one else sees it,
  // and it is gone as soon as the last process of the worker is. 0: it has none.
  std::uint64_t private_folder_bytes = 0;
  std::vector<std::string> readable;  // files, or folders with all that is in them
  std::vector<std::string> programs;  // programs it may execute in addition to its own steps
};

// Adds what the dynamic linker reads to these files.
std::vector<std::string> with_system_libraries(std::vector<std::string> files);

// `steps`: programs with their arguments; each starts when the one before ended with 0, and the
// first failure is the ending of the whole. One step takes the launcher's place; several need
// `children`. The command's descriptors are the caller's to add.
Command sandboxed(const std::string& launcher, const SandboxRules& rules,
                  const std::vector<std::vector<std::string>>& steps);

// The launcher's exit code when it could not start a step: never the worker's own.
inline constexpr int kSandboxFailed = 113;

// The layers of the sandbox on this machine, as one line, and the missing ones with their reasons.
struct SandboxFeatures {
  std::string active;                // "rlimits, no_new_privs, landlock 7, seccomp, …"
  std::vector<std::string> missing;  // "landlock: not supported by this kernel"
};

SandboxFeatures probe_sandbox(const std::string& launcher);

// Logs what protects workers, once a process, and warns about every missing layer; throws
// Failure(KRL_FAILED_PRECONDITION), which names them, if `wanted` is "complete".
void require_sandbox(const SandboxFeatures& features, const std::string& wanted,
                     const Context& context);

}  // namespace krl::evaluator
