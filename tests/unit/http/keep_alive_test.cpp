// Which connection a request travels on.
#include <atomic>

#include "tests/unit/http/client_fixture.hpp"
#include "tests/wait_while.hpp"

namespace krl::http::testing {
namespace {

using ::testing::HasSubstr;

class KeepAlive : public ClientFixture {
 protected:
  void serve(Handler handler) {
    server_.emplace(std::move(handler));
    connect_to(server_->url());
  }

  std::optional<ScriptedServer> server_;
};

TEST_F(KeepAlive, OneConnectionServesManyRequests) {
  serve([](const SeenRequest& seen) {
    return seen.number_on_connection % 2 != 0 ? answer(200, "x") : chunked(404, {"y"});
  });
  for (int i = 0; i < 10; ++i) ask(post("/", "body"));
  EXPECT_EQ(server_->accepted(), 1);
}

TEST_F(KeepAlive, AServerThatClosesIsConnectedToAgain) {
  serve([](const SeenRequest&) { return answer(200, "x", {{"Connection", "close"}}).close(); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(post("/", "body")).status, 200u);
  EXPECT_EQ(server_->accepted(), 3);
}

TEST_F(KeepAlive, AnIdleConnectionThatTheServerClosedIsNotUsed) {
  serve([](const SeenRequest&) { return answer(200, "x"); });
  ask(get("/"));
  server_->close_connections();
  test::wait_while([&] { return server_->open() > 0; });
  EXPECT_EQ(ask(post("/", "not repeatable")).status, 200u);
  EXPECT_EQ(server_->accepted(), 2);
}

TEST_F(KeepAlive, AnIdleConnectionOnWhichSomethingCameIsNotUsed) {
  serve([](const SeenRequest& seen) {
    if (seen.target == "/two")
      return Script().send(
          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny");
    return answer(200, "right");
  });
  EXPECT_EQ(ask(get("/two")).body, "x");
  EXPECT_EQ(ask(get("/")).body, "right");
  EXPECT_EQ(server_->accepted(), 2);
}

TEST_F(KeepAlive, AConnectionIsNotKeptForLongerThanItMayBe) {
  server_.emplace([](const SeenRequest&) { return answer(200, "x"); });
  Options options = plain();
  options.keep_idle = Duration::zero();
  connect_to(server_->url(), options);
  ask(get("/"));
  ask(get("/"));
  EXPECT_EQ(server_->accepted(), 2);
}

// The server closes when the second request on a connection has come: too late for us to see it
// before we send.
Script closing_at_second(const SeenRequest& seen) {
  return seen.number_on_connection == 2 ? Script().close() : answer(200, "served");
}

TEST_F(KeepAlive, ARepeatableRequestOnAClosedConnectionIsSentOnceMore) {
  serve(closing_at_second);
  ask(get("/"));
  EXPECT_EQ(ask(get("/again")).body, "served");
  EXPECT_EQ(server_->accepted(), 2);
  EXPECT_EQ(server_->requests().size(), 3u);

  Request sample = post("/sample", "{}");
  sample.repeatable = true;
  EXPECT_EQ(ask(sample).body, "served");
  EXPECT_EQ(server_->accepted(), 3);
  EXPECT_EQ(server_->requests().back().body, "{}");
}

TEST_F(KeepAlive, ARequestThatMustNotHappenTwiceIsNotRepeated) {
  serve(closing_at_second);
  ask(get("/"));
  const Failure failure = this->failure(post("/step", "{}"));
  EXPECT_EQ(failure.cause(), Cause::kBroken);
  EXPECT_GE(failure.phase(), Phase::kSend);
  EXPECT_THAT(failure.what(), HasSubstr("closed before an answer came"));
  EXPECT_EQ(server_->requests().size(), 2u);
}

TEST_F(KeepAlive, ANewConnectionThatIsClosedIsNoReasonToRepeat) {
  serve([](const SeenRequest&) { return Script().close(); });
  EXPECT_EQ(failure(get("/")).cause(), Cause::kBroken);
  EXPECT_EQ(server_->requests().size(), 1u);
}

TEST_F(KeepAlive, AnAnswerThatHasBegunIsNotRepeated) {
  serve([](const SeenRequest& seen) {
    return seen.number_on_connection == 2 ? Script().send("HTTP/1.1 20").close()
                                          : answer(200, "served");
  });
  ask(get("/"));
  EXPECT_THAT(failure(get("/")).what(), HasSubstr("closed in the middle of the answer's head"));
  EXPECT_EQ(server_->requests().size(), 2u);
}

TEST_F(KeepAlive, AServerThatVanishesAndReturnsIsUsedAgain) {
  serve([](const SeenRequest&) { return answer(200, "served"); });
  ask(get("/"));
  server_->vanish();
  const Failure gone = failure(post("/", "{}"));
  EXPECT_EQ(gone.cause(), Cause::kConnect);
  EXPECT_EQ(gone.error(), std::errc::connection_refused);
  EXPECT_LT(gone.phase(), Phase::kSend);
  server_->come_back();
  EXPECT_EQ(ask(post("/", "{}")).body, "served");
}

}  // namespace
}  // namespace krl::http::testing
