// Answers that are no answers: cut, wrong, or without end. None is taken for a good one, and none
// keeps us for longer, or in more memory, than we allow.
#include "tests/unit/http/client_fixture.hpp"

namespace krl::http::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class HostileAnswers : public ClientFixture {
 protected:
  Failure failure_of(const Script& script, Options options = plain()) {
    server_.emplace([script](const SeenRequest&) { return script; });
    connect_to(server_->url(), std::move(options));
    return failure(get("/"));
  }

  std::optional<ScriptedServer> server_;
};

TEST_F(HostileAnswers, ThatAreNotHttpAreBroken) {
  for (const char* text : {
           "\r\n\r\n\r\n\r\n\r\n",
           "no HTTP at all\r\n\r\n",
           "HTTP/2.0 200 OK\r\n\r\n",
           "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1 abc OK\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nna me: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\na",
       }) {
    const Failure failure = failure_of(Script().send(text).hold());
    EXPECT_EQ(failure.cause(), Cause::kBroken) << text;
    EXPECT_THAT(failure.what(), HasSubstr("not HTTP")) << text;
    EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
  }
}

TEST_F(HostileAnswers, ThatAreCutAreBroken) {
  const std::string chunked_head = head(200, {{"Transfer-Encoding", "chunked"}});
  const std::pair<std::string, const char*> cases[] = {
      {"", "closed before an answer came"},
      {"HTTP/1.1 200 OK\r\nX:", "closed in the middle of the answer's head"},
      {head(200, {{"Content-Length", "3"}}), "closed in the middle of the answer"},
      {head(200, {{"Content-Length", "3"}}) + "ab", "closed in the middle of the answer"},
      {chunked_head + "3\r\nab", "closed in the middle of the answer"},
      {chunked_head + "3\r\nabc\r\n", "closed in the middle of the answer"},
      {chunked_head + "3\r\nabc\r\n0\r\n", "closed in the middle of the answer"},
      {head(100), "closed in the middle of the answer's head"}};
  for (const auto& [text, why] : cases) {
    for (const bool by_reset : {false, true}) {
      Script script;
      script.send(text);
      by_reset ? script.reset() : script.close();
      const Failure failure = failure_of(script);
      EXPECT_EQ(failure.cause(), Cause::kBroken) << text;
      EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
      EXPECT_THAT(failure.what(), HasSubstr(by_reset ? "closed" : why)) << text;
    }
  }
  const Script without_length = Script().send(head(200) + "x").reset();
  EXPECT_EQ(failure_of(without_length).cause(), Cause::kBroken);
}

TEST_F(HostileAnswers, WithMoreThanTheySayDoNotReachTheNextRequest) {
  server_.emplace([](const SeenRequest& seen) {
    if (seen.number_on_connection > 1) return answer(500, "the wrong connection");
    return Script().send(head(200, {{"Content-Length", "2"}}) + "okHTTP/1.1 200 OK\r\n");
  });
  connect_to(server_->url());
  EXPECT_EQ(ask(get("/")).body, "ok");
  EXPECT_EQ(ask(get("/")).body, "ok");
  EXPECT_EQ(server_->accepted(), 2);
}

TEST_F(HostileAnswers, WithTooLargeAHeadEnd) {
  Options options = plain();
  options.max_head = 4096;
  const std::string start = "HTTP/1.1 200 OK\r\n",
                    line = "X-Name: " + std::string(100, 'x') + "\r\n";
  for (const Script& script :
       {Script().send(start).endlessly(line), Script().send(start + "X: ").endlessly("xxxxxxx"),
        Script().endlessly("HTTP/1.1 100 Continue\r\n\r\n"),
        Script().send(head(200, {{"Transfer-Encoding", "chunked"}}) + "1;").endlessly("xxxxxxxxx"),
        Script().send(head(200, {{"Transfer-Encoding", "chunked"}}) + "0\r\n").endlessly(line)}) {
    const Failure failure = failure_of(script, options);
    EXPECT_THAT(failure.cause(), AnyOf(Cause::kTooLarge, Cause::kBroken)) << failure.what();
    EXPECT_THAT(failure.what(),
                AnyOf(HasSubstr("head has more than 4096 bytes"), HasSubstr("only 1xx responses")));
  }
}

TEST_F(HostileAnswers, WithTooLargeABodyEnd) {
  Options options = plain();
  options.max_body = 1000;
  const std::string piece(100, 'x');
  for (const Script& script :
       {answer(200, std::string(1001, 'x')),
        Script().send(head(200, {{"Content-Length", "1000000000000"}})).hold(),
        Script().send(head(200)).endlessly(piece), Script().send(head(500)).endlessly(piece),
        Script().send(head(200, {{"Transfer-Encoding", "chunked"}})).endlessly(chunk(piece)),
        Script()
            .send(head(200, {{"Transfer-Encoding", "chunked"}}) + "ffffffffffffffff\r\n")
            .endlessly(piece)}) {
    const Failure failure = failure_of(script, options);
    EXPECT_EQ(failure.cause(), Cause::kTooLarge);
    EXPECT_EQ(failure.code(), KRL_RESOURCE_EXHAUSTED);
    EXPECT_THAT(failure.what(), HasSubstr("body has more than 1000 bytes"));
    std::string body;
    EXPECT_THROW(body = streamed(get("/")), Failure);
    EXPECT_LE(body.size(), 1000u);
  }
  server_.emplace([](const SeenRequest&) { return answer(200, std::string(1000, 'x')); });
  connect_to(server_->url(), options);
  EXPECT_EQ(ask(get("/")).body.size(), 1000u);
}

}  // namespace
}  // namespace krl::http::testing
