// The permissions and restrictions of the worker container, in Docker's terms. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "plugins/backends/docker/engine/engine.hpp"

namespace krl::docker {

struct ReadOnlyMount {
  std::filesystem::path source, target;  // path on the host, path in the container
};

// A container's access to GPUs: none, NVIDIA's own runtime hook, or a CDI description.
enum class GpuAccess { kNone, kNvidia, kCdi };

struct ContainerSettings {
  std::string socket = kDefaultSocket;
  std::string image = "kernelrl-worker";
  int commands_at_once = 1;  // at least 1
  // Limit of all commands together, including their folders.
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  std::uint64_t folder_bytes = std::uint64_t{1} << 30;  // limit of one command
  int processes = 256;                                  // limit of one command, threads included
  double processors = 0;  // limit of all commands together; 0 = all of the machine's
  std::vector<ReadOnlyMount> mounts;
  GpuAccess gpu = GpuAccess::kNone;
  std::vector<std::string> gpus;  // ids, or CDI names ("nvidia.com/gpu=0"); empty = all
};

// Identifies one container.
struct ContainerIdentity {
  std::string image_id;
  std::string owner;             // see owner.hpp
  std::uint32_t first_user = 0;  // the container's; command n runs as first_user + 1 + n
};

// The label that all our containers have; its value is the owner's mark.
inline constexpr const char* kOwnerLabel = "kernelrl.owner";
// The main process: lives until its standard input ends, and that is when we do.
inline constexpr const char* kMainProgram = "/bin/cat";

// "1000001:1000001", and the folder that only this user can use, the only one in the container that
// anybody can write to.
std::string user_of_slot(const ContainerIdentity& identity, int slot);
std::string folder_of_slot(int slot);

// The body of POST /containers/create.
nlohmann::json container_specification(const ContainerSettings& settings,
                                       const ContainerIdentity& identity);

}  // namespace krl::docker
