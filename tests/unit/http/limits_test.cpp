// Nobody waits for longer than he wants to: the time-out of each phase, deadlines, cancellation.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/unit/http/client_fixture.hpp"
#include "tests/wait_while.hpp"

namespace krl::http::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// A port that takes no more connections: its queue is full, and nothing accepts.
class FullPort {
 public:
  FullPort() : listener_(make_socket()) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ::ntohs(address.sin_port);
    for (int i = 0; i < 8; ++i) {
      waiting_.push_back(make_socket());
      ::connect(waiting_.back(), reinterpret_cast<sockaddr*>(&address), size);
    }
  }
  ~FullPort() {
    for (const int socket : waiting_) ::close(socket);
    ::close(listener_);
  }
  std::string url(const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_);
  }

 private:
  static int make_socket() {
    return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  }
  const int listener_;
  std::uint16_t port_ = 0;
  std::vector<int> waiting_;
};

// Brings a client into each phase and leaves it there.
class StuckClient : public ClientFixture, public ::testing::WithParamInterface<Phase> {
 protected:
  void SetUp() override {
    if (GetParam() == Phase::kConnect) return;
    ServerSettings settings;
    settings.silent = GetParam() <= Phase::kSend;
    server_.emplace(
        [](const SeenRequest&) {
          if (GetParam() == Phase::kFirstByte || GetParam() == Phase::kSlot) return Script().hold();
          return Script().send(head(200, {{"Content-Length", "10"}}) + "part").hold();
        },
        settings);
  }

  // `options`: with what is to be tested.
  Failure stuck(Options options, const Patience& patience) {
    Request request = get("/where");
    switch (GetParam()) {
      case Phase::kSlot:
        options.max_in_flight = 0;
        break;
      case Phase::kConnect:
        break;
      case Phase::kHandshake:
        break;
      case Phase::kSend:
        request = post("/where", large_);
        break;
      case Phase::kFirstByte:
      case Phase::kBody:
        break;
    }
    if (GetParam() == Phase::kConnect) {
      connect_to(full_.url(), options);
    } else if (GetParam() == Phase::kHandshake) {
      connect_to("https://127.0.0.1:" + std::to_string(server_->port()), options);
    } else {
      connect_to(server_->url(), options);
    }
    return failure(request, patience);
  }

  // Asked at each look at the client: whether it has been in its phase for some looks.
  bool is_stuck() {
    bool has_come = true;
    if (GetParam() == Phase::kHandshake || GetParam() == Phase::kSend) {
      has_come = server_->accepted() > 0;
    } else if (GetParam() > Phase::kSend) {
      has_come = !server_->requests().empty();
    }
    looks_ += has_come ? 1 : 0;
    return looks_ > 5;
  }

  int looks_ = 0;
  const std::string large_ = std::string(std::size_t{16} << 20, 'x');  // more than is buffered
  FullPort full_;
  std::optional<ScriptedServer> server_;
};

// Waiting for one's turn has no time-out of its own.
class StuckExchange : public StuckClient {};

TEST_P(StuckExchange, GivesUpAtThePhasesTimeOut) {
  Options options = plain();
  const std::pair<Phase, Duration Timeouts::*> limits[] = {
      {Phase::kConnect, &Timeouts::connect},
      {Phase::kHandshake, &Timeouts::handshake},
      {Phase::kSend, &Timeouts::send},
      {Phase::kFirstByte, &Timeouts::first_byte},
      {Phase::kBody, &Timeouts::idle}};
  // All others are longer than the test's patience.
  for (const auto& [phase, limit] : limits) {
    options.timeouts.*limit = phase == GetParam() ? Duration(kShort) : Duration::max();
  }
  const Failure failure = stuck(options, patient());
  EXPECT_EQ(failure.cause(), Cause::kTimeout);
  EXPECT_EQ(failure.phase(), GetParam());
  EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
  EXPECT_THAT(failure.what(), HasSubstr(client_->base().text() + "/where"));
  EXPECT_THAT(failure.what(), HasSubstr("within 0.06 s"));
}

TEST_P(StuckClient, GivesUpAtTheDeadline) {
  Patience patience = patient();
  patience.cancelled = [&] {
    if (is_stuck()) patience.deadline = {};  // long ago
    return false;
  };
  const Failure failure = stuck(plain(), patience);
  EXPECT_EQ(failure.cause(), Cause::kDeadline);
  EXPECT_EQ(failure.phase(), GetParam());
  EXPECT_EQ(failure.code(), KRL_DEADLINE_EXCEEDED);
  EXPECT_THAT(failure.what(), HasSubstr("in time"));
}

TEST_P(StuckClient, StopsWhenItIsCancelled) {
  const Failure failure =
      stuck(plain(), Patience::of(std::chrono::hours(1), [this] { return is_stuck(); }));
  EXPECT_EQ(failure.cause(), Cause::kCancelled);
  EXPECT_EQ(failure.phase(), GetParam());
  EXPECT_EQ(failure.code(), KRL_CANCELLED);
}

