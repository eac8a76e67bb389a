// A dataset in Python: tasks, pairs, documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelrl/task_definition.hpp>

#include "tests/unit/python_components/python_file.hpp"

namespace krl {
namespace {

using ::testing::HasSubstr;
using testing::python_file;
using testing::python_plugin;

testing::DatasetInstance dataset(const std::string& object, const std::string& options = "{}") {
  return python_plugin().dataset("python", python_file("data.py", object, options));
}

TEST(PythonDataset, AGeneratorYieldsTasksAsInTaskFiles) {
  const auto data = dataset("tasks", R"({"count": 5})");
  EXPECT_EQ(data.size(), 5u);
  const testing::Item third = data.read(2);
  EXPECT_EQ(third.id, "scaled_copy_3");
  const auto task = parse_task_definition(third.definition_json);
  ASSERT_TRUE(task) << task.error();
  const std::string& text = third.definition_json;
  EXPECT_LT(text.find(R"("z")"), text.find(R"("a")")) << "axes keep their order: " << text;
}

TEST(PythonDataset, AClassGivesPairsAndDocuments) {
  const auto data = dataset("Mixed");
  const testing::Item pair = data.read(0);
  EXPECT_EQ(pair.kind, "pair");
  EXPECT_EQ(pair.id, "scaled_copy_7");
  EXPECT_EQ(pair.answer, "an answer");
  EXPECT_EQ(pair.earlier, (std::vector<std::string>{"a first one"}));
  EXPECT_EQ(pair.shows, "stages");
  const testing::Item document = data.read(1);
  EXPECT_EQ(document.text, "a text");
  EXPECT_EQ(document.task_hint, "relu");
  EXPECT_EQ(document.meta_json, R"({"licence":"MIT"})");
}

TEST(PythonDataset, AWrongItemIsAnErrorWithItsReason) {
  const auto data = dataset("Mixed");
  const auto why = [&](std::uint64_t index) -> std::string {
    try {
      data.read(index);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_THAT(why(2), HasSubstr("a task of the dataset is wrong"));
  EXPECT_THAT(why(2), HasSubstr("dtype"));
  EXPECT_THAT(why(3), HasSubstr("a Pair or a Document, not int"));
}

}  // namespace
}  // namespace krl
