#include <gtest/gtest.h>
#include <kernelrl/task_definition.hpp>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/sdk/task_texts.hpp"

namespace krl {
namespace {

using Json = nlohmann::ordered_json;

// The softmax task with one member set to the value that `text` gives, and what is wrong with it.
std::string problems_with(const std::string& pointer, const std::string& text) {
  Json json = Json::parse(kSoftmaxJson);
  json[Json::json_pointer(pointer)] = Json::parse(text);
  const auto task = parse_task_definition(json.dump());
  return task ? "" : task.error();
}

std::string problems_without(const std::string& key) {
  Json json = Json::parse(kSoftmaxJson);
  json.erase(key);
  const auto task = parse_task_definition(json.dump());
  return task ? "" : task.error();
}

TEST(TaskDefinition, ReadsEverything) {
  const TaskDefinition task = softmax_task();
  EXPECT_EQ(task.id, "softmax_rows");
  EXPECT_EQ(task.tier, 2);
  ASSERT_EQ(task.axes.size(), 4u);
  EXPECT_EQ(task.axes[0].name, "rows");
  EXPECT_TRUE(task.axes[0].is_variable());
  EXPECT_EQ(task.axes[2].size, "cols / 2");
  EXPECT_EQ(task.axes[3].size, "5");
  EXPECT_EQ(task.inputs[1].values, ValueKind::kIntegers);
  EXPECT_EQ(task.inputs[1].bounds, (std::vector<std::string>{"0", "cols"}));
  EXPECT_EQ(task.scalars[1].dtype, DType::kInt32);
  EXPECT_EQ(task.tolerance.rtol, 0.001);
  EXPECT_EQ(resolve_case(task, task.cases[0])->terms, 5 * 16);
  EXPECT_EQ(task.holdout[0].at("cols"), 4);
  EXPECT_EQ(task.work.operations, "5 * rows * half");
  EXPECT_EQ(task.forbid, std::vector<std::string>{"asm"});
}

TEST(TaskDefinition, SurvivesTheWayThroughJson) {
  const std::string text = to_json_text(softmax_task());
  const auto again = parse_task_definition(text);
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(to_json_text(*again), text);
  EXPECT_EQ(again->axes[3].name, "taps") << "the order of the axes is kept";
}

TEST(TaskDefinition, TheStructureOfAMatrixSurvivesTheWayThroughJson) {
  TaskDefinition task = softmax_task();
  task.inputs[0].shape = {"cols", "cols"};
  task.inputs[0].structure = Structure::kLowerTriangular;
  const auto again = parse_task_definition(to_json_text(task));
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->inputs[0].structure, Structure::kLowerTriangular);
}

TEST(TaskDefinition, TheNumbersOfADistributionAreExpressionsOfTheAxes) {
  TaskDefinition task = softmax_task();
  TensorDefinition mask = task.inputs[0], offsets = task.inputs[0];
  mask.name = "mask", mask.values = ValueKind::kBernoulli, mask.probability = "1 / cols";
  offsets.name = "offsets", offsets.values = ValueKind::kOffsets, offsets.dtype = DType::kInt32;
  offsets.bounds = {"0", "rows"};
  task.inputs[0].mean = "-2", task.inputs[0].deviation = "sqrt(cols)";
  task.inputs.push_back(mask);
  task.inputs.push_back(offsets);
  const auto again = parse_task_definition(to_json_text(task));
  ASSERT_TRUE(again) << again.error();
  const auto resolved = resolve_case(*again, {{"rows", 3}, {"cols", 64}});
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->find("x")->low, -2);
  EXPECT_EQ(resolved->find("x")->high, 8);
  EXPECT_EQ(resolved->find("mask")->high, 1.0 / 64);
  EXPECT_EQ(resolved->find("offsets")->values, ValueKind::kOffsets);
  EXPECT_EQ(resolved->find("offsets")->high, 3);
}

TEST(TaskDefinition, RealSizesSurviveTheWayThroughJsonAndLieInTheRanges) {
  TaskDefinition task = softmax_task();
  task.real = {{{"rows", 8192}, {"cols", 8192}}};
  task.ranges = {{"rows", 1, 8192, 1}, {"cols", 4, 8192, 4}};
  const auto again = parse_task_definition(to_json_text(task));
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->real, task.real);
  task.ranges.back().high = 4096;
  EXPECT_EQ(parse_task_definition(to_json_text(task)).error(),
            "real[0].cols: cols = 8192 is not in its range");
}

