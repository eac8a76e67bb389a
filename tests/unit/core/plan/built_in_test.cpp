#include "core/plan/built_in.hpp"

#include "tests/unit/core/plan/plan_loading.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

class BuiltIn : public PlanLoading {};

TEST_F(BuiltIn, FilesAreFoundFromAnyFolderButOwnOnesComeFirst) {
  EXPECT_EQ(find_near(folder_, "rewards/kevin.toml"), built_in_configs() / "rewards/kevin.toml");
  EXPECT_EQ(find_near(folder_, "configs/prompts"), built_in_configs() / "prompts");
  EXPECT_EQ(find_near(folder_, "absent"), folder_ / "absent");
  EXPECT_EQ(find_near(folder_, "/rewards"), "/rewards");
  EXPECT_EQ(find_near(folder_, ""), folder_ / "");
  const fs::path own = write("rewards/kevin.toml", "");
  EXPECT_EQ(find_near(folder_, "rewards/kevin.toml"), own);
}

TEST_F(BuiltIn, PresetsPromptsAndPathsOfAPlan) {
  const Plan plan = this->plan("[prompt]\ntemplates = \"prompts/compact\"\n" + std::string(kSmall));
  EXPECT_EQ(plan.settings.prompt.templates, built_in_configs() / "prompts/compact");
  ASSERT_EQ(plan.notes.size(), 1u);  // nobody meant other tasks than their own without a word
  EXPECT_TRUE(plan.notes[0].ends_with("configs/tasks, which is built in")) << plan.notes[0];
  EXPECT_EQ(errors("include = [\"rewards/kelvin.toml\"]\n"),
            (folder_ / "plan.toml").string() + ":1:12: error: cannot read '" +
                (folder_ / "rewards/kelvin.toml").string() +
                "' (No such file or directory)\n"
                "  1 | include = [\"rewards/kelvin.toml\"]\n"
                "    |            ^~~~~~~~~~~~~~~~~~~~~ searched " +
                folder_.string() + " and " + built_in_configs().string() + "\n");
}

TEST_F(BuiltIn, PlansHaveNames) {
  for (const char* name : {"quickstart", "quickstart.toml"}) {
    const auto loaded = load_file(name);  // the catalog of tests lacks most of what it uses
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().message.find(built_in_configs().string() + "/quickstart.toml:"), 0u)
        << loaded.error().message;
  }
}

}  // namespace
}  // namespace krl::core
