#include "core/task/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace krl::core {
namespace {

constexpr const char* kKernel = "__global__ void k() {}\n";

Candidate extract(std::string text, std::uint32_t stop = KRL_STOP_END) {
  Answer answer;
  answer.text = std::move(text);
  answer.stop_reason = stop;
  return extract_candidate(answer);
}

// The exact form of an answer.
std::string answer_with(const std::string& kernel, const std::string& thinking = "") {
  const std::string thought = thinking.empty() ? "" : "<think>" + thinking + "</think>\n";
  return thought + "<KERNEL>\n```cuda\n" + kernel + "```\n</KERNEL>";
}

TEST(Answer, ExactForm) {
  const Candidate c = extract(answer_with(kKernel));
  EXPECT_EQ(c.source, kKernel);
  EXPECT_EQ(c.format, Format::kExact);
  EXPECT_EQ(c.thinking, "");
}

TEST(Answer, ExactFormWithAThought) {
  const Candidate c = extract(answer_with(kKernel, " one element a thread "));
  EXPECT_EQ(c.format, Format::kExact);
  EXPECT_EQ(c.thinking, "one element a thread");
  EXPECT_EQ(c.source, kKernel);
}

TEST(Answer, WordsAroundTheTagsAreTolerated) {
  EXPECT_EQ(extract("Here it is:\n" + answer_with(kKernel)).format, Format::kTolerated);
}

TEST(Answer, TheLastFenceThatHoldsAKernelCounts) {
  const Candidate c = extract(
      "```cpp\n__global__ void first() {}\n```\nbetter:\n```\n__global__ void second() "
      "{}\n```\n```\nint x;\n```\n");
  EXPECT_EQ(c.source, "__global__ void second() {}\n");
  EXPECT_EQ(c.format, Format::kTolerated);
}

TEST(Answer, MayBeInPtx) {
  const Candidate ptx = extract("```ptx\n.version 8.0\n.entry kern()\n{ ret; }\n```\n");
  EXPECT_EQ(ptx.source, ".version 8.0\n.entry kern()\n{ ret; }\n");
}

TEST(Answer, FencesOfOtherLanguagesAreNoKernels) {
  EXPECT_EQ(extract("```python\n__global__ = 1\n```\n").format, Format::kMissing);
}

TEST(Answer, PythonIsAKernelIfItIsTriton) {
  const std::string kernel = "import triton\n\n\n@triton.jit\ndef k(x):\n    pass\n";
  for (const char* language : {"python", "triton", "py", ""}) {
    const Candidate c = extract("Like so:\n```" + std::string(language) + "\n" + kernel + "```\n");
    EXPECT_EQ(c.source, kernel) << language;
    EXPECT_EQ(c.format, Format::kTolerated) << language;
  }
  EXPECT_EQ(extract("```python\nimport torch\n__global__ = 1\n```\n").format, Format::kMissing);
}

TEST(Answer, TagsWithoutAFenceAreTolerated) {
  const Candidate c = extract("<KERNEL>\n__global__ void k() {}\n</KERNEL>");
  EXPECT_EQ(c.source, kKernel);
  EXPECT_EQ(c.format, Format::kTolerated);
}

TEST(Answer, AnOpenFenceAtTheLengthLimitIsTruncated) {
  const std::string open = "<KERNEL>\n```cuda\n__global__ void k() {";
  EXPECT_EQ(extract(open, KRL_STOP_LENGTH).format, Format::kTruncated);
  EXPECT_EQ(extract(open, KRL_STOP_END).format, Format::kTolerated);
}

TEST(Answer, KernelsInsideTheThoughtDoNotCount) {
  EXPECT_EQ(extract("<think>```cuda\n__global__ void k() {}\n```</think> no idea").format,
            Format::kMissing);
}

TEST(Answer, AThoughtThatDoesNotEndHoldsNoKernel) {
  const std::string draft = "<think> a first draft:\n```cuda\n__global__ void k() {}\n```\n but";
  const Candidate c = extract(draft, KRL_STOP_LENGTH);
  EXPECT_EQ(c.source, "");
  EXPECT_EQ(c.format, Format::kTruncated);
  EXPECT_THAT(c.thinking, ::testing::StartsWith("a first draft"));
  EXPECT_EQ(extract(draft).format, Format::kMissing);
}

TEST(Answer, AThoughtMayHaveBegunInThePrompt) {
  const std::string draft = "A draft:\n```cuda\n__global__ void draft() {}\n```\n";
  const Candidate c = extract(draft + "</think>\n" + answer_with(kKernel));
  EXPECT_EQ(c.source, kKernel);
  EXPECT_EQ(c.format, Format::kExact);
  EXPECT_THAT(c.thinking, ::testing::StartsWith("A draft"));

  Answer cut;
  cut.text = draft;
  cut.stop_reason = KRL_STOP_LENGTH;
  EXPECT_EQ(extract_candidate(cut, true).source, "") << "the thought has not ended";
  EXPECT_EQ(extract_candidate(cut, true).format, Format::kTruncated);
  EXPECT_EQ(extract_candidate(cut).source, "__global__ void draft() {}\n");
}

TEST(Answer, HostileTextsAreHarmless) {
  EXPECT_EQ(extract("").format, Format::kMissing);
  EXPECT_EQ(extract("```").format, Format::kMissing);
  EXPECT_EQ(extract("<KERNEL></KERNEL>").format, Format::kMissing);
  EXPECT_EQ(extract("</KERNEL><KERNEL>").format, Format::kMissing);
  EXPECT_EQ(extract(std::string(100'000, '`')).format, Format::kMissing);
  EXPECT_EQ(extract(std::string("\0\xff```\n", 6)).format, Format::kMissing);
}

}  // namespace
}  // namespace krl::core
