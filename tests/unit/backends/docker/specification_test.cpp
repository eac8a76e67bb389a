// What the worker container is denied, whose it is, and its places, without a daemon.
#include <gtest/gtest.h>
#include <unistd.h>

#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

#include "plugins/backends/docker/container_specification.hpp"
#include "plugins/backends/docker/owner.hpp"
#include "plugins/backends/docker/slots.hpp"

namespace krl::docker {
namespace {

using nlohmann::json;

const ContainerIdentity kIdentity{"sha256:0", "owner", 5000};

TEST(ContainerSpecification, LocksEverything) {
  const json spec = container_specification({}, kIdentity);
  EXPECT_EQ(spec["User"], "5000:5000");
  EXPECT_EQ(spec["Labels"][kOwnerLabel], "owner");
  const json& host = spec["HostConfig"];
  EXPECT_EQ(host["NetworkMode"], "none");
  EXPECT_EQ(host["IpcMode"], "none");
  EXPECT_EQ(host["ReadonlyRootfs"], true);
  EXPECT_EQ(host["CapDrop"], json::array({"ALL"}));
  EXPECT_EQ(host["SecurityOpt"], json::array({"no-new-privileges"}));
  EXPECT_EQ(host["Memory"], std::uint64_t{8} << 30);
  EXPECT_EQ(host["MemorySwap"], host["Memory"]);
  EXPECT_FALSE(host.contains("NanoCpus"));
  EXPECT_FALSE(host.contains("Privileged"));
  EXPECT_EQ(host["DeviceRequests"], json::array());
}

TEST(ContainerSpecification, GivesEachCommandAUserAndAFolder) {
  ContainerSettings settings;
  settings.commands_at_once = 2;
  settings.folder_bytes = 1000;
  const json folders = container_specification(settings, kIdentity)["HostConfig"]["Tmpfs"];
  ASSERT_EQ(folders.size(), 2u);
  EXPECT_EQ(folders["/work/1"], "rw,exec,nosuid,nodev,mode=0700,uid=5002,gid=5002,size=1000");
  EXPECT_EQ(user_of_slot(kIdentity, 1), "5002:5002");
}

TEST(ContainerSpecification, HasRoomForTheProcessesOfAllCommands) {
  ContainerSettings settings;
  settings.commands_at_once = 3;
  settings.processes = 100;
  EXPECT_GT(container_specification(settings, kIdentity)["HostConfig"]["PidsLimit"], 300);
}

TEST(ContainerSpecification, AsksForProcessors) {
  ContainerSettings settings;
  settings.processors = 1.5;
  EXPECT_EQ(container_specification(settings, kIdentity)["HostConfig"]["NanoCpus"], 1'500'000'000);
}

TEST(ContainerSpecification, MountsToBeReadOnly) {
  ContainerSettings settings;
  settings.mounts = {{"/opt/cuda", "/usr/local/cuda"}};
  EXPECT_EQ(container_specification(settings, kIdentity)["HostConfig"]["Mounts"],
            json::parse(R"([{"Type": "bind", "Source": "/opt/cuda", "Target": "/usr/local/cuda",
                             "ReadOnly": true}])"));
}

json gpu_request(GpuAccess access, std::vector<std::string> gpus) {
  ContainerSettings settings;
  settings.gpu = access;
  settings.gpus = std::move(gpus);
  return container_specification(settings, kIdentity)["HostConfig"]["DeviceRequests"];
}

TEST(ContainerSpecification, AsksForGpusInEitherWay) {
  EXPECT_EQ(gpu_request(GpuAccess::kNvidia, {}), json::parse(R"([{"Driver": "nvidia",
      "Capabilities": [["gpu", "compute", "utility"]], "Count": -1}])"));
  EXPECT_EQ(gpu_request(GpuAccess::kNvidia, {"1"}), json::parse(R"([{"Driver": "nvidia",
      "Capabilities": [["gpu", "compute", "utility"]], "DeviceIDs": ["1"]}])"));
  EXPECT_EQ(gpu_request(GpuAccess::kCdi, {}),
            json::parse(R"([{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}])"));
  EXPECT_EQ(gpu_request(GpuAccess::kCdi, {"nvidia.com/gpu=2"}),
            json::parse(R"([{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=2"]}])"));
}

TEST(Owner, LivesAsLongAsItsProcess) {
  const std::string mine = mark_of_this_process();
  EXPECT_FALSE(owner_is_gone(mine));
  EXPECT_TRUE(owner_is_gone(mine + "1"));           // our id, but another start
  EXPECT_TRUE(owner_is_gone("other-boot" + mine));  // before the machine started
  const std::size_t space = mine.find(' ');
  const std::string elsewhere =
      mine.substr(0, space + 1) + "pid:[1]" + mine.substr(mine.find(' ', space + 1));
  EXPECT_FALSE(owner_is_gone(elsewhere));  // cannot be seen from here
  EXPECT_FALSE(owner_is_gone(""));
  EXPECT_FALSE(owner_is_gone("somebody else's label"));
}

TEST(Slots, KnowWhoRanAlone) {
  Slots slots(2);
  {
    const auto first = slots.take({});
    EXPECT_EQ(first.number(), 0);
    EXPECT_TRUE(first.alone());
    {
      const auto second = slots.take({});
      EXPECT_EQ(second.number(), 1);
      EXPECT_FALSE(second.alone());
    }
    EXPECT_FALSE(first.alone());
  }
  EXPECT_TRUE(slots.take({}).alone());
}

TEST(Slots, WaitingForOneIsCancelled) {
  Slots slots(1);
  const auto taken = slots.take({});
  EXPECT_THROW(slots.take([] { return true; }), Failure);
}

}  // namespace
}  // namespace krl::docker
