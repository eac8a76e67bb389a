// Whom the client trusts.
#include <filesystem>
#include <fstream>

#include "tests/unit/http/client_fixture.hpp"
#include "tests/wait_while.hpp"

namespace krl::http::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Tls : public ClientFixture {
 protected:
  Tls() {
    path_ =
        std::filesystem::temp_directory_path() / ("krl-ca-" + std::to_string(::getpid()) + ".pem");
    std::ofstream(path_) << authority_.certificate;
  }
  ~Tls() override { std::filesystem::remove(path_); }

  void serve(const Certificate& certificate, Handler handler = nullptr) {
    certificate_ = certificate;
    ServerSettings settings;
    settings.certificate = &certificate_;
    if (!handler) handler = [](const SeenRequest&) { return answer(200, "secret things"); };
    server_.emplace(std::move(handler), settings);
  }
  Options trusting() const {
    Options options = plain();
    options.ca_file = path_;
    return options;
  }
  std::string url(const std::string& host) const {
    return "https://" + host + ':' + std::to_string(server_->port());
  }
  Failure refusal(const std::string& host, const Options& options) {
    connect_to(url(host), options);
    const Failure refused = failure(get("/"));
    EXPECT_EQ(refused.cause(), Cause::kTls);
    EXPECT_EQ(refused.code(), KRL_FAILED_PRECONDITION);
    EXPECT_LT(refused.phase(), Phase::kSend);
    EXPECT_TRUE(server_->requests().empty());
    return refused;
  }

  std::filesystem::path path_;
  const Certificate authority_ = make_authority();
  Certificate certificate_;
  std::optional<ScriptedServer> server_;
};

TEST_F(Tls, AsksAServerWhoseCertificateIsItsOwn) {
  serve(make_certificate(authority_, {"localhost", "127.0.0.1"}));
  for (const char* host : {"localhost", "127.0.0.1"}) {
    connect_to(url(host), trusting());
    EXPECT_EQ(ask(get("/")).body, "secret things");
    EXPECT_EQ(ask(post("/", std::string(3'000'000, 'x'))).body, "secret things");
  }
  EXPECT_EQ(server_->accepted(), 2);
}

TEST_F(Tls, ReadsLargeAnswersAndStreams) {
  const std::string large(3'000'000, 'x');
  serve(make_certificate(authority_, {"localhost"}), [&](const SeenRequest& seen) {
    return seen.target == "/large" ? answer(200, large) : events({"a", "b"});
  });
  connect_to(url("localhost"), trusting());
  EXPECT_EQ(ask(get("/large")).body, large);
  EXPECT_EQ(streamed(get("/events")), "data: a\n\ndata: b\n\n");
}

TEST_F(Tls, RefusesAnAuthorityThatNobodyKnows) {
  serve(make_certificate(authority_, {"localhost"}));
  EXPECT_THAT(refusal("localhost", plain()).what(), HasSubstr("unable to get local issuer"));
}

TEST_F(Tls, RefusesACertificateThatHasExpired) {
  serve(make_certificate(authority_, {"localhost"}, std::chrono::hours(-1)));
  EXPECT_THAT(refusal("localhost", trusting()).what(), HasSubstr("expired"));
}

TEST_F(Tls, RefusesACertificateOfAnotherHost) {
  serve(make_certificate(authority_, {"example.org", "10.0.0.1"}));
  EXPECT_THAT(refusal("localhost", trusting()).what(), HasSubstr("ostname mismatch"));
  EXPECT_THAT(refusal("127.0.0.1", trusting()).what(), HasSubstr("IP address mismatch"));
}

TEST_F(Tls, RefusesAServerWithoutTls) {
  server_.emplace([](const SeenRequest&) { return answer(200); });
  connect_to(url("localhost"), trusting());
  const Failure refused = failure(get("/"));
  EXPECT_THAT(refused.cause(), AnyOf(Cause::kTls, Cause::kBroken));  // it hangs up, or says why
  EXPECT_THAT(refused.what(), HasSubstr("TLS"));
}

TEST_F(Tls, NeedsItsAuthoritiesFile) {
  Options options = plain();
  options.ca_file = "/no/such/file.pem";
  try {
    connect_to("https://localhost", options);
    ADD_FAILURE() << "made";
  } catch (const krl::Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    EXPECT_THAT(failure.what(), HasSubstr("/no/such/file.pem"));
  }
}

TEST_F(Tls, DoesNotTakeACutConnectionForTheEndOfAnAnswer) {
  serve(make_certificate(authority_, {"localhost"}), [](const SeenRequest& seen) {
    Script script;
    script.send(head(200) + "all of it");
    return seen.target == "/cut" ? script.reset() : script.close();
  });
  connect_to(url("localhost"), trusting());
  EXPECT_EQ(ask(get("/whole")).body, "all of it");
  EXPECT_EQ(failure(get("/cut")).cause(), Cause::kBroken);
}

TEST_F(Tls, ClosedConnectionsAreNotUsedAgain) {
  serve(make_certificate(authority_, {"localhost"}));
  connect_to(url("localhost"), trusting());
  ask(get("/"));
  server_->close_connections();
  test::wait_while([&] { return server_->open() > 0; });
  EXPECT_EQ(ask(post("/", "not repeatable")).status, 200u);
  EXPECT_EQ(server_->accepted(), 2);
}

}  // namespace
}  // namespace krl::http::testing
