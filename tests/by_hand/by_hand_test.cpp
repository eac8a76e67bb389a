// Every task has a kernel in bench/kernels; these and those of its folders are right at all cases,
// hold-outs and shapes of the pool. Those of `hopper` run on a modelled GPU that has its instructions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

constexpr std::uint32_t kEveryShape =
    KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;

const std::filesystem::path kKernelsByHand =
    std::filesystem::path(KERNELRL_SOURCE_DIR) / "bench" / "kernels";

// Sorted; named after their tasks.
std::vector<std::filesystem::path> files_by_hand() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kKernelsByHand))
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class ByHand : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(ByHand, IsRightAtEveryShape) {
  const std::string task = GetParam().stem();
  ASSERT_TRUE(all_tasks().contains(task)) << "a kernel's file is named after its task";
  std::ifstream file(GetParam());
  const std::string source(std::istreambuf_iterator<char>(file), {});
  static const CpuInstance hopper(Table{{"cache", "off"}, {"gpu", "H200 SXM"}});
  const bool on_hopper = GetParam().parent_path().filename() == "hopper";
  const Outcome outcome =
      (on_hopper ? hopper : uncached_backend()).evaluate(all_tasks().at(task), source, kEveryShape);
  EXPECT_EQ(outcome.verdict, Verdict::kOk) << outcome.why << "\n" << outcome.log;
}

INSTANTIATE_TEST_SUITE_P(Kernels, ByHand, ::testing::ValuesIn(files_by_hand()),
                         [](const auto& info) {
                           const std::string task = info.param.stem();
                           const std::filesystem::path folder = info.param.parent_path();
                           if (folder == kKernelsByHand) return task;
                           return folder.filename().string() + "_" + task;
                         });

TEST(KernelsByHand, EveryTaskHasOne) {
  for (const auto& [id, task] : all_tasks())
    EXPECT_TRUE(std::filesystem::exists(kKernelsByHand / (id + ".cu"))) << id;
}

}  // namespace
}  // namespace krl::testing
