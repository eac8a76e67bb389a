// Every task and every kind of generated answer, judged by the real `cpu` backend: a wrong example
// is a bug.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/datasets/tasks/task_files.hpp"
#include "plugins/datasets/templates/generator.hpp"
#include "plugins/datasets/templates/proposer.hpp"
#include "plugins/datasets/templates/slips.hpp"
#include "tests/unit/datasets/cpu_backend.hpp"

namespace krl {
namespace {

const testing::CpuBackend& backend() {
  static const testing::CpuBackend instance;
  return instance;
}

TEST(EvaluatedKernels, TasksAreSoundAndTheirNaiveKernelsRight) {
  const tasks::LoadedTasks loaded = tasks::load_tasks(KERNELRL_SOURCE_DIR "/configs/tasks");
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors.front();
  for (const TaskDefinition& task : loaded.tasks) {
    EXPECT_EQ(backend().prepare(task), "") << task.id;
    const auto result = backend().evaluate(task, task.naive,
                                           KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT);
    EXPECT_EQ(result.verdict, Verdict::kOk) << task.id << ": " << result.why;
  }
}

// The naive kernel with every float rounded toward zero to bfloat16 before it is stored.
TEST(EvaluatedKernels, BFloat16PrecisionIsNotEnough) {
  const std::string truncate =
      "__device__ float krop(float v) { return __int_as_float(__float_as_int(v) & 0xffff0000); }\n";
  const tasks::LoadedTasks loaded = tasks::load_tasks(KERNELRL_SOURCE_DIR "/configs/tasks/tier0");
  for (const TaskDefinition& task : loaded.tasks) {
    const std::string store = task.outputs.front().name + "[i] = ";
    std::string source = task.naive;
    const std::size_t begin = source.find(store);
    ASSERT_NE(begin, std::string::npos) << task.id;
    source.insert(source.find(';', begin), ")");
    source.insert(begin + store.size(), "krop(");
    source.insert(source.find("__global__"), truncate);
    EXPECT_EQ(backend().evaluate(task, source).verdict, Verdict::kWrongResult) << task.id << "\n"
                                                                               << source;
  }
}

// Those whose kernels are not by hand.
std::vector<templates::Family> generated_families() {
  std::vector<templates::Family> families;
  for (const templates::Family& family : templates::all_families())
    if (family.words.empty()) families.push_back(family);
  return families;
}

std::string broken_source(const templates::Pair& pair) {
  const std::size_t begin = pair.earlier_answer->find("```cuda\n") + 8;
  return pair.earlier_answer->substr(begin, pair.earlier_answer->find("```\n", begin) - begin);
}

void expect_right(const templates::Family& family, std::uint64_t seed) {
  templates::Random random(3, seed);
  for (const templates::Operation& operation : family.operations) {
    for (const templates::Variant& variant : family.variants) {
      if (!variant.fits(operation)) continue;
      const bool canonical = random.chance(0.5);
      const auto names = canonical ? templates::canonical_names(operation)
                                   : templates::random_names(operation, &random);
      const TaskDefinition task = templates::Generator::task(family, operation, names);
      const std::string source = templates::Generator::kernel(operation, variant, names, &random);
      const bool holdouts = !variant.mechanisms.empty();  // shapes that suit no vector, no warp
      const auto result = backend().evaluate(
          task, source, KRL_STAGE_COMPILE | KRL_STAGE_CHECK | (holdouts ? KRL_STAGE_HOLDOUT : 0));
      EXPECT_EQ(result.verdict, Verdict::kOk)
          << operation.id << "/" << variant.name << ": " << result.why << "\n"
          << source;
    }
  }
}

class EveryFamily : public ::testing::TestWithParam<std::size_t> {};

TEST_P(EveryFamily, EveryVariantIsRightForEveryOperation) {
  expect_right(generated_families()[GetParam()], GetParam());
}

class EveryTritonFamily : public ::testing::TestWithParam<std::size_t> {};

TEST_P(EveryTritonFamily, EveryVariantIsRightForEveryOperation) {
  expect_right(templates::triton_families()[GetParam()], GetParam());
}

INSTANTIATE_TEST_SUITE_P(Templates, EveryTritonFamily,
                         ::testing::Range<std::size_t>(0, templates::triton_families().size()),
                         [](const auto& info) {
                           return templates::triton_families()[info.param].name;
                         });

// How a slip shows. A repair whose broken kernel passes would teach to change what is right.
const std::map<std::string, std::set<Verdict>> kVerdictsOfSlip = {
    {"missing_bound_check", {Verdict::kRuntimeFault}},
    {"wrong_index", {Verdict::kWrongResult, Verdict::kRuntimeFault}},
    {"missing_barrier", {Verdict::kRuntimeFault, Verdict::kWrongResult}},
    {"wrong_operator", {Verdict::kWrongResult}},
    {"undeclared_name", {Verdict::kCompileError}},
    {"missing_argument", {Verdict::kLaunchError}},
    {"missing_semicolon", {Verdict::kCompileError}},
};

TEST_P(EveryFamily, SlipsBreakTheKernel) {
  const templates::Generator generator({generated_families()[GetParam()]}, {5, 0.5, 1.0, false});
  std::set<std::pair<std::string, std::string>> seen;  // variant, slip
  for (std::uint64_t index = 0; index < 30; ++index) {
    const templates::Pair pair = generator.generate(index);
    if (!seen.insert({pair.variant, pair.slip}).second) continue;
    const std::string source = broken_source(pair);
    const auto result = backend().evaluate(pair.task, source);
    EXPECT_EQ(kVerdictsOfSlip.at(pair.slip).count(result.verdict), 1u)
        << pair.task.id << "/" << pair.variant << " " << pair.slip << ": verdict "
        << name_of(result.verdict) << ", " << result.why << "\n"
        << source;
  }
}

INSTANTIATE_TEST_SUITE_P(Templates, EveryFamily,
                         ::testing::Range<std::size_t>(0, generated_families().size()),
                         [](const auto& info) { return generated_families()[info.param].name; });

// Kernels by hand, which tests/by_hand checks at every shape: here under other names, one of each
// task; KERNELRL_ALL_VARIANTS=1: all.
class EveryTaskFamily : public ::testing::TestWithParam<std::size_t> {};
constexpr std::size_t kShards = 4;

TEST_P(EveryTaskFamily, KernelsAreRightUnderOtherNames) {
  const bool all = std::getenv("KERNELRL_ALL_VARIANTS") != nullptr;
  const std::vector<templates::Family>& families = templates::all_families();
  for (std::size_t f = GetParam(); f < families.size(); f += kShards) {
    const templates::Family& family = families[f];
    if (family.words.empty()) continue;
    templates::Random random(3, f);
    for (const templates::Operation& operation : family.operations) {
      const auto names = templates::random_names(operation, &random, family.words);
      const TaskDefinition task = templates::Generator::task(family, operation, names);
      if (!operation.canonical) {
        EXPECT_EQ(backend().prepare(task), "") << operation.id;
      }
      const std::size_t chosen = random.below(family.variants.size());
      for (std::size_t v = all ? 0 : chosen; v < (all ? family.variants.size() : chosen + 1); ++v) {
        const std::string source =
            templates::Generator::kernel(operation, family.variants[v], names, &random);
        const auto result = backend().evaluate(task, source);
        EXPECT_EQ(result.verdict, Verdict::kOk) << operation.id << ": " << result.why << "\n"
                                                << source;
      }
    }
    const templates::Pair repair = templates::Generator({family}, {5, 0.5, 1.0, false}).generate(f);
    const auto result = backend().evaluate(repair.task, broken_source(repair));
    EXPECT_EQ(kVerdictsOfSlip.at(repair.slip).count(result.verdict), 1u)
        << repair.task.id << " " << repair.slip << "\n"
        << broken_source(repair);
  }
}

INSTANTIATE_TEST_SUITE_P(Templates, EveryTaskFamily, ::testing::Range<std::size_t>(0, kShards));

// Of proposed tasks a sample; KERNELRL_PROPOSALS=2000 is a sweep.
class EveryProposal : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(EveryProposal, IsSoundAndEveryVariantIsRight) {
  const char* const wanted = std::getenv("KERNELRL_PROPOSALS");
  const templates::Proposals proposals =
      templates::propose(GetParam(), wanted != nullptr ? std::atoi(wanted) : 18, 6);
  templates::Random random(GetParam(), 0);
  for (const auto& [f, o] : proposals.places) {
    const templates::Family& family = proposals.families[f];
    const templates::Operation& operation = family.operations[o];
    const auto names = random.chance(0.5) ? templates::canonical_names(operation)
                                          : templates::random_names(operation, &random);
    const TaskDefinition task = templates::Generator::task(family, operation, names);
    EXPECT_EQ(backend().prepare(task), "") << task.id << "\n" << task.reference;
    for (const templates::Variant& variant : family.variants) {
      const std::string source = templates::Generator::kernel(operation, variant, names, &random);
      const auto result = backend().evaluate(task, source);
      EXPECT_EQ(result.verdict, Verdict::kOk)
          << task.id << "/" << variant.name << ": " << result.why << "\n"
          << source;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Templates, EveryProposal, ::testing::Range<std::uint64_t>(1, 3));

}  // namespace
}  // namespace krl
