// Every shape that an answer of HTTP/1.1 may have, and what a request looks like to the server.
#include <filesystem>

#include "tests/unit/http/client_fixture.hpp"
#include "tests/wait_while.hpp"

namespace krl::http::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Answers : public ClientFixture {
 protected:
  // What a client makes of a script.
  Answer answer_to(const Script& script, const Request& request = get("/")) {
    server_.emplace([script](const SeenRequest&) { return script; });
    connect_to(server_->url());
    return ask(request);
  }

  std::optional<ScriptedServer> server_;
};

TEST_F(Answers, HaveStatusHeadersAndBody) {
  const Answer got = answer_to(answer(201, "{\"a\":1}", {{"X-Thing", "one"}, {"x-thing", "two"}}));
  EXPECT_EQ(got.status, 201u);
  EXPECT_EQ(got.body, "{\"a\":1}");
  EXPECT_EQ(got.header("X-THING"), "one");
  EXPECT_EQ(got.header("content-length"), "7");
  EXPECT_EQ(got.header("no-such"), "");
}

TEST_F(Answers, WithAnyStatusAreAnswers) {
  for (const unsigned status : {200u, 299u, 300u, 302u, 404u, 418u, 500u, 599u, 999u}) {
    EXPECT_EQ(answer_to(answer(status, "why")).status, status);
  }
}

TEST_F(Answers, ComeInChunks) {
  const std::string large(100'000, 'x');
  EXPECT_EQ(answer_to(chunked(200, {"a", large, "b"}, milliseconds(1))).body, "a" + large + "b");
  EXPECT_EQ(answer_to(Script().send(head(200, {{"Transfer-Encoding", "chunked"}}) +
                                    "3;ext=1\r\nabc\r\n0\r\nTrailer: x\r\n\r\n"))
                .body,
            "abc");
  EXPECT_EQ(server_->requests().size(), 1u);
}

TEST_F(Answers, MayEndWithTheConnection) {
  const Script script =
      Script().send(head(200) + "all of").wait(milliseconds(1)).send(" it").close();
  EXPECT_EQ(answer_to(script).body, "all of it");
}

TEST_F(Answers, MayBeCutAnywhereOnTheirWay) {
  const std::string text = head(200, {{"Transfer-Encoding", "chunked"}}) + chunk("ab") + chunk("");
  Script script;
  for (const char byte : text) script.send({byte}).wait(milliseconds(1));
  EXPECT_EQ(answer_to(script).body, "ab");
}

TEST_F(Answers, WithoutABodyLeaveTheConnectionOpen) {
  server_.emplace([](const SeenRequest& seen) {
    if (seen.method == "HEAD") return Script().send(head(200, {{"Content-Length", "1000"}}));
    return Script().send(head(seen.target == "/204" ? 204 : 304));
  });
  connect_to(server_->url());
  Request head_request = get("/");
  head_request.method = "HEAD";
  const Answer answered = ask(head_request);
  EXPECT_EQ(answered.header("content-length"), "1000");
  EXPECT_EQ(answered.body, "");
  EXPECT_EQ(ask(get("/204")).status, 204u);
  EXPECT_EQ(ask(get("/304")).status, 304u);
  EXPECT_EQ(ask(get("/304")).status, 304u);
  EXPECT_EQ(server_->accepted(), 1);
}

TEST_F(Answers, OfStatus1xxArePassedOver) {
  const Script script = Script()
                            .send(head(100))
                            .wait(milliseconds(1))
                            .send(head(102) + head(103, {{"Link", "</x>"}}) +
                                  head(200, {{"Content-Length", "2"}}) + "ok");
  const Answer got = answer_to(script);
  EXPECT_EQ(got.status, 200u);
  EXPECT_EQ(got.header("link"), "");
  EXPECT_EQ(got.body, "ok");
}

TEST_F(Answers, AreReadFromAServerThatRefusesEarly) {
  ServerSettings settings;
  settings.reads_bodies = false;
  const auto refuse = [](const SeenRequest&) { return answer(413, "too large").close(); };
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("krl-http-" + std::to_string(::getpid()));
  settings.socket_path = path;
  server_.emplace(refuse, settings);
  connect_to(server_->url());
  const Answer got = ask(post("/", std::string(std::size_t{32} << 20, 'x')));
  EXPECT_EQ(got.status, 413u);
  EXPECT_EQ(got.body, "too large");
  std::filesystem::remove(path);
}

TEST_F(Answers, AreHandedOverAsTheyCome) {
  std::atomic<int> seen{0};
  server_.emplace([&seen](const SeenRequest&) {
    Script script;
    script.send(head(200, {{"Transfer-Encoding", "chunked"}}));
    script.send(chunk("one")).until([&seen] {
      return seen == 1;
    });  // waits for the client to see it
    script.send(chunk("two")).until([&seen] { return seen == 2; });
    return script.send(chunk(""));
  });
  connect_to(server_->url());
  std::vector<std::string> parts;
  const Answer got = loop_.run([&](Yield yield) {
    const auto on_body = [&](std::string_view bytes) {
      parts.emplace_back(bytes);
      ++seen;
    };
    return client_->stream(get("/"), on_body, patient(), yield);
  });
  EXPECT_THAT(parts, ElementsAre("one", "two"));
  EXPECT_EQ(got.status, 200u);
  EXPECT_EQ(got.body, "");
}

TEST_F(Answers, ThatAreNotGoodAreReadWholeInsteadOfStreamed) {
  server_.emplace([](const SeenRequest&) { return chunked(503, {"busy", " now"}); });
  connect_to(server_->url());
  loop_.run([&](Yield yield) {
    const Answer got = client_->stream(
        get("/"), [](std::string_view) { ADD_FAILURE() << "streamed"; }, patient(), yield);
    EXPECT_EQ(got.status, 503u);
    EXPECT_EQ(got.body, "busy now");
  });
}

TEST_F(Answers, AreNoLongerWantedWhenTheirReceiverThrows) {
  server_.emplace([](const SeenRequest& seen) {
    return seen.target == "/endless" ? Script().send(head(200)).endlessly("x") : answer(200, "ok");
  });
  connect_to(server_->url());
  EXPECT_THROW(loop_.run([&](Yield yield) {
    client_->stream(
        get("/endless"), [](std::string_view) { throw std::domain_error("enough"); }, patient(),
        yield);
  }),
               std::domain_error);
  test::wait_while([&] { return server_->open() > 0; });
  EXPECT_EQ(ask(get("/")).body, "ok");
}

TEST_F(Answers, ComeToUnixSocketsToo) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("krl-http-" + std::to_string(::getpid()));
  ServerSettings settings;
  settings.socket_path = path;
  server_.emplace([](const SeenRequest& seen) { return answer(200, seen.header("host")); },
                  settings);
  connect_to(server_->url());
  EXPECT_EQ(ask(get("/version")).body, "localhost");
  EXPECT_EQ(ask(get("/version")).body, "localhost");
  EXPECT_EQ(server_->accepted(), 1);
  EXPECT_EQ(server_->requests().front().target, "/version");
  std::filesystem::remove(path);
}

