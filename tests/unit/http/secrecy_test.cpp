// No secret leaves the client but in the requests that it belongs to.
#include <regex>

#include "tests/unit/http/client_fixture.hpp"

namespace krl::http::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr const char* kSecrets[] = {"sk-topsecret", "tml-topsecret", "somebody", "hunter2",
                                    "c29tZWJvZHk6aHVudGVyMg=="};

class Secrecy : public ClientFixture {
 protected:
  void connect(const std::string& url) {
    Options options = plain();
    options.secret_headers = {{"Authorization", "Bearer sk-topsecret"},
                              {"X-API-Key", "tml-topsecret"}};
    options.retries = {1, std::chrono::milliseconds(1), std::chrono::milliseconds(1)};
    options.timeouts.first_byte = options.timeouts.idle = kShort;
    options.max_body = 1000;
    options.max_head = 1000;
    options.on_retry = [this](const std::string& what) {
      expect_clean(what);
      ++retries_;
    };
    connect_to(std::regex_replace(url, std::regex("//"), "//somebody:hunter2@"), options);
  }
  static void expect_clean(const std::string& text) {
    for (const char* secret : kSecrets) EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  static std::string echo(const SeenRequest& seen) {
    std::string text = seen.target + ' ' + seen.body;
    for (const Header& header : seen.headers) text += header.name + ": " + header.value + '\n';
    return text;
  }

  int retries_ = 0;
};

TEST_F(Secrecy, AComplaintThatEchoesASecretIsFreedOfIt) {
  ScriptedServer server([](const SeenRequest& seen) {
    return answer(401, "Incorrect key: " + echo(seen), {{"X-Echo", seen.header("Authorization")}});
  });
  connect(server.url());
  Answer got = ask(post("/v1?key=sk-topsecret", "{}"));
  EXPECT_THAT(got.body, HasSubstr("Incorrect key: /v1?key=*** {}"));
  expect_clean(got.body);
  EXPECT_EQ(got.header("X-Echo"), "***");
  got = loop_.run([&](Yield yield) {
    return client_->stream(
        get("/"), [](std::string_view) {}, patient(), yield);
  });
  expect_clean(got.body);
  got = loop_.run([&](Yield yield) { return client_->upgrade(get("/"), patient(), yield).answer; });
  expect_clean(got.body);
  EXPECT_EQ(server.requests()[0].header("Authorization"), "Bearer sk-topsecret");
}

TEST_F(Secrecy, AnAnswerThatIsGoodIsLeftAsItIs) {
  ScriptedServer server([](const SeenRequest&) { return answer(200, "sk-topsecret"); });
  connect(server.url());
  const std::string body = ask(get("/")).body;
  EXPECT_EQ(body, "sk-topsecret");
  EXPECT_EQ(client_->without_secrets("it said " + body), "it said ***");
}

TEST_F(Secrecy, NoFailureAndNoRetryShowsASecret) {
  for (const Script& script :
       {Script().close(), Script().reset(), Script().hold(), Script().send("sk-topsecret\r\n\r\n"),
        Script().send("HTTP/1.1 200 sk-topsecret\r\nsk-topsecret\r\n\r\n"),
        Script().send(head(200, {{"Content-Length", "2000"}})),
        Script().send("HTTP/1.1 200 OK\r\n").endlessly("X-Echo: sk-topsecret\r\n"),
        Script().send(head(200)).endlessly("sk-topsecret"), answer(503, "sk-topsecret")}) {
    ScriptedServer server([&](const SeenRequest&) { return script; });
    connect(server.url());
    try {
      const Answer got = ask_until_served(get("/v1/chat?key=sk-topsecret&user=somebody"));
      EXPECT_EQ(got.status, 503u);
      expect_clean(got.body);
    } catch (const Failure& failure) {
      expect_clean(failure.what());
      EXPECT_THAT(failure.what(), MatchesRegex("GET http://127.0.0.1:[0-9]+/v1/chat: .+"));
    }
  }
  EXPECT_GT(retries_, 4);
  ScriptedServer gone([](const SeenRequest&) { return answer(200); });
  connect(gone.url());
  gone.vanish();
  expect_clean(failure(get("/")).what());
  expect_clean(client_->base().text());
}

}  // namespace
}  // namespace krl::http::testing
