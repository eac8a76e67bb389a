#include "plugins/backends/docker/container_specification.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace krl::docker {
namespace {

using nlohmann::json;

// Beside the commands' processes: Docker's own, one starting in each place, a dozen threads each.
constexpr int kOtherProcesses = 64, kOtherProcessesOfSlot = 16;
constexpr double kNanosecondsPerSecond = 1e9;

std::uint32_t user_number(const ContainerIdentity& identity, int slot) {
  return identity.first_user + 1 + static_cast<std::uint32_t>(slot);
}

std::string user_and_group(std::uint32_t number) {
  const std::string text = std::to_string(number);
  return text + ":" + text;
}

json tmpfs(const ContainerSettings& settings, const ContainerIdentity& identity) {
  json folders = json::object();
  for (int slot = 0; slot < settings.commands_at_once; ++slot) {
    const std::string user = std::to_string(user_number(identity, slot));
    std::string options = "rw,exec,nosuid,nodev,mode=0700";
    options += ",uid=" + user;
    options += ",gid=" + user;
    options += ",size=" + std::to_string(settings.folder_bytes);
    folders[folder_of_slot(slot)] = std::move(options);
  }
  return folders;
}

json mounts(const ContainerSettings& settings) {
  json list = json::array();
  for (const ReadOnlyMount& mount : settings.mounts) {
    list.push_back({{"Type", "bind"},
                    {"Source", mount.source.string()},
                    {"Target", mount.target.string()},
                    {"ReadOnly", true}});
  }
  return list;
}

json device_requests(const ContainerSettings& settings) {
  if (settings.gpu == GpuAccess::kNone) return json::array();
  if (settings.gpu == GpuAccess::kCdi) {
    const std::vector<std::string> all = {"nvidia.com/gpu=all"};
    return {{{"Driver", "cdi"}, {"DeviceIDs", settings.gpus.empty() ? all : settings.gpus}}};
  }
  json request = {{"Driver", "nvidia"}, {"Capabilities", {{"gpu", "compute", "utility"}}}};
  if (settings.gpus.empty()) {
    request["Count"] = -1;
  } else {
    request["DeviceIDs"] = settings.gpus;
  }
  return json::array({request});
}

json limit(const char* name, int value) {
  return {{"Name", name}, {"Soft", value}, {"Hard", value}};
}

json host_config(const ContainerSettings& settings, const ContainerIdentity& identity) {
  const int pids =
      kOtherProcesses + settings.commands_at_once * (settings.processes + kOtherProcessesOfSlot);
  json config = {
      {"AutoRemove", true},
      {"Init", true},  // collects the processes that a command leaves behind
      {"NetworkMode", "none"},
      // No /dev/shm, no queues, no System V memory: nothing outlives a command but in its folder.
      {"IpcMode", "none"},
      {"Sysctls", {{"kernel.shmmni", "0"}, {"kernel.msgmni", "0"}, {"kernel.sem", "0 0 0 0"}}},
      {"ReadonlyRootfs", true},
      {"CapDrop", {"ALL"}},
      {"SecurityOpt", {"no-new-privileges"}},
      {"Memory", settings.memory_bytes},
      {"MemorySwap", settings.memory_bytes},  // memory and swap: no swap
      {"PidsLimit", pids},
      {"Ulimits",  // a user has one place only, so this is a limit of one command's
       {limit("nproc", settings.processes), limit("core", 0), limit("msgqueue", 0)}},
      {"LogConfig", {{"Type", "none"}}},
      {"Tmpfs", tmpfs(settings, identity)},
      {"Mounts", mounts(settings)},
      {"DeviceRequests", device_requests(settings)}};
  if (settings.processors > 0) {
    config["NanoCpus"] = static_cast<std::int64_t>(settings.processors * kNanosecondsPerSecond);
  }
  return config;
}

}  // namespace

std::string user_of_slot(const ContainerIdentity& identity, int slot) {
  return user_and_group(user_number(identity, slot));
}

std::string folder_of_slot(int slot) { return "/work/" + std::to_string(slot); }

json container_specification(const ContainerSettings& settings, const ContainerIdentity& identity) {
  return {{"Image", identity.image_id},
          {"User", user_and_group(identity.first_user)},
          {"Cmd", {kMainProgram}},
          {"OpenStdin", true},
          {"StdinOnce", true},
          {"AttachStdin", true},
          {"NetworkDisabled", true},
          {"Labels", {{kOwnerLabel, identity.owner}}},
          {"HostConfig", host_config(settings, identity)}};
}

}  // namespace krl::docker
