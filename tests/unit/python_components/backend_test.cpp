// A backend in Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/python_components/python_file.hpp"

namespace krl {
namespace {

using ::testing::HasSubstr;
using testing::python_file;
using testing::python_plugin;

testing::BackendInstance backend(const std::string& object) {
  testing::Table table = python_file("brackets.py", object);
  table.emplace("workers", 1);
  return python_plugin().backend("python", table);
}

TEST(PythonBackend, DescribesItselfWithTheFilesDigest) {
  const auto brackets = backend("Brackets");
  const auto info = brackets.describe();
  EXPECT_EQ(info.signals, KRL_SIGNAL_COMPILE | KRL_SIGNAL_CORRECTNESS);
  EXPECT_THAT(copy(info.toolchain), ::testing::MatchesRegex("brackets 1.0, file [0-9a-f]{12}"));
  EXPECT_EQ(copy(info.device), "none");
}

TEST(PythonBackend, GivesVerdicts) {
  const auto brackets = backend("Brackets");
  const Evaluation right = brackets.evaluate("f()");
  EXPECT_EQ(right.verdict, Verdict::kOk);
  ASSERT_EQ(right.cases.size(), 1u);
  EXPECT_EQ(right.cases[0].speedup, 2);
  EXPECT_EQ(right.cases[0].kind, CaseKind::kShown);
  const Evaluation wrong = brackets.evaluate("f((");
  EXPECT_EQ(wrong.verdict, Verdict::kCompileError);
  EXPECT_EQ(wrong.why, "brackets do not match");
  EXPECT_EQ(wrong.diagnostics.at(0).line, 1u);
}

TEST(PythonBackend, AProcessThatEndsLosesOneEvaluation) {
  const auto brackets = backend("Brackets");
  try {
    brackets.evaluate("exit");
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_UNAVAILABLE) << failure.what();
  }
  EXPECT_EQ(brackets.evaluate("f()").verdict, Verdict::kOk);
}

TEST(PythonBackend, EveryProcessPreparesTheTasks) {
  testing::Table table = python_file("brackets.py", "Prepares");
  table.emplace("workers", 2);
  const auto prepares = python_plugin().backend("python", table);
  prepares.prepare("{}");
  EXPECT_THROW(prepares.evaluate("exit"), Failure);
  EXPECT_THROW(prepares.evaluate("exit"), Failure);
  EXPECT_EQ(prepares.evaluate("f()").verdict, Verdict::kOk) << "by a new process";
}

TEST(PythonBackend, MayRefuseATask) {
  const auto brackets = backend("Brackets");
  brackets.prepare(R"({"axes": ["n"]})");
  try {
    brackets.prepare(R"({"axes": ["forbidden"]})");
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    EXPECT_THAT(failure.what(), HasSubstr("this backend cannot judge it"));
  }
}

TEST(PythonBackend, UnknownNamesAreErrors) {
  EXPECT_THROW(backend("unknown_verdict").evaluate("f()"), Failure);
  try {
    backend("UnknownSignal");
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("no 'tiem'; did you mean 'time'?"));
  }
}

}  // namespace
}  // namespace krl
