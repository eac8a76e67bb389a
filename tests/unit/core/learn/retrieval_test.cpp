// Runs whose prompts show documents: which, on which turns, how many, and what is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kDocuments = R"(
[[dataset]]
use = "toy.documents"
role = "retrieval"
)";

// The answers of an iteration, as samples/ has them.
std::vector<nlohmann::json> samples_of(const ToyWorld& world) {
  std::ifstream lines(world.run_folder() / "samples" / "iteration_000001.jsonl");
  std::vector<nlohmann::json> samples;
  for (std::string line; std::getline(lines, line);) samples.push_back(nlohmann::json::parse(line));
  return samples;
}

std::string prompt_of(const nlohmann::json& sample) { return sample.at("prompt").dump(); }

bool shows_documents(const nlohmann::json& sample) {
  return prompt_of(sample).find("document ") != std::string::npos;
}

TEST(RetrievalRun, PromptsShowTheDocumentsOfTheirTask) {
  ToyWorld world;
  const RunReport run = world.run({"stage.reinforce.iterations=2"}, kDocuments);
  ASSERT_EQ(run.error, "");
  const auto samples = samples_of(world);
  ASSERT_THAT(samples, SizeIs(16));
  for (const auto& sample : samples) {
    const std::string task = sample.at("task");
    EXPECT_THAT(prompt_of(sample), HasSubstr("long document 1 for " + task));
    EXPECT_THAT(prompt_of(sample), HasSubstr("document 2 for " + task));
    EXPECT_EQ(prompt_of(sample).find("the answer to"), std::string::npos);
  }
  EXPECT_EQ(run.all("retrieval/documents"), (std::vector<double>{2, 2}));
  EXPECT_EQ(run.all("retrieval/excluded_own_task"), (std::vector<double>{1, 1}));
  EXPECT_EQ(run.all("retrieval/over_budget"), (std::vector<double>{0, 0}));
}

TEST(RetrievalRun, ADocumentThatDoesNotFitIsLeftOutForTheNext) {
  ToyWorld world;
  const RunReport run = world.run(
      {"policy.long_prompt=\"long document\"", "retrieval.max_tokens=998", "retrieval.count=3"},
      kDocuments);
  ASSERT_EQ(run.error, "");
  EXPECT_THAT(run.all("retrieval/documents"), AllOf(Not(IsEmpty()), Each(3)));
  EXPECT_THAT(run.all("retrieval/over_budget"), AllOf(Not(IsEmpty()), Each(1)));
  for (const auto& sample : samples_of(world)) {
    EXPECT_EQ(prompt_of(sample).find("long document"), std::string::npos);
    EXPECT_THAT(prompt_of(sample), HasSubstr("document 4 for "));
  }
  const RunReport roomy =
      ToyWorld().run({"policy.long_prompt=\"long document\"", "retrieval.max_tokens=999",
                      "retrieval.count=3", "rollout.min_answer_tokens=8"},
                     kDocuments);
  ASSERT_EQ(roomy.error, "");
  EXPECT_THAT(roomy.all("retrieval/documents"), AllOf(Not(IsEmpty()), Each(3)));
  EXPECT_THAT(roomy.all("retrieval/tokens"), Each(999));
}

TEST(RetrievalRun, TurnsWhoseDocumentsCannotBeHadAreLostAndTheRunGoesOn) {
  ToyWorld world;
  const RunReport run =
      world.run({"stage.reinforce.iterations=1"}, std::string(kDocuments) + "lost = \"toy_1\"\n");
  ASSERT_EQ(run.error, "");
  std::set<std::string> lost;
  for (const auto& sample : samples_of(world)) {
    if (sample.at("verdict") != "infra_error") continue;
    lost.insert(sample.at("task"));
    EXPECT_THAT(sample.dump(), HasSubstr("the library is closed"));
  }
  EXPECT_EQ(lost, std::set<std::string>{"toy_1"});
  EXPECT_THAT(run.all("sampler/lost"), ElementsAre(Gt(0)));
}