TEST(TaskDefinition, RangesSurviveTheWayThroughJson) {
  TaskDefinition task = softmax_task();
  task.ranges = {{"rows", 1, 4096, 1}, {"cols", 4, 8192, 4}};
  const auto again = parse_task_definition(to_json_text(task));
  ASSERT_TRUE(again) << again.error();
  ASSERT_EQ(again->ranges.size(), 2u);
  EXPECT_EQ(again->ranges[0].high, 4096);
  EXPECT_EQ(again->ranges[1].axis, "cols");
  EXPECT_EQ(again->ranges[1].step, 4);
  EXPECT_TRUE(again->ranges[1].contains(8));
  EXPECT_FALSE(again->ranges[1].contains(9));
}

TEST(TaskDefinition, ResolvesACase) {
  const TaskDefinition task = softmax_task();
  const auto resolved = resolve_case(task, task.cases[0]);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->label, "rows=3 cols=16");
  EXPECT_EQ(resolved->axes.at("half"), 8);
  EXPECT_EQ(resolved->operations, 5 * 3 * 8);
  EXPECT_EQ(resolved->least_bytes, 4 * (3 * 16 + 3 + 3 * 8)) << "x, keys and y, each once";
  ASSERT_EQ(resolved->tensors.size(), 3u);
  EXPECT_EQ(resolved->tensors[0].shape, (std::vector<std::int64_t>{3, 16}));
  EXPECT_EQ(resolved->tensors[1].high, 16.0);
  EXPECT_EQ(resolved->find("y")->elements, 24);
  EXPECT_EQ(resolved->find("y")->bytes(), 96);
  EXPECT_TRUE(resolved->find("y")->is_output);
  EXPECT_FALSE(resolved->find("y")->is_input);
  EXPECT_EQ(resolved->find("z"), nullptr);
  EXPECT_EQ(resolved->scalars[0].real, 0.25);
  EXPECT_EQ(resolved->scalars[1].integer, 4);
}

TEST(TaskDefinition, AnOutputWithAnInputsNameIsComputedInPlace) {
  Json json = Json::parse(kSoftmaxJson);
  json["output"] = Json::parse(R"([{"name": "x", "dtype": "float32", "shape": ["rows", "cols"]}])");
  const auto task = parse_task_definition(json.dump());
  ASSERT_TRUE(task) << task.error();
  const auto resolved = resolve_case(*task, task->cases[0]);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->tensors.size(), 2u);
  EXPECT_TRUE(resolved->tensors[0].is_input && resolved->tensors[0].is_output);
}

TEST(TaskDefinition, LocatesPlacesInItsFile) {
  const TaskOrigin origin = softmax_task().origin;
  EXPECT_EQ(origin.locate("reference"), "t.toml:12:1");
  EXPECT_EQ(origin.locate("reference", 3, 5), "t.toml:14:5");
  EXPECT_EQ(origin.locate("naive", 1, 4), "t.toml:20:12");
  EXPECT_EQ(origin.locate("elsewhere", 2, 2), "t.toml");
  EXPECT_EQ(TaskOrigin().locate("naive"), "");
}

