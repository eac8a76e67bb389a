// What becomes of a file that is wrong, and of a component that raises, ends its process or hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/python_components/python_file.hpp"

namespace krl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::python_file;
using testing::python_plugin;
using testing::RewardInstance;
using testing::TurnBuilder;

// The error of work that fails: its code, and its message.
template <class Work>
std::pair<krl_status, std::string> error_of(const Work& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return {failure.code(), failure.what()};
  }
  return {KRL_OK, ""};
}

std::pair<krl_status, std::string> refusal(testing::Table table) {
  return error_of([&] { python_plugin().reward("python", std::move(table)); });
}

RewardInstance troubled() {
  return python_plugin().reward("python", python_file("rewards.py", "Troubled"));
}
std::pair<krl_status, std::string> trouble(const RewardInstance& term, const char* answer) {
  return error_of([&] { term.score(TurnBuilder().answer(answer)); });
}

TEST(PythonFailures, AWrongFileIsRefusedWithItsReason) {
  const auto refused = [](testing::Table table, const std::string& why) {
    const auto [code, message] = refusal(std::move(table));
    EXPECT_EQ(code, KRL_INVALID_ARGUMENT) << message;
    EXPECT_THAT(message, HasSubstr(why));
  };
  refused(python_file("absent.py"), "file: there is no file ");
  refused(python_file("broken.py"), "broken.py\", line 1");
  refused(python_file("at_import.py"), "at_import.py:1: in <module>: ModuleNotFoundError");
  refused(python_file("rewards.py"), "set `object`: the file has 'Sum', 'Troubled'");
  refused(python_file("rewards.py", "shrot"),
          "no function or class 'shrot'; it has 'short', 'Sum'");
  refused(python_file("rewards.py", "Sum", R"({"limit": 1})"),
          "options: Sum: got an unexpected keyword argument 'limit'");
  refused(python_file("rewards.py", "short", R"({"limt": 1})"), "argument 'limt'");
}

TEST(PythonFailures, AnAbsentInterpreterIsNamed) {
  testing::Table table = python_file("rewards.py", "short");
  table.at("executable") = testing::Value("/nowhere/python3");
  const auto [code, message] = refusal(table);
  EXPECT_EQ(code, KRL_FAILED_PRECONDITION);
  EXPECT_THAT(message, HasSubstr("'/nowhere/python3' cannot be started ("));
}

TEST(PythonFailures, AnExceptionHasItsPlaceInTheFile) {
  const RewardInstance term = troubled();
  const auto [code, message] = trouble(term, "fail");
  EXPECT_EQ(code, KRL_INTERNAL);
  EXPECT_THAT(message,
              AllOf(HasSubstr("rewards.py:51: in fail: ZeroDivisionError: division by zero"),
                    HasSubstr("in score\n    getattr(self, turn.answer)()")));
  EXPECT_EQ(term.score(TurnBuilder().answer("nothing")), 2) << "the object is still there";
}

TEST(PythonFailures, UnavailableIsNotAnError) {
  const auto [code, message] = trouble(troubled(), "be_away");
  EXPECT_EQ(code, KRL_UNAVAILABLE);
  EXPECT_THAT(message, HasSubstr("the server of the model is away"));
}

TEST(PythonFailures, AProcessThatEndsLosesOneCall) {
  const RewardInstance term = troubled();
  for (const auto& [how, reported] :
       {std::pair("exit", "ended with code 3"), std::pair("crash", "was killed by signal 11")}) {
    const auto [code, message] = trouble(term, how);
    EXPECT_EQ(code, KRL_UNAVAILABLE);
    EXPECT_THAT(message, AllOf(HasSubstr(reported), HasSubstr("during score()")));
    EXPECT_EQ(term.score(TurnBuilder().answer("nothing")), 1) << "a new object";
  }
}

TEST(PythonFailures, AHangingCallEndsWhenItIsCancelled) {
  const RewardInstance term = troubled();
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    term.call().cancelled = true;
  });
  EXPECT_EQ(trouble(term, "hang").first, KRL_CANCELLED);
  later.join();
  term.call().cancelled = false;
  EXPECT_EQ(term.score(TurnBuilder().answer("nothing")), 1);
}

// Its children hold the pipe to kernelrl open.
TEST(PythonFailures, AnEndIsNoticedWhileChildrenLive) {
  const RewardInstance term = troubled();
  const auto [code, message] = trouble(term, "leave_a_child");
  EXPECT_EQ(code, KRL_UNAVAILABLE);
  EXPECT_THAT(message, HasSubstr("ended with code 4"));
  EXPECT_EQ(term.score(TurnBuilder().answer("nothing")), 1);
}

TEST(PythonFailures, TheEndOfMuchOutputIsKept) {
  const auto [code, message] = trouble(troubled(), "shout");
  EXPECT_THAT(message, AllOf(HasSubstr("ended with code 5"), HasSubstr("last words")));
}

TEST(PythonFailures, AClosedStreamHarmsNothing) {
  const RewardInstance term = troubled();
  EXPECT_EQ(term.score(TurnBuilder().answer("close_stdout")), 1);
  EXPECT_EQ(term.score(TurnBuilder().answer("nothing")), 2) << "the same process";
}

TEST(PythonFailures, NotANumberIsNamed) {
  const auto term = python_plugin().reward("python", python_file("rewards.py", "not_a_number"));
  const auto [code, message] = error_of([&] { term.score(TurnBuilder().task("relu", 0)); });
  EXPECT_EQ(code, KRL_INTERNAL);
  EXPECT_THAT(message, HasSubstr("it gave nan for a turn of task 'relu'"));
}

TEST(PythonFailures, OptionsFitAnySignature) {
  for (const char* object : {"keyword", "anything"}) {
    const auto term =
        python_plugin().reward("python", python_file("rewards.py", object, R"({"limit": 3})"));
    EXPECT_EQ(term.score(TurnBuilder()), 3) << object;
  }
  EXPECT_THAT(refusal(python_file("rewards.py", "keyword")).second,
              HasSubstr("missing a required argument: 'limit'"));
}

TEST(PythonFailures, WhatItPrintsGoesToTheLog) {
  const RewardInstance term = troubled();
  EXPECT_EQ(term.score(TurnBuilder().answer("talk")), 1);
  ASSERT_EQ(term.call().messages.size(), 2u);
  EXPECT_EQ(term.call().messages[1].second, "rewards.py: two");
  EXPECT_EQ(term.score(TurnBuilder().answer("write_to_streams")), 2);
  EXPECT_EQ(term.call().messages.back().second, "rewards.py: not an answer");
}

TEST(PythonFailures, AResultOfAnotherTypeIsAnError) {
  const auto term = python_plugin().reward("python", python_file("rewards.py", "no_number"));
  const auto [code, message] = error_of([&] { term.score(TurnBuilder()); });
  EXPECT_EQ(code, KRL_INVALID_ARGUMENT);
  EXPECT_THAT(message, HasSubstr("could not convert string to float: 'many'"));
}

}  // namespace
}  // namespace krl