TEST(RetrievalRun, DocumentsAreShownOnTheTurnsOfThePlan) {
  const auto shown_after = [](const std::string& turns) {
    ToyWorld world;
    EXPECT_EQ(world.run({"rollout.turns=3", "retrieval.turns=\"" + turns + "\""}, kDocuments).error,
              "");
    std::string verdict;  // of the turn before
    std::map<std::string, std::set<bool>> shown;
    for (const auto& sample : samples_of(world)) {
      const bool first = sample.at("turn") == 1;
      shown[first             ? "first"
            : verdict == "ok" ? "passed"
                              : "failed"]
          .insert(shows_documents(sample));
      verdict = sample.at("verdict");
    }
    return shown;
  };
  using Shown = std::map<std::string, std::set<bool>>;
  EXPECT_EQ(shown_after("first"),
            (Shown{{"first", {true}}, {"passed", {false}}, {"failed", {false}}}));
  EXPECT_EQ(shown_after("every"),
            (Shown{{"first", {true}}, {"passed", {true}}, {"failed", {true}}}));
  EXPECT_EQ(shown_after("after_failure"),
            (Shown{{"first", {false}}, {"passed", {false}}, {"failed", {true}}}));
}

TEST(RetrievalRun, GoesOnAsIfItHadNeverStopped) {
  ToyWorld world;
  const RunReport whole = fresh_run({}, kDocuments);
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration == 4) world.stop();
  };
  ASSERT_EQ(world.run({}, kDocuments).outcome, Outcome::kInterrupted);
  world.after_iteration = nullptr;
  EXPECT_EQ(world.resume({}, kDocuments).lines(), whole.lines());
}

// What is learned by heart must not be shown.
TEST(RetrievalRun, TheAnswersOfPairsAreGuarded) {
  ToyWorld world;
  const std::string file = (world.folder() / "guarded").string();
  const RunReport run =
      world.run({"dataset.1.guarded=\"" + file + "\"", "policy.needs_corpus=true"},
                std::string(kDocuments) + R"(
[[dataset]]
use = "toy.world"
role = "warmup"
count = 0
pairs = 3

[[stage]]
name = "warm-up"
kind = "sft"
)");
  ASSERT_EQ(run.error, "");
  std::ifstream lines(file);
  std::set<std::string> tasks;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("toy_")) tasks.insert(line);
  EXPECT_EQ(tasks,
            (std::set<std::string>{"toy_0: <KERNEL>", "toy_1: <KERNEL>", "toy_2: <KERNEL>"}));
}

TEST(RetrievalRun, NothingIsRetrievedWithoutSuchADataset) {
  ToyWorld world;
  const RunReport run = world.run();
  EXPECT_THAT(run.all("retrieval/documents"), IsEmpty());
  for (const auto& sample : samples_of(world)) EXPECT_FALSE(shows_documents(sample));
}

TEST(RetrievalRun, RefusesADatasetThatCannotBeSearched) {
  EXPECT_THAT(fresh_run({}, "[[dataset]]\nuse = \"toy.world\"\nrole = \"retrieval\"\n").error,
              HasSubstr("dataset 'toy.world' cannot be searched for documents"));
}

TEST(RetrievalRun, EndsWithADatasetThatFindsWhatNobodyWants) {
  EXPECT_THAT(fresh_run({"dataset.1.too_many=1"}, kDocuments).error,
              HasSubstr("broke its contract in find(): it found more than the 8 documents"));
  EXPECT_THAT(fresh_run({"dataset.1.sentence=true"}, kDocuments).error,
              HasSubstr("for a reason that is no word"));
}

TEST(RetrievalRun, RefusesTemplatesWithoutAPlaceForDocuments) {
  ToyWorld world;
  for (const char* name : {"task.txt", "turn.txt", "older_turn.txt"})
    std::ofstream(world.folder() / name) << "\n";
  EXPECT_THAT(world.run({"prompt.templates=\"" + world.folder().string() + "\""}, kDocuments).error,
              HasSubstr("the plan's prompts have no place for documents"));
}

}  // namespace
}  // namespace krl::test