TEST(TaskDefinition, EveryKindOfProblemIsNamed) {
  const std::vector<std::tuple<std::string, std::string, std::string>> expectations = {
      {"/tolerence", "{}", "tolerence: unknown key 'tolerence'; did you mean 'tolerance'?"},
      {"/input/0/dtipe", "1", "input[0].dtipe: unknown key 'dtipe'; did you mean 'dtype'?"},
      {"/id", "\"a b\"", "id: an id is 1 to 128 letters, digits, '_', '-', '.' and '/'"},
      {"/id", "7", "id: 'id' must be a string"},
      {"/tier", "-1", "tier: 'tier' must be an integer from 0 to 9"},
      {"/axes/half", "\"\"",
       "axes.half: an axis is \"var\", an integer, or an expression of the axes before it"},
      {"/axes/half", "\"cols / (2\"", "axes.half: expected ')', found the end"},
      {"/axes/half", "\"taps\"", "axes.half: unknown axis 'taps'; known: rows, cols"},
      {"/axes/rows", "\"3\"",
       "cases[0].rows: 'rows' is not a variable axis; known: cols\n"
       "holdout[0].rows: 'rows' is not a variable axis; known: cols"},
      {"/axes/taps", "0",
       "axes.taps: axis 'taps' is 0; it must be positive (in cases[0])\n"
       "axes.taps: axis 'taps' is 0; it must be positive (in holdout[0])"},
      {"/input/0/dtype", "\"flaot32\"",
       "input[0].dtype: unknown dtype 'flaot32'; did you mean 'float32'?"},
      {"/input/0/values", "\"permutatoin\"",
       "input[0].values: unknown values 'permutatoin'; did you mean 'permutation'?"},
      {"/input/1/values", "\"normal\"",
       "input[1].values: 'normal' is not for int32; use \"integers\" with bounds\n"
       "input[1].bounds: 'normal' has no bounds"},
      {"/input/0/values", "\"sorted\"",
       "input[0].values: 'sorted' is for int32 and int64\n"
       "input[0]: sorted needs bounds = [\"0\", \"9\"], the second excluded"},
      {"/input/0/values", "\"bernoulli\"",
       "input[0]: bernoulli needs the probability of a 1: probability = 0.1"},
      {"/input/0/probability", "0.5", "input[0].probability: only \"bernoulli\" has a probability"},
      {"/input/0/deviation", "-1",
       "input[0].deviation: it is -1.000000; it must be positive (in cases[0])\n"
       "input[0].deviation: it is -1.000000; it must be positive (in holdout[0])"},
      {"/input/1/bounds", "[1]",
       "input[1].bounds: bounds are two numbers, the second excluded: [\"0\", \"n\"]"},
      {"/input/1/bounds", "[5, 5]",
       "input[1].bounds: the first bound must be below the second (in cases[0])\n"
       "input[1].bounds: the first bound must be below the second (in holdout[0])"},
      {"/input/0/structure", "\"lower\"",
       "input[0].structure: unknown structure 'lower'; known: general, symmetric, lower_triangular, "
       "upper_triangular"},
      {"/input/0/structure", "\"symmetric\"",
       "input[0].structure: its last two axes must be the same: a square matrix"},
      {"/input/0/shape", "[]", "input[0].shape: a tensor has 1 to 8 dimensions"},
      {"/input/0/shape", "[\"colz\"]",
       "input[0].shape[0]: unknown axis 'colz'; did you mean 'cols'?"},
      {"/input/0/shape", "[true]", "input[0].shape[0]: expected an expression or a number"},
      {"/input/0/name", "\"2x\"", "input[0].name: '2x' is not a C++ identifier"},
      {"/input/0/name", "\"rows\"", "input[0].name: the name 'rows' is taken"},
      {"/input/0", "3", "input[0]: expected a table"},
      {"/input", "{}", "input: 'input' must be an array"},
      {"/scalar/0/dtype", "\"float16\"", "scalar[0].dtype: a scalar is float32, int32 or int64"},
      {"/scalar/0/value", "\"1 / (cols - 16)\"", "scalar[0].value: division by zero (in cases[0])"},
      {"/scalar/0/name", "\"x\"", "scalar[0].name: the name 'x' is taken"},
      {"/output", "[]", "the task has no output: add an [[output]] table"},
      {"/output/0/values", "\"normal\"",
       "output[0].values: unknown key 'values'; known: name, dtype, shape"},
      {"/output/0/name", "\"x\"",
       "output[0]: 'x' is also an input, of another type or shape (in cases[0])\n"
       "output[0]: 'x' is also an input, of another type or shape (in holdout[0])"},
      {"/output/0/name", "\"scale\"", "output[0].name: the name 'scale' is taken"},
      {"/reference", "\"return x\"", "reference: the reference must define `def run(…)`"},
      {"/cases", "[]", "the task has no cases: add cases = [{ … }]"},
      {"/cases/0", "{\"rows\": 3}", "cases[0]: the case gives no value to axis 'cols'"},
      {"/cases/0/rows", "0", "cases[0].rows: the size of an axis must be a positive integer"},
      {"/cases/0/rowz", "4", "cases[0].rowz: 'rowz' is not a variable axis; did you mean 'rows'?"},
      {"/cases/0/cols", "1", "axes.half: axis 'half' is 0; it must be positive (in cases[0])"},
      {"/cases/0/rows", "9000000000000000000",
       "input[0].shape[0]: the tensor has too many elements (in cases[0])"},
      {"/ranges", "3", "ranges: 'ranges' must be a table: ranges = { n = [1, 4096] }"},
      {"/ranges", R"({"cols": [4, 64]})",
       "ranges: axis 'rows' has no range; give ranges for all variable axes, or for none"},
      {"/ranges", R"({"rows": [1, 9], "colz": [4, 64], "cols": [4, 64]})",
       "ranges.colz: 'colz' is not a variable axis; did you mean 'cols'?"},
      {"/ranges", R"({"rows": [9, 1], "cols": [4, 64]})",
       "ranges.rows: the range is empty: 9 is above 1"},
      {"/ranges", R"({"rows": [1, 9], "cols": [0, 64]})",
       "ranges.cols: a range is two positive integers, both inclusive, and optionally a step: [1, 4096] "
       "or [32, 4096, 32]"},
      {"/ranges", R"({"rows": [4, 9], "cols": [4, 15]})",
       "cases[0].rows: rows = 3 is not in its range\n"
       "cases[0].cols: cols = 16 is not in its range"},
      {"/ranges", R"({"rows": [1, 9], "cols": [16, 64, 16]})",
       "holdout[0].cols: cols = 4 is not in its range"},
      {"/tolerance/rtol", "-1", "tolerance.rtol: expected a number that is not negative"},
      {"/tolerance/terms", "3", "tolerance.terms: 'terms' must be a string"},
      {"/tolerance/terms", R"("0 * cols")",
       "tolerance.terms: it is 0.000000; it must be positive (in cases[0])\n"
       "tolerance.terms: it is 0.000000; it must be positive (in holdout[0])"},
      {"/forbid", "[1]", "forbid[0]: expected an identifier as a string"},
      {"/origin/positions/naive", "[1]", "origin.positions.naive: expected [line, column]"},
  };
  for (const auto& [pointer, text, problems] : expectations) {
    const std::string found = problems_with(pointer, text);
    if (pointer == "/axes/half") {
      EXPECT_EQ(found.substr(0, problems.size()), problems) << pointer << " = " << text;
    } else {
      EXPECT_EQ(found, problems) << pointer << " = " << text;
    }
  }
}

