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

struct Received {
  std::string id, definition, answer, earlier, shows, document;
};

Received read(const testing::Instance<krl_dataset_v>& data, std::uint64_t index) {
  Received received;
  const auto received_by = [](const krl_dataset_sink* sink) -> Received& {
    return *static_cast<Received*>(sink->ctx);
  };
  static const auto of = received_by;
  const krl_dataset_sink sink{
      sizeof(krl_dataset_sink),
      0,
      &received,
      [](const krl_dataset_sink* s, const krl_task* task) -> krl_status {
        of(s).id = view(task->id);
        of(s).definition = view(task->definition_json);
        return KRL_OK;
      },
      [](const krl_dataset_sink* s, const krl_pair* pair) -> krl_status {
        of(s).id = view(pair->task->id);
        of(s).answer = view(pair->answer);
        of(s).earlier = view(pair->earlier[0]);
        of(s).shows = view(pair->shows);
        return KRL_OK;
      },
      [](const krl_dataset_sink* s, const krl_document* document) -> krl_status {
        of(s).id = view(document->id);
        of(s).document = copy(document->text) + "|" + copy(document->task_hint) + "|" +
                         copy(document->meta_json);
        return KRL_OK;
      }};
  data.call().require(data.table().read(data.self(), data.context(), index, &sink));
  return received;
}

TEST(PythonDataset, AGeneratorYieldsTasksAsInTaskFiles) {
  const auto data = python_plugin().create<krl_dataset_v>(
      KRL_DATASET, "python", python_file("data.py", "tasks", R"({"count": 5})"));
  std::uint64_t size = 0;
  data.call().require(data.table().size(data.self(), data.context(), &size));
  EXPECT_EQ(size, 5u);
  const Received third = read(data, 2);
  EXPECT_EQ(third.id, "scaled_copy_3");
  const auto task = parse_task_definition(third.definition);
  ASSERT_TRUE(task) << task.error();
  const std::string& text = third.definition;
  EXPECT_LT(text.find(R"("z")"), text.find(R"("a")")) << "axes keep their order: " << text;
}

TEST(PythonDataset, AClassGivesPairsAndDocuments) {
  const auto data =
      python_plugin().create<krl_dataset_v>(KRL_DATASET, "python", python_file("data.py", "Mixed"));
  const Received pair = read(data, 0);
  EXPECT_EQ(pair.id, "scaled_copy_7");
  EXPECT_EQ(pair.answer, "an answer");
  EXPECT_EQ(pair.earlier, "a first one");
  EXPECT_EQ(pair.shows, "stages");
  EXPECT_EQ(read(data, 1).document, R"(a text|relu|{"licence":"MIT"})");
}

TEST(PythonDataset, AWrongItemIsAnErrorWithItsReason) {
  const auto data =
      python_plugin().create<krl_dataset_v>(KRL_DATASET, "python", python_file("data.py", "Mixed"));
  const auto why = [&](std::uint64_t index) -> std::string {
    try {
      read(data, index);
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
