// A backend in Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/python_components/python_file.hpp"

namespace krl {
namespace {

using ::testing::HasSubstr;
using testing::python_file;
using testing::python_plugin;

class PythonBackend : public ::testing::Test {
 protected:
  static testing::Instance<krl_backend_v> backend(const std::string& name) {
    testing::Table table = python_file("brackets.py", name);
    table.emplace("workers", 1);
    return python_plugin().create<krl_backend_v>(KRL_BACKEND, "python", table);
  }

  static krl_task task(std::string_view definition) {
    krl_task task{};
    task.struct_size = sizeof task;
    task.id = to_c("a_task");
    task.definition_json = to_c(definition);
    return task;
  }

  static Evaluation judge(const testing::Instance<krl_backend_v>& backend,
                          std::string_view source) {
    const krl_task of = task("{}");
    const krl_candidate candidate{sizeof(krl_candidate), KRL_CONTRACT_DEVICE, &of, to_c(source)};
    const krl_evaluate_options options{sizeof options, KRL_STAGE_COMPILE | KRL_STAGE_CHECK, 7};
    testing::EvaluationReceiver receiver;
    backend.call().require(backend.table().evaluate(backend.self(), backend.context(), &candidate,
                                                    &options, receiver.c()));
    return receiver.evaluation();
  }
};

TEST_F(PythonBackend, DescribesItselfWithTheFilesDigest) {
  const auto brackets = backend("Brackets");
  const auto info = testing::backend_description([&](const krl_backend_info_sink* sink) {
    brackets.call().require(brackets.table().describe(brackets.self(), brackets.context(), sink));
  });
  EXPECT_EQ(info.signals, KRL_SIGNAL_COMPILE | KRL_SIGNAL_CORRECTNESS);
  EXPECT_THAT(copy(info.toolchain), ::testing::MatchesRegex("brackets 1.0, file [0-9a-f]{12}"));
  EXPECT_EQ(copy(info.device), "none");
}

TEST_F(PythonBackend, GivesVerdicts) {
  const auto brackets = backend("Brackets");
  const Evaluation right = judge(brackets, "f()");
  EXPECT_EQ(right.verdict, Verdict::kOk);
  ASSERT_EQ(right.cases.size(), 1u);
  EXPECT_EQ(right.cases[0].speedup, 2);
  EXPECT_EQ(right.cases[0].kind, CaseKind::kShown);
  const Evaluation wrong = judge(brackets, "f((");
  EXPECT_EQ(wrong.verdict, Verdict::kCompileError);
  EXPECT_EQ(wrong.why, "brackets do not match");
  EXPECT_EQ(wrong.diagnostics.at(0).line, 1u);
}

TEST_F(PythonBackend, AProcessThatEndsLosesOneEvaluation) {
  const auto brackets = backend("Brackets");
  try {
    judge(brackets, "exit");
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_UNAVAILABLE) << failure.what();
  }
  EXPECT_EQ(judge(brackets, "f()").verdict, Verdict::kOk);
}

TEST_F(PythonBackend, MayRefuseATask) {
  const auto brackets = backend("Brackets");
  const krl_evaluate_options options{sizeof options, KRL_STAGE_COMPILE, 7};
  const auto prepare = [&](std::string_view definition) {
    const krl_task of = task(definition);
    return brackets.table().prepare(brackets.self(), brackets.context(), &of, &options);
  };
  EXPECT_EQ(prepare(R"({"axes": ["n"]})"), KRL_OK);
  EXPECT_EQ(prepare(R"({"axes": ["forbidden"]})"), KRL_INVALID_ARGUMENT);
}

TEST_F(PythonBackend, UnknownNamesAreErrors) {
  EXPECT_THROW(judge(backend("unknown_verdict"), "f()"), Failure);
  try {
    backend("UnknownSignal");
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("no 'tiem'; did you mean 'time'?"));
  }
}

}  // namespace
}  // namespace krl
