// Requests and answers, without a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelrl/evaluation_json.hpp>

#include "plugins/backends/remote/messages.hpp"

namespace krl::remote {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Wanted wanted(const char* definition, const char* source, std::uint64_t seed = 3) {
  const krl_task task{sizeof(krl_task), 0, {}, {}, {}, to_c(definition)};
  return {Task(&task), source, false, {KRL_STAGE_COMPILE | KRL_STAGE_HOLDOUT, seed}};
}

// Why reading fails.
template <class Read>
Failure failure_of(const Read& read) {
  try {
    read();
  } catch (const Failure& failure) {
    return failure;
  }
  return {KRL_OK, "no failure"};
}

TEST(RemoteMessages, ARequestHasWhatTheServerNeeds) {
  const Wanted request = wanted(R"({"id": "t"})", "a \"kernel\"\n");
  const auto whole = nlohmann::json::parse(request.body(request.definition(), 7));
  EXPECT_EQ(whole, nlohmann::json::parse(R"({"task": {"id": "t"}, "source": "a \"kernel\"\n",
    "contract": "device", "stages": ["compile", "holdout"], "seed": 3, "deadline_s": 7})"));
  const auto brief = nlohmann::json::parse(request.body("\"sha256:1\"", 0));
  EXPECT_EQ(brief["task"], "sha256:1");
  EXPECT_FALSE(brief.contains("deadline_s"));
}

TEST(RemoteMessages, TheContentIsTheRequestsAlone) {
  const auto content = wanted("{}", "a").content();
  EXPECT_EQ(content, wanted("{}", "a").content());
  EXPECT_NE(content, wanted("{}", "b").content());
  EXPECT_NE(content, wanted("{ }", "a").content());
  EXPECT_NE(content, wanted("{}", "a", 4).content());
}

TEST(RemoteMessages, AnEvaluationArrivesAsItWasSent) {
  Evaluation sent;
  sent.verdict = Verdict::kWrongResult;
  sent.why = "case n=8";
  Case wrong;
  wrong.verdict = Verdict::kWrongResult;
  wrong.max_abs_error = 0.1;
  wrong.time_ns = 1.0 / 3;
  sent.cases = {wrong};
  const nlohmann::json answer = {{"evaluation", sent}, {"digest", "sha256:1"}, {"kept", true}};
  const Judged judged = judged_of(answer.dump());
  EXPECT_EQ(to_json_text(judged.evaluation), to_json_text(sent));
  EXPECT_EQ(judged.digest, "sha256:1");
  EXPECT_TRUE(judged.kept);
}

TEST(RemoteMessages, ABrokenAnswerIsAnErrorOfTheServer) {
  for (const char* body :
       {"", "[]", "{}", R"({"evaluation": 3})", R"({"evaluation": {"verdict": "splendid"}})",
        R"({"evaluation": {"verdict": "infra_error"}})"}) {
    EXPECT_EQ(failure_of([&] { judged_of(body); }).code(), KRL_UNAVAILABLE) << body;
  }
  EXPECT_EQ(failure_of([] { info_of("<html>"); }).code(), KRL_UNAVAILABLE);
  EXPECT_THAT(failure_of([] { info_of(R"({"models": []})"); }).what(),
              HasSubstr("this is no kernelrl serve"));
}

TEST(RemoteMessages, MembersAreAListOrAnObjectWithOne) {
  EXPECT_THAT(members_of(R"(["http://a", "http://b"])"), ElementsAre("http://a", "http://b"));
  EXPECT_THAT(members_of(R"({"members": ["http://a"]})"), ElementsAre("http://a"));
  for (const char* body : {"", "{}", "3", R"([{"url": "http://a"}])"})
    EXPECT_EQ(failure_of([&] { members_of(body); }).code(), KRL_UNAVAILABLE) << body;
}

TEST(RemoteMessages, ARefusalKeepsTheServersWordsAndMeaning) {
  const Refusal wrong =
      refusal_of({400, {}, R"({"error": {"code": "invalid_argument", "message": "no 'n'"}})"});
  EXPECT_EQ(wrong.code, KRL_INVALID_ARGUMENT);
  EXPECT_EQ(wrong.words, "no 'n'");
  EXPECT_EQ(refusal_of({504, {}, R"({"error": {"code": "deadline_exceeded"}})"}).code,
            KRL_DEADLINE_EXCEEDED);
  EXPECT_EQ(refusal_of({502, {}, "<html>bad gateway"}).code, KRL_UNAVAILABLE);
  EXPECT_EQ(refusal_of({401, {}, ""}).code, KRL_FAILED_PRECONDITION);
}

}  // namespace
}  // namespace krl::remote
