// Several servers as one backend: who judges what, and what becomes of those that fail, are slow,
// come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/backends/remote/fake_judge.hpp"
#include "tests/wait_while.hpp"

namespace krl::remote {
namespace {

using http::testing::answer;
using testing::at;
using testing::Ending;
using testing::FakeJudge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Json;
using ::testing::Not;
using testing::Remote;
using testing::Script;
using testing::SeenRequest;
using ::testing::SizeIs;

std::string source(int i) { return "kernel " + std::to_string(i); }

void judge_all(Remote& remote, int from, int to) {
  for (int i = from; i < to; ++i) {
    const Ending ending = remote.evaluate(source(i));
    EXPECT_EQ(ending.verdicts, 1) << ending.why;
    EXPECT_EQ(ending.evaluation.compile_log, source(i));
  }
}

TEST(RemoteFleet, TheSameContentGoesToTheSameServerWhoeverAsks) {
  FakeJudge a, b;
  Remote one(at({a.url(), b.url()})), other(at({b.url(), a.url()}));
  EXPECT_EQ(one.describe().concurrency, 16U);
  judge_all(one, 0, 20);
  const auto by_a = a.judged(), by_b = b.judged();
  EXPECT_THAT(by_a, Not(IsEmpty()));
  EXPECT_THAT(by_b, Not(IsEmpty()));
  judge_all(other, 0, 20);
  EXPECT_EQ(a.judged().size(), 2 * by_a.size());
  EXPECT_EQ(b.judged().size(), 2 * by_b.size());
}

TEST(RemoteFleet, NoServerIsIdleWhileAnotherHasMoreThanItCanJudge) {
  Json info = testing::usual_info();
  info["concurrency"] = 1;
  std::atomic<bool> a_waits = false, b_is_asked = false;
  const auto until_b_is_asked = [&](const SeenRequest& request) -> std::optional<Script> {
    if (!a_waits) return std::nullopt;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    const Script verdict = FakeJudge::verdict(Json::parse(request.body));
    return Script()
        .until([&, end] { return b_is_asked || std::chrono::steady_clock::now() > end; })
        .send(std::get<Script::Send>(verdict.steps().front()).bytes);
  };
  FakeJudge a(until_b_is_asked, info);
  FakeJudge b(
      [&](const SeenRequest&) {
        b_is_asked = a_waits.load();
        return std::optional<Script>();
      },
      info);
  Remote remote(at({a.url(), b.url()}, {{"hedge", 0}}));
  judge_all(remote, 0, 20);
  const std::vector<std::string> preferring_a = a.judged();
  ASSERT_GE(preferring_a.size(), 2U);
  a_waits = true;
  std::thread first([&] { EXPECT_EQ(remote.evaluate(preferring_a[0]).verdicts, 1); });
  std::thread second([&] { EXPECT_EQ(remote.evaluate(preferring_a[1]).verdicts, 1); });
  first.join();
  second.join();
  EXPECT_TRUE(b_is_asked);
}

TEST(RemoteFleet, OthersTakeWhatAServerThatIsDownWouldGet) {
  FakeJudge a, b;
  Remote remote(at({a.url(), b.url()}, {{"connect_timeout_s", 1}}));
  judge_all(remote, 0, 10);
  a.server().vanish();
  judge_all(remote, 10, 30);
  const std::size_t before = a.judged().size();
  a.server().come_back();
  int next = 30;
  krl::test::wait_while([&] {
    judge_all(remote, next, next + 1);
    ++next;
    return a.judged().size() == before;
  });
}

TEST(RemoteFleet, AnErrorOfOneServerIsNotThatOfAnother) {
  FakeJudge broken([](const SeenRequest&) {
    return std::optional(answer(500, R"({"error": {"code": "internal", "message": "no GPU"}})"));
  });
  FakeJudge good;
  Remote remote(at({broken.url(), good.url()}));
  judge_all(remote, 0, 12);
  EXPECT_THAT(good.judged(), SizeIs(12));
  EXPECT_THAT(broken.asked(), Not(IsEmpty()));
}

TEST(RemoteFleet, ServersThatJudgeDifferentlyAreRefused) {
  for (const std::string more : {"another GPU", "a GPU cpu {\"runs_per_case\":3}"}) {
    Json other = testing::usual_info();
    other["identity"] = "cpu\nfake 1\n" + more;
    FakeJudge a, b({}, other);
    try {
      const Remote remote(at({a.url(), b.url()}));
      FAIL() << "not refused";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
      for (const std::string& part : {a.url(), b.url(), more})
        EXPECT_THAT(failure.what(), HasSubstr(part));
    }
  }
}

TEST(RemoteFleet, ALateEvaluationIsAlsoAskedForElsewhere) {
  std::atomic<bool> is_slow = false;
  std::atomic<int> held = 0;
  const auto slow = [&](const SeenRequest&) -> std::optional<Script> {
    if (!is_slow || held++ > 0) return std::nullopt;
    return Script().hold();
  };
  FakeJudge a(slow), b(slow);
  Remote remote(at({a.url(), b.url()}));
  judge_all(remote, 0, 40);
  is_slow = true;
  judge_all(remote, 40, 41);
  EXPECT_EQ(held, 2);
  EXPECT_EQ(a.judged().size() + b.judged().size(), 41U);
  // The first request is closed, and its server is asked again.
  krl::test::wait_while([&] { return a.server().open() + b.server().open() > 2; });
  judge_all(remote, 41, 60);
}

TEST(RemoteFleet, MembersAreReadAgainAndAgain) {
  FakeJudge a, b;
  std::mutex mutex;
  std::vector<std::string> members = {a.url()};
  http::testing::ScriptedServer head([&](const SeenRequest&) {
    const std::lock_guard lock(mutex);
    return answer(200, Json(members).dump());
  });
  Remote remote({{"members", head.url() + "/members"}, {"members_every_s", 0.1}});
  judge_all(remote, 0, 5);
  EXPECT_THAT(a.judged(), SizeIs(5));
  const auto set = [&](std::vector<std::string> urls) {
    const std::lock_guard lock(mutex);
    members = std::move(urls);
  };
  int next = 5;
  set({a.url(), b.url()});
  krl::test::wait_while([&] {
    judge_all(remote, next, next + 1);
    ++next;
    return b.judged().empty();
  });
  set({b.url()});
  std::size_t by_a = 0;
  krl::test::wait_while([&] {
    by_a = a.judged().size();
    judge_all(remote, next, next + 10);
    next += 10;
    return a.judged().size() != by_a;
  });
  head.vanish();
  judge_all(remote, next, next + 5);
}

TEST(RemoteFleet, ABusyServerLosesItsTurnsToOthers) {
  FakeJudge full([](const SeenRequest&) {
    return std::optional(answer(503, "{}", {{"Retry-After", "60"}}));
  });
  FakeJudge good;
  Remote remote(at({full.url(), good.url()}));
  judge_all(remote, 0, 20);
  EXPECT_THAT(good.judged(), SizeIs(20));
  EXPECT_LE(full.asked().size(), 2U);  // by the digest, and with the definition
}

}  // namespace
}  // namespace krl::remote
