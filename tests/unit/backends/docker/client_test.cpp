// What the Docker client does without a daemon: frames, versions, words for failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "plugins/backends/docker/engine/engine.hpp"
#include "plugins/process/shared_memory.hpp"

namespace krl::docker {
using namespace evaluator;
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string frame(char stream, const std::string& content) {
  const std::size_t n = content.size();
  std::string head = {stream,
                      0,
                      0,
                      0,
                      static_cast<char>(n >> 24),
                      static_cast<char>(n >> 16),
                      static_cast<char>(n >> 8),
                      static_cast<char>(n)};
  return head + content;
}

TEST(StreamFrames, AreReadHoweverTheyAreCut) {
  const std::string large(70'000, 'x');
  const std::string stream =
      frame(1, "out ") + frame(2, "err") + frame(1, "") + frame(1, large) + frame(1, "put");
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{3}, std::size_t{4096}, stream.size()}) {
    StreamFrames frames({});
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      ASSERT_TRUE(frames.feed(std::string_view(stream).substr(at, piece)));
    }
    EXPECT_EQ(frames.out, "out " + large + "put");
    EXPECT_EQ(frames.err, "err");
  }
}

TEST(StreamFrames, EndAtTheLimitOfOutput) {
  StreamFrames frames({.out_bytes = 5, .err_bytes = 100});
  EXPECT_TRUE(frames.feed(frame(1, "12345")));
  EXPECT_FALSE(frames.too_much());
  EXPECT_FALSE(frames.feed(frame(1, "6") + frame(1, "7")));
  EXPECT_TRUE(frames.too_much());
  EXPECT_EQ(frames.out, "12345");
}

TEST(StreamFrames, CutErrorsAtTheirLimitAndGoOn) {
  StreamFrames frames({.out_bytes = 100, .err_bytes = 3});
  EXPECT_TRUE(frames.feed(frame(2, "12") + frame(2, "345") + frame(2, "6") + frame(1, "out")));
  EXPECT_EQ(frames.err, "123");
  EXPECT_EQ(frames.out, "out");
}

TEST(StreamFrames, RefuseWhatIsNone) {
  for (const std::string& bytes : {std::string("HTTP/1.1"), frame(3, "x"), frame(0, "x")}) {
    StreamFrames frames({});
    EXPECT_FALSE(frames.feed(bytes));
    EXPECT_TRUE(frames.malformed());
  }
  StreamFrames frames({});
  EXPECT_FALSE(frames.feed(std::string("\1\0\1\0\0\0\0\1", 8)));
}

TEST(ApiVersion, IsOursOrTheNearestTheDaemonKnows) {
  EXPECT_EQ(api_version("1.12", "1.41"), "1.41");
  EXPECT_EQ(api_version("1.24", "1.52"), "1.41");
  EXPECT_EQ(api_version("1.44", "1.52"), "1.44");
  EXPECT_EQ(api_version("1.9", "1.39"), "1.39");
}

TEST(EngineFailure, SaysWhatWasAskedAndWhatDockerSaid) {
  const EngineFailure failure =
      refused("creating a container", {"POST", "/v1.41/containers/create?name=x", {}},
              {404, {}, "{\"message\":\"No such image: kernelrl-worker:latest\"}\n"});
  EXPECT_STREQ(failure.what(),
               "creating a container: Docker answered 404 to POST /v1.41/containers/create?name=x: "
               "No such image: kernelrl-worker:latest");
  EXPECT_EQ(failure.http_status(), 404u);
  EXPECT_TRUE(failure.gone());
  EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
}

TEST(EngineFailure, ShowsAnAnswerThatIsNoJson) {
  EXPECT_EQ(message_in("page not found\r\n"), "page not found");
  EXPECT_EQ(message_in("[1]"), "[1]");
  EXPECT_EQ(message_in("{\"message\":7}"), "{\"message\":7}");
  EXPECT_LT(message_in(std::string(10'000, 'x')).size(), 600u);
}

TEST(EngineFailure, SaysHowToGetPermission) {
  const EngineFailure failure =
      unreachable("asking Docker for its version", "/run/docker.sock",
                  {http::Cause::kConnect, http::Phase::kConnect, "no connection",
                   std::make_error_code(std::errc::permission_denied)});
  EXPECT_THAT(failure.what(), AllOf(HasSubstr("/run/docker.sock"), HasSubstr("Permission denied"),
                                    HasSubstr("usermod -aG docker")));
  EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
}

class FakeSocket : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }

  // Somebody listens and never answers.
  Descriptor listen() const {
    Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener.get(), 8), 0);
    return listener;
  }

  EngineFailure failure_with(const Patience& patience) const {
    try {
      const Engine engine(path_, patience);
    } catch (const EngineFailure& failure) {
      return failure;
    }
    return {KRL_OK, "no failure"};
  }

  const std::string path_ =
      std::filesystem::temp_directory_path() / ("krl-socket-" + std::to_string(::getpid()));
};

TEST_F(FakeSocket, WithoutADaemonSaysHowToStartOne) {
  const EngineFailure failure = failure_with(Patience::of(std::chrono::seconds(60)));
  EXPECT_THAT(failure.what(),
              AllOf(HasSubstr("no Docker daemon at " + path_), HasSubstr("systemctl start docker"),
                    HasSubstr("apt-get install docker.io")));
  EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
}

TEST_F(FakeSocket, ADeadDaemonsSocketIsNoDaemonEither) {
  { const Descriptor listener = listen(); }
  const EngineFailure failure = failure_with(Patience::of(std::chrono::seconds(60)));
  EXPECT_THAT(failure.what(), HasSubstr("no Docker daemon at " + path_));
}

TEST_F(FakeSocket, ASilentDaemonIsGivenUpAtTheDeadline) {
  const Descriptor listener = listen();
  const EngineFailure failure = failure_with(Patience::of(std::chrono::milliseconds(50)));
  EXPECT_THAT(failure.what(), AllOf(HasSubstr("did not answer in time"), HasSubstr("journalctl")));
  EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
}

TEST_F(FakeSocket, WaitingIsCancelled) {
  const Descriptor listener = listen();
  int asked = 0;
  const EngineFailure failure =
      failure_with(Patience::of(std::chrono::hours(1), [&] { return ++asked > 2; }));
  EXPECT_EQ(failure.code(), KRL_CANCELLED);
}

TEST_F(FakeSocket, APathTooLongForASocketIsAFailureToo) {
  try {
    const Engine engine("/" + std::string(200, 'x'), Patience::of(std::chrono::seconds(60)));
    FAIL();
  } catch (const EngineFailure& failure) {
    EXPECT_THAT(failure.what(), Not(HasSubstr("no Docker daemon")));
  }
}

}  // namespace
}  // namespace krl::docker
