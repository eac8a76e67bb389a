#include "core/episode/prompt.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/scratch_folder.hpp"

namespace krl::core {
namespace {

Task with_facts(Task task) {
  task.facts = *facts_of(task);
  return task;
}

Task task() {
  return with_facts({"scale_rows", "Scale", "y = s x", 0,
                     R"({"id":"scale_rows","prompt":"y = s x","axes":{"n":"var","m":"var"},
              "input":[{"name":"x","dtype":"float32","shape":["n","m"]}],"scalar":[{"name":"s","dtype":"float32","value":"2"}],
              "output":[{"name":"y","dtype":"float16","shape":["n","m"]}],"reference":"def run(x, s): return x","cases":[{"n":1,"m":1}]})"});
}

PromptBuilder compact() {
  return *PromptBuilder::load(KERNELRL_SOURCE_DIR "/configs/prompts/compact", "");
}

TurnRecord turn(const std::string& source, Verdict verdict, const std::string& why) {
  TurnRecord t;
  t.candidate.source = source;
  t.evaluation.verdict = verdict;
  t.evaluation.why = why;
  return t;
}

TEST(Prompt, ShowsTheTaskWithItsSignature) {
  const Prompt prompt = compact().build(task(), {});
  ASSERT_EQ(prompt.size(), 1U);
  EXPECT_EQ(prompt[0].text,
            "### scale_rows\nin float x[n, m], float s\nout half y[n, m]\ny = s x\n");
}

TEST(Prompt, OfAnImprovementShowsAllKernels) {
  const auto improve = PromptBuilder::load(KERNELRL_SOURCE_DIR "/configs/prompts/improve", "");
  const TurnRecord other = turn("other\n", Verdict::kOk, "");
  TurnRecord parent = turn("parent\n", Verdict::kOk, "");
  parent.evaluation.values = {{0, "roofline", "", 0.314}};
  EXPECT_TRUE(improve->build(task(), {other, parent})[0].text.ends_with(
      "other\n# ok: correct\nparent\n# ok: correct, 0.31 of the roofline\n"));
}

TEST(Prompt, IsTheTextAloneWithoutADefinition) {
  const Prompt prompt = compact().build({"book/7", "book/7", "Translate:\nx\n", 0, ""}, {});
  ASSERT_EQ(prompt.size(), 1U);
  EXPECT_EQ(prompt[0].text, "Translate:\nx\n");
}

TEST(Prompt, NamesTheSizesTheGpuAndTheBaseline) {
  const test::ScratchFolder folder;
  std::ofstream(folder / "task.txt") << "{{cases}} on {{device}}, against\n{{baseline}}\n";
  for (const char* name : {"turn.txt", "older_turn.txt"}) std::ofstream(folder / name) << "\n";
  Task sized = task();
  const std::string cases = R"("cases":[{"n":1,"m":1}])";
  sized.definition_json.replace(sized.definition_json.find(cases), cases.size(),
                                cases + R"(,"real":[{"n":8192,"m":4096}],"naive":"// plain\n")");
  const auto text = [&](TimedOn timed_on) {
    const auto builder =
        PromptBuilder::load(folder.path(), "", Contract::kDevice, std::move(timed_on));
    return builder->build(with_facts(sized), {})[0].text;
  };
  EXPECT_EQ(text({"NVIDIA H200", true}), "n=8192 m=4096 on NVIDIA H200, against\n// plain\n");
  EXPECT_EQ(text({"L4", false}), "n=1 m=1 on L4, against\n// plain\n");
}

TEST(Prompt, ShowsTheNewestTurnWholeAndOlderOnesInShort) {
  const Prompt prompt =
      compact().build(task(), {turn("first\n", Verdict::kTimeout, "too slow"),
                               turn("second\n", Verdict::kWrongResult, "y[0] is 1")});
  EXPECT_EQ(prompt[0].text,
            "### scale_rows\nin float x[n, m], float s\nout half y[n, m]\ny = s x\n"
            "# timeout\nsecond\n# wrong_result: y[0] is 1\n");
}

TEST(Prompt, ShowsDocumentsWhereTheTemplateHasThem) {
  const std::vector<Document> documents = {{"a", "t", "first\n", "{}"}, {"b", "", "second", "{}"}};
  EXPECT_EQ(compact().build(task(), {}, documents)[0].text,
            "// of another task\nfirst\n// of another task\nsecond\n"
            "### scale_rows\nin float x[n, m], float s\nout half y[n, m]\ny = s x\n");
  const test::ScratchFolder folder;
  std::ofstream(folder / "task.txt") << "{{id}}\n{{documents}}\n";
  for (const char* name : {"turn.txt", "older_turn.txt"}) std::ofstream(folder / name) << "\n";
  EXPECT_FALSE(PromptBuilder::load(folder.path(), "")->can_show_documents());
  std::ofstream(folder / "document.txt") << "{{number}} {{id}} {{task}}: {{text}}\n";
  const auto own = PromptBuilder::load(folder.path(), "");
  EXPECT_TRUE(own->can_show_documents());
  EXPECT_EQ(own->build(task(), {}, documents)[0].text, "scale_rows\n1 a t: first\n2 b : second\n");
}

TEST(Prompt, EveryDeliveredTemplateHasAPlaceForDocuments) {
  for (const auto& entry :
       std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/configs/prompts")) {
    EXPECT_TRUE(PromptBuilder::load(entry.path(), "")->can_show_documents()) << entry.path();
  }
}

TEST(Prompt, TheDefaultTemplatesNameARepeatedKernel) {
  const auto builder =
      PromptBuilder::load(KERNELRL_SOURCE_DIR "/configs/prompts/default", "You write CUDA.");
  ASSERT_TRUE(builder) << builder.error().message;
  const TurnRecord t = turn("same\n", Verdict::kWrongResult, "no");
  const Prompt prompt = builder->build(task(), {t, t});
  ASSERT_EQ(prompt.size(), 2U);
  EXPECT_EQ(prompt[0].role, KRL_ROLE_SYSTEM);
  EXPECT_NE(prompt[1].text.find("the very kernel of turn 1"), std::string::npos);
}

TEST(Prompt, TheTemplatesOfHostCodeAskForALauncher) {
  const auto builder = PromptBuilder::load(KERNELRL_SOURCE_DIR "/configs/prompts/host", "");
  ASSERT_TRUE(builder) << builder.error().message;
  const Prompt prompt = builder->build(task(), {});
  EXPECT_NE(prompt[0].text.find("PYBIND11_MODULE"), std::string::npos);
  EXPECT_EQ(prompt[0].text.find("@launch"), std::string::npos);
}

}  // namespace
}  // namespace krl::core
