// When a request is tried again, and when not.
#include <atomic>
#include <climits>
#include <ctime>
#include <thread>

#include "tests/unit/http/client_fixture.hpp"
#include "tests/wait_while.hpp"

namespace krl::http::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class RetriesTest : public ClientFixture {
 protected:
  // Answers the first `n` requests with `script`, and serves the next.
  void serve_after(int n, const Script& script) {
    server_.emplace([n, script, i = 0](const SeenRequest&) mutable {
      return i++ < n ? script : answer(200, "served");
    });
    connect(server_->url());
  }
  void connect(const std::string& url) {
    Options options = plain();
    options.retries = {4, milliseconds(1), milliseconds(4)};
    options.on_retry = [this](const std::string& what) { told_.push_back(what); };
    connect_to(url, options);
  }
  static Request repeatable() {
    Request request = post("/sample", "{}");
    request.repeatable = true;
    return request;
  }
  std::size_t tries() const { return server_->requests().size(); }

  std::optional<ScriptedServer> server_;
  std::vector<std::string> told_;
};

TEST_F(RetriesTest, WhatTheServerDidNotDoIsTriedAgain) {
  for (const unsigned status : {425u, 429u, 503u, 529u}) {
    serve_after(3, answer(status, "busy"));
    EXPECT_EQ(ask_until_served(post("/step", "{}")).body, "served") << status;
    EXPECT_EQ(tries(), 4u);
    EXPECT_THAT(told_, AllOf(SizeIs(3), Each(HasSubstr("it answered " + std::to_string(status)))));
    told_.clear();
  }
}

TEST_F(RetriesTest, WhatTheServerMayHaveDoneIsTriedAgainIfThatDoesNoHarm) {
  for (const unsigned status : {408u, 500u, 502u, 504u}) {
    serve_after(3, answer(status));
    EXPECT_EQ(ask_until_served(repeatable()).body, "served") << status;
    serve_after(3, answer(status));
    EXPECT_EQ(ask_until_served(get("/")).body, "served") << status;
    serve_after(3, answer(status));
    EXPECT_EQ(ask_until_served(post("/step", "{}")).status, status);
    EXPECT_EQ(tries(), 1u);
  }
}

TEST_F(RetriesTest, AFinalAnswerIsFinal) {
  for (const unsigned status :
       {200u, 204u, 302u, 400u, 401u, 403u, 404u, 409u, 410u, 413u, 422u, 501u}) {
    serve_after(1, Script().send(head(status, {{"Content-Length", "0"}})));
    EXPECT_EQ(ask_until_served(repeatable()).status, status);
    EXPECT_EQ(tries(), 1u);
  }
  EXPECT_TRUE(told_.empty());
}

TEST_F(RetriesTest, TheLastAnswerIsGivenAfterTheLastTry) {
  serve_after(100, answer(503, "still busy"));
  const Answer last = ask_until_served(repeatable());
  EXPECT_EQ(last.status, 503u);
  EXPECT_EQ(last.body, "still busy");
  EXPECT_EQ(tries(), 5u);
}

TEST_F(RetriesTest, ABrokenConnectionIsTriedAgainIfThatDoesNoHarm) {
  const Script broken[] = {Script().close(), Script().reset(),
                           Script().send("HTTP/1.1 200").reset(),
                           Script().send(head(200, {{"Content-Length", "9"}}) + "x").close(),
                           Script().send("no HTTP at all\r\n\r\n")};
  for (const Script& script : broken) {
    serve_after(2, script);
    EXPECT_EQ(ask_until_served(repeatable()).body, "served");
    EXPECT_EQ(tries(), 3u);
    serve_after(2, script);
    EXPECT_THROW(ask_until_served(post("/step", "{}")), Failure);
    EXPECT_EQ(tries(), 1u);
  }
}

TEST_F(RetriesTest, AServerThatReturnsIsWaitedForByEveryRequest) {
  serve_after(0, {});
  Options options = plain();
  options.retries = {1000, milliseconds(1), milliseconds(4)};
  std::atomic<int> refused{0};
  options.on_retry = [&](const std::string&) { ++refused; };
  server_->vanish();
  connect_to(server_->url(), options);
  std::thread returning([&] {
    test::wait_while([&] { return refused < 3; });
    server_->come_back();
  });
  EXPECT_EQ(ask_until_served(post("/step", "{}")).body, "served");
  returning.join();
}

TEST_F(RetriesTest, NoTryBeginsAfterTheDeadline) {
  serve_after(100, answer(503, "busy", {{"Retry-After", "3600"}}));
  EXPECT_EQ(ask_until_served(repeatable()).status, 503u);  // at once, with the answer there is
  EXPECT_EQ(tries(), 1u);

  serve_after(INT_MAX, answer(503, "busy"));
  Options options = plain();
  options.retries = {UINT_MAX, milliseconds(1), milliseconds(1)};
  connect_to(server_->url(), options);
  try {
    EXPECT_EQ(ask_until_served(repeatable(), Patience::of(kShort)).status, 503u);
  } catch (const Failure& failure) {  // it came in the middle of a try
    EXPECT_EQ(failure.cause(), Cause::kDeadline);
  }
  EXPECT_GT(tries(), 1u);
}

TEST_F(RetriesTest, RetryAfterIsHonoured) {
  const auto took = [&](const std::string& value) {
    serve_after(1, answer(429, "slowly", {{"Retry-After", value}}));
    const auto begin = Patience::Clock::now();
    EXPECT_EQ(ask_until_served(post("/step", "{}")).body, "served");
    return Patience::Clock::now() - begin;
  };
  EXPECT_GE(took("1"), milliseconds(1000));  // our own wait is 4 ms at most
  char date[64];
  const std::time_t later = std::time(nullptr) + 2;
  std::tm parts{};
  std::strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", ::gmtime_r(&later, &parts));
  EXPECT_GE(took(date), milliseconds(900));
  EXPECT_THAT(told_.front(), HasSubstr("tried again in 1.0 s"));
}

TEST_F(RetriesTest, WaitingForTheNextTryIsCancelled) {
  serve_after(100, answer(503, "busy", {{"Retry-After", "50"}}));
  const Patience patience =
      Patience::of(std::chrono::hours(1), [this] { return server_->requests().size() > 0; });
  try {
    ask_until_served(repeatable(), patience);
    ADD_FAILURE() << "answered";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.cause(), Cause::kCancelled);
  }
  EXPECT_EQ(tries(), 1u);
}

TEST_F(RetriesTest, WhoWaitsForTheNextTryHoldsUpNobody) {
  server_.emplace([](const SeenRequest& seen) {
    if (seen.target == "/other") return answer(200, "other");
    return answer(503, "", {{"Retry-After", "50"}});
  });
  Options options = plain();
  options.max_in_flight = 1;
  std::atomic<bool> waits{false}, cancelled{false};
  options.on_retry = [&](const std::string&) { waits = true; };
  connect_to(server_->url(), options);
  std::thread waiting([&] {
    EXPECT_THROW(ask_until_served(get("/busy"), Patience::of(std::chrono::hours(1),
                                                             [&] { return cancelled.load(); })),
                 Failure);
  });
  test::wait_while([&] { return !waits; });
  EXPECT_EQ(ask(get("/other")).body, "other");
  cancelled = true;
  waiting.join();
}

}  // namespace
}  // namespace krl::http::testing
