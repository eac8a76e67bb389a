#include "service/kernels/evaluation_request.hpp"

#include <gtest/gtest.h>

#include "core/plugin/session.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::service {
namespace {

EvaluationRequest request() {
  EvaluationRequest request;
  request.task = {{"id", "twice"},
                  {"prompt", "p"},
                  {"axes", {{"n", "var"}}},
                  {"input", {{{"name", "x"}, {"dtype", "float32"}, {"shape", {"n"}}}}},
                  {"output", {{{"name", "y"}, {"dtype", "float32"}, {"shape", {"n"}}}}},
                  {"reference", "def run(x):\n    return x + x\n"},
                  {"cases", {{{"n", 1}}}}};
  request.source = "__global__ void k() {}  // choice 3";
  return request;
}

std::string error_of(const std::string& json) {
  const auto request = parse_evaluation_request(json);
  return request ? "none" : request.error().message;
}

TEST(EvaluationRequest, ItsJsonGivesItBack) {
  EvaluationRequest all = request();
  all.contract = Contract::kHost;
  all.stages.bits = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_POOL;
  all.seed = UINT64_MAX;
  all.deadline_s = 7;
  const auto read = parse_evaluation_request(to_json(all).dump());
  ASSERT_TRUE(read) << read.error().message;
  EvaluationRequest::each_field([&](const char* name, auto member, bool) {
    EXPECT_TRUE((*read).*member == all.*member) << name;
    EXPECT_FALSE(EvaluationRequest().*member == all.*member) << name << " is not tested";
  });
}

TEST(EvaluationRequest, ErrorsNameTheKey) {
  EXPECT_EQ(error_of(R"({"task": "relu"})"), "request: key 'source' is missing");
  EXPECT_EQ(error_of(R"({"task": "relu", "sorce": ""})"),
            "request: unknown key 'sorce'; did you mean 'source'?");
  EXPECT_EQ(error_of(R"({"task": 3, "source": ""})"),
            "request: task must be a task's id, or an object, and is 3");
  EXPECT_EQ(error_of(R"({"task": "relu", "source": "", "seed": -1})"),
            "request: seed must be a whole number from 0 on, and is -1");
  EXPECT_EQ(error_of(R"({"task": "relu", "source": "", "contract": "cuda"})"),
            "request: contract must be \"device\" or \"host\", and is \"cuda\"");
  EXPECT_EQ(error_of(R"({"task": "relu", "source": "", "stages": ["run"]})"),
            "request: stages must be a list of stages: compile, check, time, counters, holdout, "
            "pool, and is [\"run\"]");
  EXPECT_EQ(error_of("[]"), "request: must be an object");
  EXPECT_EQ(error_of(R"({"task": )" + std::string(100000, '[')),
            "request: it is nested too deeply, or an object has too many keys");
  std::string wide = "{";
  for (int i = 0; i < 2000; ++i) wide += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_EQ(error_of(wide + "\"end\":1}"),
            "request: it is nested too deeply, or an object has too many keys");
  EXPECT_EQ(error_of(R"({"task": "[[\"[", "source": 3})"),
            "request: source must be a string, and is 3");
  EXPECT_NE(error_of("{\n\"task\" 3}").find("line 2, column 8"), std::string::npos);
}

TEST(EvaluationRequest, IsJudged) {
  const test::ToyWorld world;
  Session session(world.registry());
  auto judges = KernelJudges::open({*backend_settings("toy.world", {}, {}, {}, world.registry())},
                                   session.components());
  ASSERT_TRUE(judges) << judges.error().message;
  const auto judged = judge(request(), *judges, session.components(), session.scope());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_TRUE(judged->evaluation.passed());
  EvaluationRequest broken = request();
  broken.task.erase("reference");
  EXPECT_FALSE(judge(broken, *judges, session.components(), session.scope()));
}

// The task is prepared by the first call, and that is cancelled.
TEST(EvaluationRequest, ACancelledCallSpoilsNoLaterOne) {
  const test::ToyWorld world;
  Session session(world.registry());
  auto judges = KernelJudges::open({*backend_settings("toy.world", {}, {}, {}, world.registry())},
                                   session.components());
  ASSERT_TRUE(judges) << judges.error().message;
  const std::atomic<bool> stop = true;
  const auto cancelled = judge(request(), *judges, session.components(), {.stop = &stop});
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::kCancelled) << cancelled.error().message;
  EXPECT_TRUE(judge(request(), *judges, session.components(), session.scope()));
}

}  // namespace
}  // namespace krl::service