std::string name_of_phase(const ::testing::TestParamInfo<Phase>& info) {
  constexpr const char* kNames[] = {"Slot", "Connect", "Handshake", "Send", "FirstByte", "Body"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(EachPhase, StuckClient,
                         ::testing::Values(Phase::kSlot, Phase::kConnect, Phase::kHandshake,
                                           Phase::kSend, Phase::kFirstByte, Phase::kBody),
                         name_of_phase);
INSTANTIATE_TEST_SUITE_P(EachPhase, StuckExchange,
                         ::testing::Values(Phase::kConnect, Phase::kHandshake, Phase::kSend,
                                           Phase::kFirstByte, Phase::kBody),
                         name_of_phase);

class LimitsTest : public ClientFixture {};

TEST_F(LimitsTest, ASlowServerThatGoesOnIsWaitedFor) {
  ScriptedServer server([](const SeenRequest&) {
    Script script;
    script.send(head(200, {{"Content-Length", "10"}}));
    for (int i = 0; i < 10; ++i) script.wait(milliseconds(150)).send("x");
    return script;
  });
  Options options = plain();
  options.timeouts.idle = milliseconds(1400);  // the whole takes longer
  connect_to(server.url(), options);
  EXPECT_EQ(ask(get("/")).body.size(), 10u);
}

TEST_F(LimitsTest, AnEndlessAnswerEndsAtTheDeadline) {
  ScriptedServer server([](const SeenRequest&) { return Script().send(head(200)).endlessly("x"); });
  Options options = plain();
  options.max_body = SIZE_MAX;
  connect_to(server.url(), options);
  const Failure failure = this->failure(get("/"), Patience::of(kShort));
  EXPECT_EQ(failure.cause(), Cause::kDeadline);
}

TEST_F(LimitsTest, WhoeverIsTooLateDoesNotAsk) {
  ScriptedServer server([](const SeenRequest&) { return answer(200); });
  connect_to(server.url());
  EXPECT_EQ(failure(get("/"), Patience::of(milliseconds(-1))).cause(), Cause::kDeadline);
  EXPECT_EQ(failure(get("/"), Patience::of(kTestPatience, [] { return true; })).cause(),
            Cause::kCancelled);
  EXPECT_EQ(server.accepted(), 0);
}

TEST_F(LimitsTest, ACancelledRequestsTurnIsTheNextOnes) {
  std::atomic<bool> cancelled{false};
  ScriptedServer server([](const SeenRequest& seen) {
    return seen.target == "/held" ? Script().hold() : answer(200, "ok");
  });
  Options options = plain();
  options.max_in_flight = 1;
  connect_to(server.url(), options);
  std::thread holder([&] {
    const Failure held =
        failure(get("/held"), Patience::of(kTestPatience, [&] { return cancelled.load(); }));
    EXPECT_EQ(held.cause(), Cause::kCancelled);
  });
  test::wait_while([&] { return server.requests().empty(); });
  EXPECT_EQ(failure(get("/"), Patience::of(kShort)).phase(), Phase::kSlot);
  std::thread waiting([&] { EXPECT_EQ(ask(get("/")).body, "ok"); });
  cancelled = true;
  waiting.join();
  holder.join();
  EXPECT_EQ(server.most_at_once(), 1);
}

TEST_F(LimitsTest, NoMoreRequestsAreInFlightThanMayBe) {
  std::atomic<int> begun{0};
  ScriptedServer server([&](const SeenRequest&) {
    ++begun;
    return Script().until([&] { return begun >= 3; }).send(head(200, {{"Content-Length", "0"}}));
  });
  Options options = plain();
  options.max_in_flight = 3;
  connect_to(server.url(), options);
  constexpr std::size_t kRequests = 50;
  loop_.run([&](Yield yield) {
    side_by_side(
        loop_.io(), kRequests,
        [&](std::size_t, Yield inner) {
          EXPECT_EQ(client_->ask(get("/"), patient(), inner).status, 200u);
        },
        yield);
  });
  EXPECT_EQ(server.requests().size(), kRequests);
  EXPECT_EQ(server.most_at_once(), 3);
  EXPECT_EQ(server.accepted(), 3);
}

TEST_F(LimitsTest, RequestsGetTheirTurnInOrder) {
  ScriptedServer server([](const SeenRequest&) { return answer(200); });
  Options options = plain();
  options.max_in_flight = 1;
  connect_to(server.url(), options);
  loop_.run([&](Yield yield) {
    side_by_side(
        loop_.io(), 20,
        [&](std::size_t i, Yield inner) {
          client_->ask(get('/' + std::to_string(i)), patient(), inner);
        },
        yield);
  });
  const auto seen = server.requests();
  ASSERT_EQ(seen.size(), 20u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].target, '/' + std::to_string(i));
}

}  // namespace
}  // namespace krl::http::testing
