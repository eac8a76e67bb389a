// The restrictions that the launcher applies to itself, one function each. They last for the life
// of the process and are inherited by the program it executes. Each returns the reason if it does
// not work, otherwise empty: no failure is fatal. For single-threaded processes.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace krl::sandbox {

// Describes why the last system call failed.
inline std::string reason() { return std::strerror(errno); }

struct ResourceLimits {
  std::uint64_t address_space_bytes = 0;
  std::uint64_t data_bytes = 0;  // private and writable
  std::uint64_t file_bytes = 0;
  std::uint64_t cpu_seconds = 0;  // SIGXCPU there, SIGKILL a second later
  std::uint64_t open_files = 0;
  std::uint64_t processes = 0;
  std::uint64_t processors_share = 1;
};

std::string limit_resources(const ResourceLimits& limits);

// Runs on one of `share` processors, at least two, of those it may run on.
std::string limit_processors(std::uint64_t share);

// Dies with the thread that started it. filter_system_calls keeps that from being undone.
std::string die_with_parent();

// Gains no privileges by exec, writes no core file.
std::string forbid_privileges();

// Gives up all capabilities, also for programs run by root.
std::string drop_capabilities();

// A user namespace without any mapping, and in it a network and an IPC namespace without anything.
std::string enter_namespaces();

// Landlock: files can be read only beneath `readable`, executed only beneath `executable`, and
// made, read, written and removed only in the folder `writable`, if it is not empty. `controlled`
// files, such as devices that a driver has to write, can be read, written, emptied and used by
// ioctl. No TCP, no signals to others.
struct FileRules {
  std::vector<std::string> readable, executable, controlled;
  std::string writable;
};
// `abi`: set to the version of the kernel.
std::string restrict_files(const FileRules& rules, int* abi);

// The devices of GPUs' drivers on this machine.
std::vector<std::string> gpu_devices();

// A system call filter: no sockets, no other processes, no mounts, no changes to files by path, no
// signals by way of descriptors; without children and GPUs no new memory files either. A
// forbidden call fails with EPERM. Without `children`, no process can be started either, except
// by execveat on the descriptor `program`; with `forks`, it may copy itself. With `local_sockets`,
// sockets of this machine are allowed.
struct CallRules {
  bool children = false;
  bool forks = false;
  bool local_sockets = false;
  int program = -1;
};
std::string filter_system_calls(const CallRules& rules);

}  // namespace krl::sandbox