TEST_F(Answers, ComeFromANameThatIsLookedUp) {
  server_.emplace([](const SeenRequest&) { return answer(200, "ok"); });
  connect_to("http://localhost:" + std::to_string(server_->port()));
  EXPECT_EQ(ask(get("/")).body, "ok");
}

TEST_F(Answers, ToARequestWithItsHeadersAndBody) {
  server_.emplace([](const SeenRequest&) { return answer(200); });
  Options options = plain();
  options.secret_headers = {
      {"X-Client", "one"}, {"Accept", "application/json"}, {"X-API-Key", "tml-1234"}};
  connect_to(server_->url() + "/v1/", options);
  Request request = post("/completions?x=y", "{}");
  request.headers = {{"x-client", "two"}, {"X-Request", "three"}};
  ask(request);
  ask(get(""));
  ask(post("/empty", ""));
  const auto seen = server_->requests();
  EXPECT_EQ(seen[0].method, "POST");
  EXPECT_EQ(seen[0].target, "/v1/completions?x=y");
  EXPECT_EQ(seen[0].body, "{}");
  EXPECT_EQ(seen[0].header("Host"), "127.0.0.1:" + std::to_string(server_->port()));
  EXPECT_EQ(seen[0].header("Content-Type"), "application/json");
  EXPECT_EQ(seen[0].header("X-API-Key"), "tml-1234");
  EXPECT_EQ(seen[0].header("Accept"), "application/json");
  EXPECT_EQ(seen[0].header("X-Client"), "two");
  EXPECT_EQ(seen[0].header("X-Request"), "three");
  EXPECT_EQ(seen[1].target, "/v1");
  EXPECT_EQ(seen[1].header("Content-Length"), "");
  EXPECT_EQ(seen[1].header("X-Client"), "one");
  EXPECT_EQ(seen[2].header("Content-Length"), "0");
}

TEST_F(Answers, ToALargeRequest) {
  server_.emplace([](const SeenRequest& seen) {
    return answer(200, std::to_string(std::count(seen.body.begin(), seen.body.end(), 'x')));
  });
  connect_to(server_->url());
  EXPECT_EQ(ask(post("/", std::string(5'000'000, 'x'))).body, "5000000");
}

TEST_F(Answers, ToALoginOfTheUrl) {
  server_.emplace(
      [](const SeenRequest& seen) { return answer(200, seen.header("Authorization")); });
  connect_to("http://somebody:hunter2@127.0.0.1:" + std::to_string(server_->port()));
  EXPECT_EQ(ask(get("/")).body, "Basic c29tZWJvZHk6aHVudGVyMg==");
}

TEST_F(Answers, ToNoRequestThatHoldsAnother) {
  server_.emplace([](const SeenRequest&) { return answer(200); });
  connect_to(server_->url());
  Request bad_value = get("/"), bad_name = get("/"), bad_method = get("/");
  bad_value.headers = {{"X-Name", "value\r\nX-Other: hunter2"}};
  bad_name.headers = {{"X Name", "value"}};
  bad_method.method = "GET / HTTP/1.1\r\nX:";
  for (const Request& request :
       {bad_value, bad_name, bad_method, get("/ HTTP/1.1\r\nX: y"), get("/\n")}) {
    try {
      ask(request);
      ADD_FAILURE() << "asked";
    } catch (const krl::Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      EXPECT_THAT(failure.what(), Not(HasSubstr("hunter2")));
    }
  }
  Options options = plain();
  options.secret_headers = {{"Authorization", "Bearer sk-1234\n"}};
  EXPECT_THROW(connect_to(server_->url(), options), krl::Failure);
  EXPECT_TRUE(server_->requests().empty());
}

}  // namespace
}  // namespace krl::http::testing
