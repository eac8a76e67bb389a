#include "plugins/policies/libtorch/distributed/rank_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelrl/values.hpp>
#include <map>

namespace krl::libtorch {
namespace {

using ::testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

RankEnvironment read(const Environment& environment) {
  return rank_environment([&](const char* name) -> std::optional<std::string> {
    const auto at = environment.find(name);
    return at == environment.end() ? std::nullopt : std::optional<std::string>(at->second);
  });
}

std::string refusal(const Environment& environment) {
  try {
    read(environment);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    return failure.what();
  }
  return "accepted";
}

const Environment kTorchrun = {{"RANK", "3"},
                               {"WORLD_SIZE", "8"},
                               {"LOCAL_RANK", "1"},
                               {"MASTER_ADDR", "gpu01"},
                               {"MASTER_PORT", "29400"}};
const Environment kSrun = {{"SLURM_PROCID", "5"},
                           {"SLURM_NTASKS", "8"},
                           {"SLURM_LOCALID", "1"},
                           {"SLURM_NODELIST", "gpu[03-05,9]"},
                           {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.9"},
                           {"SLURM_JOB_ID", "12001"}};

Environment with(Environment environment, const std::string& name, const std::string& value) {
  environment[name] = value;
  return environment;
}

Environment without(Environment environment, const std::string& name) {
  environment.erase(name);
  return environment;
}

TEST(RankEnvironment, IsAloneWithoutALauncher) {
  EXPECT_TRUE(read({}).alone());
  EXPECT_TRUE(read({{"MASTER_ADDR", "gpu01"}, {"SLURM_NTASKS", "4"}}).alone());
  EXPECT_TRUE(read({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).alone());
}

TEST(RankEnvironment, ReadsTorchrun) {
  const RankEnvironment ranks = read(kTorchrun);
  EXPECT_EQ(ranks.rank, 3);
  EXPECT_EQ(ranks.size, 8);
  EXPECT_EQ(ranks.local_rank, 1);
  EXPECT_EQ(ranks.address, "gpu01");
  EXPECT_EQ(ranks.port, 29400);
}

TEST(RankEnvironment, ReadsSrun) {
  const RankEnvironment ranks = read(kSrun);
  EXPECT_EQ(ranks.rank, 5);
  EXPECT_EQ(ranks.size, 8);
  EXPECT_EQ(ranks.local_rank, 1);
  EXPECT_EQ(ranks.address, "gpu03") << "rank 0 runs on the first host";
  EXPECT_EQ(ranks.port, 20001) << "follows from the job";
}

TEST(RankEnvironment, TakesTheTasksOfTheStepBeforeThoseOfTheJob) {
  EXPECT_EQ(read(with(kSrun, "SLURM_STEP_NUM_TASKS", "6")).size, 6);
  EXPECT_EQ(read(with(kSrun, "SLURM_STEP_NODELIST", "gpu07")).address, "gpu07");
  EXPECT_EQ(read(without(kSrun, "SLURM_NODELIST")).address, "10.0.0.9");
}

TEST(RankEnvironment, PrefersTorchrunInsideSrun) {
  Environment both = kSrun;
  both.insert(kTorchrun.begin(), kTorchrun.end());
  EXPECT_EQ(read(both).rank, 3);
  EXPECT_EQ(read(with(with(kSrun, "MASTER_ADDR", "head"), "MASTER_PORT", "7")).address, "head");
}

class HalfSet : public ::testing::TestWithParam<std::string> {};

TEST_P(HalfSet, IsRefusedByName) {
  EXPECT_THAT(refusal(without(kTorchrun, GetParam())), HasSubstr(GetParam() + " is not set"));
  EXPECT_THAT(refusal(with(kTorchrun, GetParam(), "")), HasSubstr(GetParam() + " is not set"));
}

INSTANTIATE_TEST_SUITE_P(Torchrun, HalfSet,
                         ::testing::Values("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR",
                                           "MASTER_PORT"));

TEST(RankEnvironment, RefusesWrongNumbersByName) {
  EXPECT_THAT(refusal(with(kTorchrun, "RANK", "8")), HasSubstr("RANK of torchrun"));
  EXPECT_THAT(refusal(with(kTorchrun, "RANK", "-1")), HasSubstr("from 0 to 7"));
  EXPECT_THAT(refusal(with(kTorchrun, "WORLD_SIZE", "two")), HasSubstr("WORLD_SIZE"));
  EXPECT_THAT(refusal(with(kTorchrun, "MASTER_PORT", "65536")), HasSubstr("MASTER_PORT"));
  EXPECT_THAT(refusal(with(kSrun, "SLURM_PROCID", "8")), HasSubstr("SLURM_PROCID of srun"));
  EXPECT_THAT(refusal(without(kSrun, "SLURM_NTASKS")), HasSubstr("SLURM_NTASKS is not set"));
  EXPECT_THAT(refusal(without(kSrun, "SLURM_LOCALID")), HasSubstr("SLURM_LOCALID is not set"));
  Environment nowhere = without(without(kSrun, "SLURM_NODELIST"), "SLURM_LAUNCH_NODE_IPADDR");
  EXPECT_THAT(refusal(nowhere), HasSubstr("SLURM_NODELIST is not set"));
}

TEST(RankEnvironment, FindsTheFirstHostOfSlurmsLists) {
  EXPECT_EQ(first_host("gpu03"), "gpu03");
  EXPECT_EQ(first_host("gpu03,gpu04"), "gpu03");
  EXPECT_EQ(first_host("gpu[03-05,9],login"), "gpu03");
  EXPECT_EQ(first_host("gpu[7]"), "gpu7");
  EXPECT_EQ(first_host("rack[1-2]node,x"), "rack1node");
  EXPECT_EQ(first_host("a,b[1-2]"), "a");
  EXPECT_EQ(first_host("gpu["), "");
  EXPECT_EQ(first_host(""), "");
}

}  // namespace
}  // namespace krl::libtorch
