#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <kernelrl/values.hpp>

#include "plugins/backends/cuda/gpu_executor.hpp"

namespace krl::cuda {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string why_not(const fs::path& folder) {
  try {
    baselines_in(folder);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no error";
}

TEST(BaselineFolder, HoldsAKernelForEachTask) {
  const fs::path folder =
      fs::temp_directory_path() / ("krl_baselines_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  EXPECT_THAT(why_not(folder), HasSubstr("no kernels TASK.cu"));
  std::ofstream(folder / "vector_add.cu") << "one";
  std::ofstream(folder / "softmax_rows.cu") << "two";
  std::ofstream(folder / "notes.txt") << "three";
  EXPECT_THAT(baselines_in(folder),
              ElementsAre(Pair("softmax_rows", "two"), Pair("vector_add", "one")));
  fs::remove_all(folder);
  EXPECT_THAT(why_not(folder), HasSubstr("No such file"));
}

}  // namespace
}  // namespace krl::cuda