TEST(TaskDefinition, RequiredKeysAreAskedFor) {
  for (const char* key : {"id", "prompt", "reference", "axes"}) {
    EXPECT_NE(problems_without(key).find("'" + std::string(key) + "' is missing"),
              std::string::npos)
        << key;
  }
  EXPECT_EQ(problems_without("cases"), "the task has no cases: add cases = [{ … }]");
  for (const char* key : {"title", "tier", "naive", "real", "holdout", "ranges", "tolerance",
                          "work", "forbid", "origin"}) {
    EXPECT_EQ(problems_without(key), "") << key;
  }
}

TEST(TaskDefinition, WorkIsPositiveAndOfTheAxes) {
  EXPECT_EQ(problems_with("/work/bytes", R"("4 * rows")"), "");
  EXPECT_EQ(problems_with("/work", "3"),
            "work: 'work' must be a table: { operations = \"2 * m * n * k\" }");
  EXPECT_EQ(problems_with("/work/operations", R"("rows - 3")"),
            "work.operations: it is 0.000000; it must be positive (in cases[0])");
  EXPECT_NE(problems_with("/work/bytes", R"("4 * rwos")").find("work.bytes: "), std::string::npos);
  EXPECT_NE(problems_with("/work/flops", R"("rows")").find("work.flops: "), std::string::npos);
}

TEST(TaskDefinition, AnInPlaceTensorIsReadAndWritten) {
  Json json = Json::parse(kSoftmaxJson);
  json["output"][0] = {{"name", "x"}, {"dtype", "float32"}, {"shape", {"rows", "cols"}}};
  const auto task = parse_task_definition(json.dump());
  ASSERT_TRUE(task) << task.error();
  EXPECT_EQ(resolve_case(*task, task->cases[0])->least_bytes, 4 * (2 * 3 * 16 + 3));
}

TEST(TaskDefinition, NoJsonAndNoTable) {
  EXPECT_EQ(parse_task_definition("{").error(), "the task definition is not valid JSON");
  EXPECT_EQ(parse_task_definition("[1]").error(), "a task definition must be a table");
  EXPECT_EQ(parse_task_definition(std::string(100000, '[')).error(),
            "the task definition is not valid JSON");
}

}  // namespace
}  // namespace krl
