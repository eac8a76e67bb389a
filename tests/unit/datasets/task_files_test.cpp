#include "plugins/datasets/tasks/task_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace krl::tasks {
namespace {

namespace fs = std::filesystem;

const char* const kScale = R"(id     = "scale"
tier   = 0
prompt = "y[i] = alpha * x[i]"
axes   = { n = "var", half = "n / 2" }
reference = '''
def run(x, alpha: float):
    return alpha * x
'''
naive = '''__global__ void k() {}
'''
cases = [{ n = 1003 }]

[[input]]
name  = "x"
dtype = "float32"
shape = ["n"]

[[scalar]]
name  = "alpha"
dtype = "float32"
value = 1.5

[[output]]
name  = "y"
dtype = "float32"
shape = ["n"]
)";

// The errors of the text above with `from` replaced by `to`.
std::string errors_with(const std::string& from, const std::string& to) {
  std::string text = kScale;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  std::string all;
  for (const std::string& error : read_task_text(text, "scale.toml").errors) all += error + "\n";
  return all;
}

TEST(TaskFiles, ReadsATask) {
  const LoadedTasks loaded = read_task_text(kScale, "scale.toml");
  ASSERT_EQ(loaded.errors, std::vector<std::string>());
  ASSERT_EQ(loaded.tasks.size(), 1u);
  const TaskDefinition& task = loaded.tasks[0];
  EXPECT_EQ(task.title, "scale");
  EXPECT_EQ(task.axes[1].name, "half") << "the order of the file";
  EXPECT_EQ(task.scalars[0].value, "1.5");
  EXPECT_EQ(task.origin.locate("reference"), "scale.toml:6:1");
  EXPECT_EQ(task.origin.locate("naive", 1, 3), "scale.toml:9:14");
  EXPECT_EQ(task.origin.locate("input[0]"), "scale.toml:13:1");
}

TEST(TaskFiles, UnknownKey) {
  EXPECT_EQ(errors_with("tier  ", "teir  "),
            "scale.toml:2:1: error: unknown key 'teir'; did you mean 'tier'?\n"
            "   2 | teir   = 0\n"
            "     | ^~~~\n");
}

TEST(TaskFiles, BadType) {
  EXPECT_EQ(errors_with("\"float32\"", "\"flaot32\""),
            "scale.toml:15:9: error: unknown dtype 'flaot32'; did you mean 'float32'?\n"
            "  15 | dtype = \"flaot32\"\n"
            "     |         ^~~~~~~~~\n");
}

TEST(TaskFiles, UnknownAxisInsideAnExpression) {
  EXPECT_EQ(errors_with("shape = [\"n\"]", "shape = [\"2 * hal\"]"),
            "scale.toml:16:15: error: unknown axis 'hal'; did you mean 'half'?\n"
            "  16 | shape = [\"2 * hal\"]\n"
            "     |               ^~~\n");
}

TEST(TaskFiles, CaseThatLacksAnAxis) {
  EXPECT_EQ(errors_with("{ n = 1003 }", "{ }"),
            "scale.toml:11:10: error: the case gives no value to axis 'n'\n"
            "  11 | cases = [{ }]\n"
            "     |          ^\n");
}

TEST(TaskFiles, RangesWithoutACase) {
  EXPECT_EQ(errors_with("cases ", "ranges = { n = [1, 512] }\ncases "),
            "scale.toml:12:16: error: n = 1003 is not in its range\n"
            "  12 | cases = [{ n = 1003 }]\n"
            "     |                ^~~~\n");
}

TEST(TaskFiles, RangeOfAnUnknownAxis) {
  EXPECT_EQ(errors_with("cases ", "ranges = { n = [1, 4096], m = [1, 9] }\ncases "),
            "scale.toml:11:27: error: 'm' is not a variable axis; known: n\n"
            "  11 | ranges = { n = [1, 4096], m = [1, 9] }\n"
            "     |                           ^\n");
}

TEST(TaskFiles, EmptyRange) {
  EXPECT_EQ(errors_with("cases ", "ranges = { n = [9, 1] }\ncases "),
            "scale.toml:11:16: error: the range is empty: 9 is above 1\n"
            "  11 | ranges = { n = [9, 1] }\n"
            "     |                ^\n");
}

TEST(TaskFiles, MissingTensor) {
  EXPECT_EQ(errors_with("[[output]]", "[[input]]"),
            "scale.toml:1:1: error: the task has no output: add an [[output]] table\n"
            "   1 | id     = \"scale\"\n"
            "     | ^~\n");
}

