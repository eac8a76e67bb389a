// A connection that becomes a stream of bytes both ways.
#include <filesystem>

#include "tests/unit/http/client_fixture.hpp"
#include "tests/wait_while.hpp"

namespace krl::http::testing {
namespace {

using ::testing::HasSubstr;

class Upgrade : public ClientFixture {
 protected:
  // What comes in exchange for `input` on a stream that begins with `script`.
  std::string exchanged(const Script& script, std::string_view input, std::size_t enough = SIZE_MAX,
                        const Patience& patience = patient()) {
    server_.emplace([script](const SeenRequest&) { return script; });
    connect_to(server_->url());
    std::string received;
    loop_.run([&](Yield yield) {
      Upgraded upgraded = client_->upgrade(post("/attach", "{}"), patient(), yield);
      if (!upgraded.stream) throw std::runtime_error("no stream");
      const auto take = [&](std::string_view bytes) {
        received += bytes;
        return received.size() < enough;
      };
      upgraded.stream->exchange(input, take, patience, yield);
    });
    return received;
  }
  static std::string switching() {
    return head(101, {{"Connection", "Upgrade"}, {"Upgrade", "tcp"}});
  }

  std::optional<ScriptedServer> server_;
};

TEST_F(Upgrade, GivesAStreamThatEndsWithTheServer) {
  EXPECT_EQ(exchanged(Script().send(switching()).send("bytes").send(" and more").close(), ""),
            "bytes and more");
  EXPECT_EQ(exchanged(Script().send(switching() + "early").close(), "input"), "early");
  EXPECT_EQ(
      exchanged(Script().send(head(200, {{"Content-Type", "application/raw"}}) + "x").close(), ""),
      "x");
  const SeenRequest seen = server_->requests().front();
  EXPECT_EQ(seen.header("Connection"), "Upgrade");
  EXPECT_EQ(seen.header("Upgrade"), "tcp");
  EXPECT_EQ(seen.body, "{}");
}

TEST_F(Upgrade, CarriesBytesBothWaysAtOnce) {
  // More than fits into what lies between, so that neither side may wait for the other.
  const std::string input(std::size_t{8} << 20, 'x');
  server_.emplace([&](const SeenRequest&) { return Script().send(switching()).echo(); });
  connect_to(server_->url());
  std::size_t received = 0;
  loop_.run([&](Yield yield) {
    Upgraded upgraded = client_->upgrade(post("/attach", ""), patient(), yield);
    upgraded.stream->exchange(
        input,
        [&](std::string_view bytes) {
          received += bytes.size();
          return true;
        },
        patient(), yield);
  });
  EXPECT_EQ(received, input.size());  // the end of the input came to the server as well
}

TEST_F(Upgrade, EndsWhenEnoughHasCome) {
  EXPECT_GE(exchanged(Script().send(switching()).endlessly("0123456789"), "", 100).size(), 100u);
  test::wait_while([&] { return server_->open() > 0; });
}

TEST_F(Upgrade, DoesNotMindAnInputThatNobodyWants) {
  const std::string input(std::size_t{64} << 20, 'x');
  EXPECT_EQ(exchanged(Script().send(switching()).send("done").close(), input), "done");
}

TEST_F(Upgrade, EndsAtTheDeadlineWithWhatCame) {
  try {
    exchanged(Script().send(switching()).send("x").wait(std::chrono::hours(1)), "", SIZE_MAX,
              Patience::of(kShort));
    ADD_FAILURE() << "ended";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.cause(), Cause::kDeadline);
    EXPECT_THAT(failure.what(), HasSubstr("POST " + server_->url() + "/attach"));
  }
}

TEST_F(Upgrade, ThatIsRefusedSaysWhy) {
  ScriptedServer server([](const SeenRequest&) { return answer(409, "not running"); });
  connect_to(server.url());
  loop_.run([&](Yield yield) {
    const Upgraded upgraded = client_->upgrade(post("/attach", ""), patient(), yield);
    EXPECT_FALSE(upgraded.stream.has_value());
    EXPECT_EQ(upgraded.answer.status, 409u);
    EXPECT_EQ(upgraded.answer.body, "not running");
  });
}

TEST_F(Upgrade, HoldsAConnectionOpenForAsLongAsItLives) {
  ScriptedServer server([](const SeenRequest&) { return Script().send(switching()).hold(); });
  connect_to(server.url());
  std::optional<Stream> stream = loop_.run([&](Yield yield) {
    return std::move(client_->upgrade(post("/attach", ""), patient(), yield).stream);
  });
  client_.reset();
  EXPECT_EQ(server.open(), 1);
  stream.reset();
  test::wait_while([&] { return server.open() > 0; });
}

}  // namespace
}  // namespace krl::http::testing
