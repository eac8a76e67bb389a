// Requests on their way through a proxy.
#include <filesystem>
#include <fstream>

#include "tests/unit/http/client_fixture.hpp"

namespace krl::http::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ThroughProxy : public ClientFixture {
 protected:
  Options via(const std::string& proxy) const {
    Options options = plain();
    options.proxies = {proxy, proxy, ""};
    return options;
  }
  static std::string with_login(const ScriptedServer& proxy) {
    return "http://somebody:hunter2@127.0.0.1:" + std::to_string(proxy.port());
  }
};

TEST_F(ThroughProxy, PlainRequestsNameTheirServer) {
  ScriptedServer proxy([](const SeenRequest&) { return answer(200, "from far away"); });
  connect_to("http://server.test:8000/v1", via(with_login(proxy)));
  EXPECT_EQ(ask(get("/models?x=y")).body, "from far away");
  EXPECT_EQ(ask(get("/models")).body, "from far away");
  const auto seen = proxy.requests();
  EXPECT_EQ(seen[0].target, "http://server.test:8000/v1/models?x=y");
  EXPECT_EQ(seen[0].header("Host"), "server.test:8000");
  EXPECT_EQ(seen[0].header("Proxy-Authorization"), "Basic c29tZWJvZHk6aHVudGVyMg==");
  EXPECT_EQ(proxy.accepted(), 1);
}

TEST_F(ThroughProxy, EncryptedRequestsGoThroughATunnel) {
  const Certificate authority = make_authority();
  const Certificate certificate = make_certificate(authority, {"server.test"});
  ServerSettings settings;
  settings.certificate = &certificate;
  ScriptedServer server([](const SeenRequest& seen) { return answer(200, seen.target); }, settings);
  ScriptedServer proxy(
      [&](const SeenRequest&) { return Script().send(head(200)).tunnel(server.port()); });
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("krl-proxy-ca-" + std::to_string(::getpid()));
  std::ofstream(path) << authority.certificate;
  Options options = via(with_login(proxy));
  options.ca_file = path;
  options.secret_headers = {{"Authorization", "Bearer sk-12345678"}};
  connect_to("https://server.test", options);
  std::filesystem::remove(path);
  EXPECT_EQ(ask(get("/one")).body, "/one");
  EXPECT_EQ(ask(get("/two")).body, "/two");
  const auto seen = proxy.requests();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].method, "CONNECT");
  EXPECT_EQ(seen[0].target, "server.test:443");
  EXPECT_EQ(seen[0].header("Proxy-Authorization"), "Basic c29tZWJvZHk6aHVudGVyMg==");
  EXPECT_EQ(seen[0].header("Authorization"), "");
  EXPECT_EQ(server.requests()[0].header("Proxy-Authorization"), "");
  EXPECT_EQ(server.requests()[0].header("Authorization"), "Bearer sk-12345678");
}

TEST_F(ThroughProxy, ARefusedTunnelIsNoConnection) {
  for (const Script& refusal :
       {answer(407, "hunter2?"), answer(503), Script().close(), Script().send("what?\r\n\r\n"),
        Script().send(head(200) + "more than a head")}) {
    ScriptedServer proxy([&](const SeenRequest&) { return refusal; });
    connect_to("https://server.test", via(with_login(proxy)));
    const Failure failure = this->failure(get("/"));
    EXPECT_EQ(failure.cause(), Cause::kConnect);
    EXPECT_LT(failure.phase(), Phase::kSend);
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("https://server.test/"),
                                      HasSubstr("cannot connect through the proxy " + proxy.url()),
                                      Not(HasSubstr("hunter2"))));
  }
}

TEST_F(ThroughProxy, ASilentProxyIsNotWaitedFor) {
  ScriptedServer proxy([](const SeenRequest&) { return Script().hold(); });
  Options options = via(proxy.url());
  options.timeouts.connect = kShort;
  connect_to("https://server.test", options);
  const Failure failure = this->failure(get("/"));
  EXPECT_EQ(failure.cause(), Cause::kTimeout);
  EXPECT_EQ(failure.phase(), Phase::kConnect);
}

TEST_F(ThroughProxy, AnExceptedServerIsAskedItself) {
  ScriptedServer server([](const SeenRequest& seen) { return answer(200, seen.target); });
  Options options = via("http://127.0.0.1:1");
  connect_to(server.url(), options);  // on this machine
  EXPECT_EQ(ask(get("/x")).body, "/x");
}

}  // namespace
}  // namespace krl::http::testing
