// What clients can make a server keep is bounded.
#include <gmock/gmock.h>

#include <fstream>
#include <future>
#include <kernelrl/temporary_folder.hpp>

#include "serve/judging/alarms.hpp"
#include "serve/judging/best_kernels.hpp"
#include "serve/judging/judge_identity.hpp"
#include "serve/routing/admission.hpp"
#include "tests/unit/serve/toy_judge.hpp"

namespace krl::serve::testing {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

Json task_definition(const std::string& id, const std::string& prompt = "p") {
  Json json = Json::parse(
      R"({"axes": {"n": "var"}, "input": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
          "output": [{"name": "y", "dtype": "float32", "shape": ["n"]}], "reference": "def run(x): return x",
          "cases": [{"n": 1}]})");
  json["id"] = json["title"] = id;
  json["prompt"] = prompt;
  return json;
}

TEST(Bounds, DefinitionsHaveASizeAndTheOnesInUseAreRemembered) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  TaskShelf shelf(kMost);
  const auto large =
      shelf.define(task_definition("a", std::string(TaskShelf::kMostDefinition, 'p')));
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("a definition may have 262144 bytes"));
  const std::string prompt(TaskShelf::kMostDefinition / 4, 'p');
  const TaskPointer used = *shelf.define(task_definition("used", prompt));
  const TaskPointer unused = *shelf.define(task_definition("unused", prompt));
  for (std::size_t bytes = 0; bytes < kMost; bytes += prompt.size()) {
    ASSERT_TRUE(shelf.define(task_definition("t" + std::to_string(bytes), prompt)));
    ASSERT_TRUE(shelf.find(used->digest, "a"));
  }
  EXPECT_FALSE(shelf.find(unused->digest, "a"));
}

TEST(Bounds, BestKernelsOfClientsTasksHaveASize) {
  BestKernels best;
  const auto consider = [&](const std::string& client, const std::string& id, bool is_own) {
    auto task = std::make_shared<ServedTask>();
    task->task.id = id;
    task->is_own = is_own;
    auto told = std::make_shared<ToldResult>();
    Case c;
    c.speedup = c.speedup_low = c.speedup_high = 2;
    c.verdict = Verdict::kOk;
    c.kind = CaseKind::kShown;
    told->evaluation.cases = {c};
    told->evaluation.verdict = Verdict::kOk;
    best.consider(client, task, std::string(BestKernels::kMostBytes, 's'), told);
  };
  consider("a", "1", false);
  consider("a", "2", false);
  consider("a", "3", true);
  EXPECT_EQ(best.list("a").size(), 2u) << "the first of the client, and the server's own";
}

TEST(Bounds, AnAlarmThatIsForgottenDoesNotRing) {
  Alarms alarms;
  std::promise<void> rung;
  std::atomic<int> others = 0;
  const auto soon = Alarms::Clock::now() + std::chrono::milliseconds(20);
  alarms.set(soon, [&] { ++others; }).reset();
  const auto kept = alarms.set(soon, [&] { rung.set_value(); });
  rung.get_future().get();
  EXPECT_EQ(others, 0);
}

TEST(Bounds, ManyClientsDoNotGiveAnotherItsRateBack) {
  AdmissionOptions options;
  options.rate = 0.01;  // one at once
  Admission admission(options);
  EXPECT_TRUE(admission.may_ask_now("a"));
  for (int i = 0; i < 30000; ++i) {
    admission.may_ask_now(std::to_string(i));
    if (i % 5000 == 0) {
      EXPECT_FALSE(admission.may_ask_now("a"));
    }
  }
}

// A judge whose backend notes what it prepares.
class Prepared : public ::testing::Test {
 protected:
  std::size_t prepared(const Task& task) {
    EXPECT_TRUE(judges_.prepare(task, {}));
    std::ifstream lines(file_);
    const std::string text{std::istreambuf_iterator<char>(lines), {}};
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  const TemporaryFolder folder_{"kernelrl-bounds"};
  const std::string file_ = (folder_.path() / "prepared").string();
  test::ToyWorld world_;
  ToyJudge judge_{world_, {"backend.prepared=" + file_}};
  service::KernelJudges judges_ =
      *service::KernelJudges::open({judge_.plan.settings.backend}, judge_.session.components());
};

TEST_F(Prepared, TasksAreRememberedUpToANumber) {
  Task used, unused, other;
  used.id = used.definition_json = "used";
  unused.id = unused.definition_json = "unused";
  prepared(used);
  EXPECT_EQ(prepared(unused), 2u);
  for (std::size_t i = 2; i <= service::KernelJudges::kMostPrepared; ++i) {
    other.id = other.definition_json = std::to_string(i);
    ASSERT_TRUE(judges_.prepare(other, {}));
    ASSERT_TRUE(judges_.prepare(used, {}));
  }
  const std::size_t before = prepared(used);
  EXPECT_EQ(before, service::KernelJudges::kMostPrepared + 1);
  EXPECT_EQ(prepared(unused), before + 1);
}

TEST(JudgeIdentity, CoversTheOptionsThatChangeVerdictsOrTimes) {
  const test::ToyWorld world;
  const auto identity = [&](const test::Overrides& changes) {
    ToyJudge judge(world, changes);
    return (*JudgeService::open(judge.plan, judge.session, {}))->identity();
  };
  const std::string usual = identity({});
  EXPECT_EQ(identity({"backend.concurrency=1", "backend.racy_choice=-1"}), usual);
  EXPECT_EQ(identity({"backend.racy_choice=3"}), usual + "\ntoy.world {\"racy_choice\":3}");
  BackendSettings settings = ToyJudge(world).plan.settings.backend;
  settings.sanitizer = ComponentSettings{"toy.world", {{"racy_choice", 3}}, {}};
  EXPECT_EQ(judge_identity("b", settings, world.registry().catalog()),
            "b\ntoy.world {\"racy_choice\":3}");
}

}  // namespace
}  // namespace krl::serve::testing
