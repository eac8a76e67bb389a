#include <gtest/gtest.h>

#include <kernelrl/task_definition.hpp>
#include <nlohmann/json.hpp>

#include "core/base/file_system.hpp"
#include "core/plan/node.hpp"
#include "service/export/task_export.hpp"
#include "service/export/task_file.hpp"
#include "service/export/verifier_reward.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::service {
namespace {

// With every key that a task file may have, and texts that TOML must quote with care.
nlohmann::ordered_json definition() {
  return nlohmann::ordered_json::parse(R"json({
    "id": "level1/odd", "tier": 2, "title": "Odd \"one\"", "prompt": "two\nlines of '''text'''",
    "axes": {"n": "var", "half": "n / 2", "taps": 5},
    "input": [{"name": "x", "dtype": "float32", "shape": ["n", 5], "values": "integers", "bounds": ["0", "9"]}],
    "scalar": [{"name": "s", "dtype": "float32", "value": "1.0 / n"}],
    "output": [{"name": "y", "dtype": "float32", "shape": ["n", "taps"]}],
    "reference": "def run(x, s: float):\n    return x * s\n",
    "naive": "// @launch k<<<1, 1>>>(x, y, n)\n__global__ void k(const float* x, float* y, int n) {}\n",
    "cases": [{"n": 128}], "real": [{"n": 4096}], "holdout": [{"n": 7193}],
    "ranges": {"n": [1, 8191]}, "tolerance": {"rtol": 1e-05, "atol": 0.5, "terms": "n"},
    "work": {"operations": "n"}, "forbid": ["asm"]})json");
}

Task task() {
  const auto json = definition();
  return {json["id"], json["title"], json["prompt"], 2, json.dump(), {}};
}

nlohmann::json read_back(const std::string& text) {
  auto source = std::make_shared<Source>();
  source->text = text;
  const auto read = read_toml(source);
  return read ? read->json() : nlohmann::json(read.error().message);
}

TEST(TaskFile, HasAllOfTheDefinition) {
  EXPECT_EQ(read_back(task_file_text(definition())), nlohmann::json(definition()));
}

TEST(TaskExport, AgentsSeeNoHoldoutsAndNoRanges) {
  const test::ScratchFolder scratch;
  for (const std::string& format : export_formats()) {
    const auto folder = scratch.path() / format;
    ASSERT_TRUE(export_tasks({task()}, format, folder));
    EXPECT_TRUE(std::filesystem::exists(folder / "image/Dockerfile"));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = read_file(entry.path()).value();
      const std::string name = entry.path().lexically_relative(folder).string();
      const bool is_of_judge =
          name.find("/tests/") != std::string::npos || name.starts_with("tasks/");
      for (const char* secret : {"7193", "8191"}) {
        const bool whole = is_of_judge && name.ends_with(".toml");
        EXPECT_EQ(text.find(secret) != std::string::npos, whole) << format << " " << name;
      }
      EXPECT_EQ(text.find("{{"), std::string::npos) << name;
    }
  }
}

TEST(TaskExport, ATaskWithoutANaiveKernelHasNoSolution) {
  const test::ScratchFolder scratch;
  auto json = definition();
  json.erase("naive");
  Task without = task();
  without.definition_json = json.dump();
  ASSERT_TRUE(export_tasks({without}, "harbor", scratch.path()));
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "level1%2Fodd/tests/test.sh"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "level1%2Fodd/solution"));
}

TEST(VerifierReward, IsTheSpeedupOfARightKernel) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::kCompileError;
  EXPECT_EQ(verifier_reward(evaluation), "{\"reward\":0.0,\"compiled\":0,\"correct\":0}\n");
  evaluation.verdict = Verdict::kWrongResult;
  evaluation.cases.resize(1);
  evaluation.cases[0].speedup_low = 1;
  EXPECT_EQ(verifier_reward(evaluation), "{\"reward\":0.0,\"compiled\":1,\"correct\":0}\n");
  evaluation.verdict = Verdict::kOk;
  EXPECT_EQ(verifier_reward(evaluation),
            "{\"reward\":1.0,\"compiled\":1,\"correct\":1,\"speedup\":1.0}\n");
  evaluation.cases.clear();
  EXPECT_EQ(verifier_reward(evaluation), "{\"reward\":1.0,\"compiled\":1,\"correct\":1}\n");
}

}  // namespace
}  // namespace krl::service
