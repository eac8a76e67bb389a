// The words of `nvcc --dryrun`, as a shell would read them.
#include "plugins/backends/nvcc/dry_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace krl::nvcc {
namespace {

using ::testing::ElementsAre;

TEST(DryRun, ReadsVariablesAndCommands) {
  const DryRun run = read_dry_run(
      "#$ _SPACE_= \n"
      "#$ TOP=/usr/local/cuda/bin/..\n"
      "nvcc warning : something for people\n"
      "#$ CICC_PATH=/cuda/nvvm/bin\n"
      "#$ \"/usr/bin\"/g++ -D__CUDACC__  -E \"-I/with blank\" -DA=b\n"
      "#$ \"$CICC_PATH/cicc\" -o \"./kernel.ptx\" $MISSING \"\"\n");
  EXPECT_EQ(run.variables.at("CICC_PATH"), "/cuda/nvvm/bin");
  EXPECT_EQ(run.variables.at("_SPACE_"), " ");
  ASSERT_EQ(run.commands.size(), 2u);
  EXPECT_THAT(run.commands[0],
              ElementsAre("/usr/bin/g++", "-D__CUDACC__", "-E", "-I/with blank", "-DA=b"));
  EXPECT_THAT(run.commands[1], ElementsAre("/cuda/nvvm/bin/cicc", "-o", "./kernel.ptx", ""));
}

TEST(DryRun, OfNothingIsNothing) {
  EXPECT_TRUE(read_dry_run("").commands.empty());
  EXPECT_TRUE(read_dry_run("#$ \n#$").commands.empty());
  EXPECT_TRUE(read_dry_run("nvcc fatal   : Unknown option '--bogus'").commands.empty());
}

}  // namespace
}  // namespace krl::nvcc