TEST(TaskFiles, MissingKeyOfATensor) {
  EXPECT_EQ(errors_with("name  = \"x\"\n", ""),
            "scale.toml:13:1: error: 'name' is missing\n"
            "  13 | [[input]]\n"
            "     | ^\n");
}

TEST(TaskFiles, NameTakenTwice) {
  EXPECT_EQ(errors_with("\"alpha\"", "\"x\""),
            "scale.toml:19:9: error: the name 'x' is taken\n"
            "  19 | name  = \"x\"\n"
            "     |         ^~~\n");
}

TEST(TaskFiles, SyntaxError) {
  const std::string errors = errors_with("tier   = 0", "tier   = ");
  EXPECT_EQ(errors.substr(0, errors.find(": error:")), "scale.toml:2:10");
  EXPECT_NE(errors.find("   2 | tier   = \n"), std::string::npos) << errors;
}

TEST(TaskFiles, AllErrorsOfAFileInTheirOrder) {
  std::string text = kScale;
  text.replace(text.find("\"float32\""), 9, "\"float3\"");
  text.replace(text.find("tier"), 4, "tire");
  text.replace(text.find("n = 1003"), 8, "m = 1003");
  const std::vector<std::string> errors = read_task_text(text, "t").errors;
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0].substr(0, 6), "t:2:1:");
  EXPECT_EQ(errors[1].substr(0, 8), "t:11:10:");
  EXPECT_EQ(errors[2].substr(0, 8), "t:11:12:");
  EXPECT_EQ(errors[3].substr(0, 7), "t:15:9:");
}

class TaskFolder : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_ / "sub"); }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  // One of its own for each process: tests of this fixture run side by side.
  const fs::path folder_ =
      fs::path(::testing::TempDir()) / ("kernelrl_task_folder_" + std::to_string(::getpid()));
};

TEST_F(TaskFolder, IsReadRecursivelyAndInOrder) {
  std::string other = kScale;
  other.replace(other.find("\"scale\""), 7, "\"other\"");
  write("sub/a.toml", other);
  write("z.toml", kScale);
  write("notes.txt", "not a task");
  const LoadedTasks loaded = load_tasks(folder_);
  ASSERT_EQ(loaded.errors, std::vector<std::string>());
  ASSERT_EQ(loaded.tasks.size(), 2u);
  EXPECT_EQ(loaded.tasks[0].id, "other");
}

TEST_F(TaskFolder, IdsAreUnique) {
  write("a.toml", kScale);
  write("b.toml", kScale);
  const LoadedTasks loaded = load_tasks(folder_);
  ASSERT_EQ(loaded.errors.size(), 1u);
  EXPECT_EQ(loaded.errors[0], (folder_ / "b.toml").string() +
                                  ": error: the id 'scale' is taken by " +
                                  (folder_ / "a.toml").string());
}

TEST_F(TaskFolder, ErrorsOfAllFilesAreListed) {
  write("a.toml", "x = [");
  write("b.toml", "id = 3");
  EXPECT_GE(load_tasks(folder_).errors.size(), 3u);
}

TEST_F(TaskFolder, WithoutTasksIsAnError) {
  EXPECT_EQ(load_tasks(folder_).errors.size(), 1u);
  EXPECT_EQ(load_tasks(folder_ / "nowhere.toml").errors,
            std::vector<std::string>{(folder_ / "nowhere.toml").string() +
                                     ": error: cannot read the file"});
}

TEST(TaskConfigs, AllLoad) {
  const LoadedTasks loaded = load_tasks(KERNELRL_SOURCE_DIR "/configs/tasks");
  EXPECT_EQ(loaded.errors, std::vector<std::string>());
  std::vector<int> in_tier(4, 0);
  for (const TaskDefinition& task : loaded.tasks) {
    ASSERT_LT(task.tier, 4) << task.id;
    ++in_tier[static_cast<std::size_t>(task.tier)];
    EXPECT_FALSE(task.naive.empty()) << task.id;
    EXPECT_GE(task.cases.size(), 2u) << task.id;
    EXPECT_GE(task.holdout.size(), 1u) << task.id;
    EXPECT_FALSE(task.ranges.empty()) << task.id;
    const std::string folder = "/tier" + std::to_string(task.tier) + "/" + task.id + ".toml";
    EXPECT_NE(task.origin.file.find(folder), std::string::npos)
        << "a task's file is named after it: " << task.id;
  }
  for (const int count : in_tier) EXPECT_GE(count, 7);
}

}  // namespace
}  // namespace krl::tasks
