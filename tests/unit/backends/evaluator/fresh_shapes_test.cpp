// The pool of shapes that a task's ranges give.
#include "plugins/backends/evaluator/check/fresh_shapes.hpp"

#include <gtest/gtest.h>
#include <kernelrl/sdk.hpp>

#include <algorithm>
#include <set>

namespace krl::evaluator {
namespace {

TaskDefinition rows_task() {
  TaskDefinition task;
  task.id = "rows";
  task.axes = {{"rows", ""}, {"cols", ""}};
  TensorDefinition x;
  x.name = "x";
  x.shape = {"rows", "cols"};
  task.inputs = {x};
  x.name = "y";
  task.outputs = {x};
  task.cases = {{{"rows", 29}, {"cols", 37}}, {{"rows", 96}, {"cols", 200}}};
  task.holdout = {{{"rows", 1}, {"cols", 1025}}};
  task.ranges = {{"rows", 1, 4096, 1}, {"cols", 1, 8192, 1}};
  return task;
}

std::set<std::int64_t> sizes_of(const FreshPool& pool, const std::string& axis) {
  std::set<std::int64_t> sizes;
  for (const ResolvedCase& shape : pool.shapes) sizes.insert(shape.axes.at(axis));
  return sizes;
}

TEST(FreshShapesTest, WithoutRangesThereAreNone) {
  TaskDefinition task = rows_task();
  task.ranges.clear();
  EXPECT_TRUE(make_pool(task, kUpToCases).shapes.empty());
  EXPECT_TRUE(make_pool(task, kUpToCases).sets.empty());
}

TEST(FreshShapesTest, EverySetHasEveryKindOfSizeForEveryAxis) {
  const FreshPool pool = make_pool(rows_task(), kUpToCases);
  ASSERT_EQ(pool.sets.size(), kShapeSets);
  for (const auto& set : pool.sets) {
    ASSERT_GE(set.size(), kSizeKinds + 6);
    for (const auto& [axis, shown] : {std::pair("rows", 96), std::pair("cols", 200)}) {
      bool least = false, few = false, tiles = false, behind = false, beyond = false;
      for (const std::size_t at : set) {
        const std::int64_t size = pool.shapes[at].axes.at(axis);
        least |= size == 1;
        few |= size > 1 && size < 32;
        tiles |= size % 256 == 0;
        behind |= size > 1 && size % 256 == 1;
        beyond |= size > shown;
      }
      EXPECT_TRUE(least && few && tiles && behind && beyond) << axis;
    }
  }
}

// What is linear in its elements costs an emulator little, and counters and indices of 16 bits
// overflow only then.
TEST(FreshShapesTest, EverySetHasATensorThat16BitsCannotCount) {
  const FreshPool pool = make_pool(rows_task(), kUpToCases);
  for (const auto& set : pool.sets) {
    std::int64_t most = 0, cols = 0;
    for (const std::size_t at : set) {
      most = std::max(most, pool.shapes[at].tensors[0].elements);
      cols = std::max(cols, pool.shapes[at].axes.at("cols"));
    }
    EXPECT_GT(most, 0xffff);
    EXPECT_LE(most, 5 * 0xffff / 4 + 1000) << "and no more than it takes";
    EXPECT_GT(cols, 2 * 200);
  }
}

TEST(FreshShapesTest, ASquareIsMoreThanItsSide) {
  TaskDefinition task = rows_task();
  task.work.operations = "rows * cols * cols";
  std::int64_t longest = 0;
  for (const ResolvedCase& shape : make_pool(task, kUpToCases).shapes) {
    const std::int64_t rows = shape.axes.at("rows"), cols = shape.axes.at("cols");
    longest = std::max(longest, cols);
    EXPECT_LE(rows * cols * cols, (cols > 200 ? 5 : 12) * 96 * 200 * 200 / 2) << shape.label;
  }
  EXPECT_GT(longest, 2 * 200);
}

// A block reads a row in steps of a thousand elements; a row more is a block more.
TEST(FreshShapesTest, EverySetHasRowsOfThousands) {
  const FreshPool pool = make_pool(rows_task(), kUpToCases);
  for (const auto& set : pool.sets) {
    std::int64_t rows = 0, cols = 0;
    for (const std::size_t at : set) {
      rows = std::max(rows, pool.shapes[at].axes.at("rows"));
      cols = std::max(cols, pool.shapes[at].axes.at("cols"));
    }
    EXPECT_GT(cols, 1024);
    EXPECT_LE(rows, kUpToCases.stretch * 96);
  }
}

TEST(FreshShapesTest, AreNewLongThinAndLarge) {
  const TaskDefinition task = rows_task();
  const FreshPool pool = make_pool(task, kUpToCases);
  std::set<std::string> labels;
  bool wide = false, tall = false, large = false;
  for (const ResolvedCase& shape : pool.shapes) {
    EXPECT_TRUE(labels.insert(shape.label).second) << shape.label;
    const std::int64_t rows = shape.axes.at("rows"), cols = shape.axes.at("cols");
    EXPECT_LE(rows * cols, kUpToCases.far * 96 * 200) << shape.label;
    wide |= cols > 50 * rows;
    tall |= rows > 50 * cols;
    large |= rows * cols > 4 * 96 * 200;
  }
  EXPECT_TRUE(wide && tall && large);
  for (const char* named : {"rows=29 cols=37", "rows=96 cols=200", "rows=1 cols=1025"})
    EXPECT_FALSE(labels.contains(named)) << named;
}

// A GPU has time for shapes that are larger than every small case, and for some up to a share of
// real work.
TEST(FreshShapesTest, GoUpToRealWork) {
  TaskDefinition task = rows_task();
  task.ranges = {{"rows", 1, 65536, 1}, {"cols", 1, 65536, 1}};
  task.real = {{{"rows", 8192}, {"cols", 8192}}};
  const FreshPool pool = make_pool(task, kUpToReal);
  ASSERT_EQ(pool.sets.size(), kShapeSets);
  for (const auto& set : pool.sets) {
    std::int64_t least = kMaxElements, most = 0;
    for (const std::size_t at : set) {
      const std::int64_t elements = pool.shapes[at].tensors.front().elements;
      least = std::min(least, elements);
      most = std::max(most, elements);
    }
    EXPECT_LT(least, 96 * 200);
    EXPECT_GT(most, 1 << 20);
    EXPECT_LE(most, 8192 * 8192 / 4);
  }
}

TEST(FreshShapesTest, FollowFromTheTaskAndNotFromItsTexts) {
  TaskDefinition task = rows_task(), other = rows_task();
  other.prompt = "another text";
  other.origin.file = "elsewhere.toml";
  EXPECT_EQ(sizes_of(make_pool(task, kUpToCases), "cols"),
            sizes_of(make_pool(other, kUpToCases), "cols"));
  other.id = "columns";
  EXPECT_NE(sizes_of(make_pool(task, kUpToCases), "cols"),
            sizes_of(make_pool(other, kUpToCases), "cols"));
}

TEST(FreshShapesTest, KeepToRangesAndSteps) {
  TaskDefinition task = rows_task();
  task.holdout.clear();
  task.cases = {{{"rows", 4}, {"cols", 64}}};
  task.ranges = {{"rows", 4, 12, 1}, {"cols", 32, 4096, 32}};
  const FreshPool pool = make_pool(task, kUpToCases);
  EXPECT_FALSE(pool.shapes.empty());
  for (const ResolvedCase& shape : pool.shapes) {
    EXPECT_TRUE(task.ranges[0].contains(shape.axes.at("rows"))) << shape.label;
    EXPECT_TRUE(task.ranges[1].contains(shape.axes.at("cols"))) << shape.label;
  }
}

// Of five axes hardly any shapes are of the kinds that the sets want.
TEST(FreshShapesTest, ManyAxesHaveFullSetsToo) {
  TaskDefinition task = rows_task();
  task.id = "volume";
  task.holdout.clear();
  task.axes.clear();
  task.ranges.clear();
  for (const char* axis : {"a", "b", "c", "d", "e"}) {
    task.axes.push_back({axis, ""});
    task.ranges.push_back({axis, 1, 512, 1});
  }
  task.inputs[0].shape = task.outputs[0].shape = {"a", "b", "c", "d", "e"};
  task.cases = {{{"a", 2}, {"b", 3}, {"c", 4}, {"d", 7}, {"e", 9}},
                {{"a", 3}, {"b", 4}, {"c", 6}, {"d", 13}, {"e", 11}}};
  const FreshPool pool = make_pool(task, kUpToCases);
  ASSERT_EQ(pool.sets.size(), kShapeSets);
  for (const auto& set : pool.sets) EXPECT_GE(set.size(), kSizeKinds);
  for (const char* axis : {"a", "b", "c", "d", "e"}) EXPECT_GE(sizes_of(pool, axis).size(), 5u);
  for (const ResolvedCase& shape : pool.shapes)
    EXPECT_LE(shape.tensors[0].elements, kUpToCases.far * 3 * 4 * 6 * 13 * 11) << shape.label;
}

TEST(FreshShapesTest, OneShapeAloneIsNoPool) {
  TaskDefinition task = rows_task();
  task.holdout.clear();
  task.cases = {{{"rows", 4}, {"cols", 64}}};
  task.ranges = {{"rows", 4, 4, 1}, {"cols", 64, 64, 1}};
  EXPECT_TRUE(make_pool(task, kUpToCases).sets.empty());
}

TEST(FreshShapesTest, ASizeThatMakesNoShapeIsAnErrorOfTheRanges) {
  TaskDefinition task = rows_task();
  task.axes.push_back({"valid", "cols - 4"});
  task.origin = {"t.toml", {{"ranges", {3, 11}}}};
  try {
    make_pool(task, kUpToCases);
    FAIL() << "made";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    const std::string why = failure.what();
    EXPECT_EQ(why.rfind("t.toml:3:11: at rows = ", 0), 0u) << why;
    EXPECT_NE(why.find("axes.valid: axis 'valid' is"), std::string::npos) << why;
  }
}

}  // namespace
}  // namespace krl::evaluator
