// Thousands of damaged texts: whatever a model or a stranger writes, the readers return.
#include <gtest/gtest.h>
#include <kernelrl/launch.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/sdk/task_texts.hpp"

namespace krl {
namespace {

// Returns `text` with a few bytes changed, cut out, doubled or put in.
std::string damage(std::string text, std::mt19937* random) {
  static const std::string kBytes = "()[]{}<>,;:+-*/%?!&|=\"'\\\n\r\t /@#$.0129aefnxR_\x01\x80\xff";
  const std::size_t changes = 1 + (*random)() % 6;
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = (*random)() % (text.size() + 1);
    const std::size_t length = (*random)() % 8;
    switch ((*random)() % 4) {
      case 0:
        text.insert(at, 1, kBytes[(*random)() % kBytes.size()]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr((*random)() % (text.size() + 1), length * 4));
        break;
      default:
        if (at < text.size()) text[at] = kBytes[(*random)() % kBytes.size()];
    }
  }
  return text;
}

TEST(HostileText, Expressions) {
  std::mt19937 random(1);
  const IntegerNames integers = {{"n", 7}, {"x.size", 9}};
  const RealNames reals = {{"n", 7.0}, {"kernel/pass_rate", 0.5}};
  std::size_t read = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text =
        damage("dim3(ceil_div(n, 256), min(n % 3, x.size) > 2 ? -1.5e3 : !n)", &random);
    const auto expression =
        Expression::parse(text, i % 2 == 0 ? NameStyle::kPlain : NameStyle::kMetrics);
    if (!expression) {
      EXPECT_LE(expression.error().offset, text.size());
      EXPECT_FALSE(expression.error().message.empty());
      continue;
    }
    ++read;
    static_cast<void>(expression->integer(integers));
    static_cast<void>(expression->real(reals));
    static_cast<void>(expression->dim3(integers));
  }
  EXPECT_GT(read, 100u) << "the damage must leave some texts readable";
}

TEST(HostileText, CandidateSources) {
  const TaskDefinition task = softmax_task();
  const auto resolved = resolve_case(task, task.cases[0]);
  std::mt19937 random(2);
  const std::string source = R"(// @scratch part float[ceil_div(x.size, 32)]
// @launch k<float, 4><<<dim3(part.size, 1), 256, 32 * 4>>>(x, part, rows * cols, scale)
template <class T, int N>
__global__ void __launch_bounds__(256) k(const T* x, float* part, int n, float s) { /* "no" */ }
const char* text = R"x( // @launch bad )x"; // done \
)";
  std::size_t read = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string damaged = damage(source, &random);
    const auto program = read_launches(damaged, task);
    if (!program) {
      EXPECT_GE(program.error().line, 1);
      EXPECT_GE(program.error().column, 1);
      EXPECT_FALSE(program.error().message.empty());
      continue;
    }
    ++read;
    EXPECT_FALSE(program->launches.empty());
    static_cast<void>(resolve_launches(*program, *resolved));
  }
  EXPECT_GT(read, 100u);
}

TEST(HostileText, Definitions) {
  std::mt19937 random(3);
  std::size_t read = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto task = parse_task_definition(damage(kSoftmaxJson, &random));
    if (!task) {
      EXPECT_FALSE(task.error().empty());
    } else {
      ++read;
      EXPECT_TRUE(parse_task_definition(to_json_text(*task)));
    }
  }
  EXPECT_GT(read, 50u);
}

TEST(HostileText, LongSourcesAreReadInOnePass) {
  const TaskDefinition task = softmax_task();
  std::string splices;
  for (int i = 0; i < 200000; ++i) splices += "\\\n";
  EXPECT_FALSE(read_launches(splices, task));
  EXPECT_FALSE(read_launches(std::string(1000000, '('), task));
  EXPECT_FALSE(read_launches("__global__ void k" + std::string(1000000, '('), task));
  EXPECT_FALSE(read_launches(std::string(1000000, '"'), task));
}

}  // namespace
}  // namespace krl
