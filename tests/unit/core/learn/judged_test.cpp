#include "core/learn/judged.hpp"

#include <gtest/gtest.h>

namespace krl::test::judged {
using namespace core;
namespace {

const Task kTask{"t", "", "", 0, ""};

Episode episode(const char* source, Format format, Verdict verdict) {
  TurnRecord turn;
  turn.candidate = {source, {}, format};
  turn.evaluation.verdict = verdict;
  return {&kTask, {1, 0}, 0, {turn}};
}

TEST(Judged, CountsKernelsThatABackendWasAskedAbout) {
  Judged judged;
  const Metrics metrics = judged.add({episode("a", Format::kExact, Verdict::kWrongResult),
                                      episode("a  // the same", Format::kTolerated, Verdict::kOk),
                                      episode("b", Format::kTruncated, Verdict::kFormatError),
                                      episode("", Format::kMissing, Verdict::kFormatError),
                                      episode("c", Format::kExact, Verdict::kInfraError)});
  EXPECT_EQ(metrics.at("judged/kernels"), 1);
  EXPECT_EQ(judged.of(kTask)->size(), 1U);
}

}  // namespace
}  // namespace krl::test::judged
