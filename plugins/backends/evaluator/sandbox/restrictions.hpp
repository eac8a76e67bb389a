// The restrictions that the launcher puts on itself, one function each. They last for the life of
// the process and pass on to whatever it executes. Each returns what kept it from working, empty if
// it works: none is fatal. For a process of one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace krl::sandbox {

struct ResourceLimits {
  std::uint64_t address_space_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t cpu_seconds = 0;  // SIGXCPU there, SIGKILL a second later
  std::uint64_t open_files = 0;
  std::uint64_t processes = 0;
};

std::string limit_resources(const ResourceLimits& limits);

// Dies with the process that started it, gains no privileges by exec, writes no core file.
std::string forbid_privileges();

// Gives up all capabilities, also for programs run by root.
std::string drop_capabilities();

// A user namespace without any mapping, and in it a network and an IPC namespace without anything.
std::string enter_namespaces();

// Landlock: files can be read only beneath `readable`, executed only beneath `executable`, and
// made, read, written and removed only in the folder `writable`, if it is not empty; no TCP, no
// signals to others. `abi`: set to the version of the kernel.
std::string restrict_files(const std::vector<std::string>& readable,
                           const std::vector<std::string>& executable, const std::string& writable,
                           int* abi);

// A system call filter: no sockets, no other processes, no mounts, no changes to files by path. A
// forbidden call fails with EPERM. Without `children`, no process can be started either, except
// by execveat on the descriptor `program`.
std::string filter_system_calls(bool children, int program);

}  // namespace krl::sandbox
