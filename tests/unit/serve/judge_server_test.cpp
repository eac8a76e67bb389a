// What clients of a judge get, over HTTP.
#include "serve/judge_server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <future>

#include "http/base/event_stream.hpp"
#include "tests/unit/http/client_fixture.hpp"
#include "tests/unit/serve/toy_judge.hpp"
#include "tests/wait_while.hpp"

namespace krl::serve::testing {
namespace {

using http::Answer;
using http::Request;
using ::testing::HasSubstr;

// The world must be made before the client starts its thread.
struct WorldFirst {
  test::ToyWorld world_;
};

class Served : protected WorldFirst, public http::testing::ClientFixture {
 protected:
  void serve(const test::Overrides& changes = {}, const JudgeServerOptions& options = {}) {
    judge_.emplace(world_, changes);
    auto server = JudgeServer::open(judge_->plan, judge_->session, options);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    connect_to(server_->url());
  }
  Answer evaluate(const std::string& body, const std::string& query = {}) {
    return ask(post("/v1/evaluate" + query, body));
  }
  static Json json(const Answer& answer) { return Json::parse(answer.body); }
  static std::string code_in(const Answer& answer) { return json(answer)["error"]["code"]; }
  std::string metrics() { return ask(get("/metrics")).body; }

  std::optional<ToyJudge> judge_;
  std::unique_ptr<JudgeServer> server_;
};

TEST_F(Served, TellsTheVerdictOnAKernel) {
  serve();
  const Answer answer = evaluate(ToyJudge::request(3));
  EXPECT_EQ(answer.status, 200u);
  const Json result = json(answer);
  EXPECT_EQ(result["task"], "toy_0");
  EXPECT_EQ(result["evaluation"]["verdict"], "ok");
  EXPECT_EQ(result["headline"], "ok: 2.00 times the baseline");
  EXPECT_EQ(result["kept"], false);
  EXPECT_EQ(json(evaluate(ToyJudge::request(3)))["kept"], true);
}

TEST_F(Served, ABatchIsAnsweredInItsOrder) {
  serve();
  const Answer answer =
      evaluate("{\"requests\": [" + ToyJudge::request(1) + "," +
               R"({"task": "toy_9", "source": ""},)" + ToyJudge::request(2) + "]}");
  const Json results = json(answer)["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["evaluation"]["verdict"], "wrong_result");
  EXPECT_EQ(results[1]["error"]["code"], "not_found");
  EXPECT_EQ(results[2]["evaluation"]["verdict"], "ok");
  EXPECT_EQ(json(evaluate(R"({"requests": []})"))["results"].size(), 0u);
}

TEST_F(Served, ProgressComesAsEvents) {
  serve();
  Request request = post("/v1/evaluate", "{\"requests\": [" + ToyJudge::request(2) + "," +
                                             R"({"task": "toy_0"})" + "]}");
  request.headers = {{"Accept", "text/event-stream"}};
  const std::string text = streamed(request);
  http::EventStream events;
  std::map<std::string, std::vector<Json>> seen;
  events.feed(
      text, [&](const http::Event& event) { seen[event.type].push_back(Json::parse(event.data)); });
  ASSERT_EQ(seen["result"].size(), 1u) << text;
  EXPECT_EQ(seen["result"][0]["index"], 0);
  ASSERT_EQ(seen["error"].size(), 1u);
  EXPECT_EQ(seen["error"][0]["index"], 1);
  EXPECT_EQ(seen["started"].size(), 1u);
  EXPECT_EQ(seen["end"].size(), 1u);
}

TEST_F(Served, AnEvaluationCanBePolled) {
  serve({"backend.held=true"});
  const Answer begun = evaluate(ToyJudge::request(3), "?wait=0.01");
  EXPECT_EQ(begun.status, 202u);
  const std::string path = "/v1/evaluations/" + json(begun)["id"].get<std::string>();
  test::wait_while([&] { return json(ask(get(path)))["state"] != "running"; });
  auto waits = std::async(std::launch::async, [&] { return ask(get(path + "?wait=600")); });
  Request end = get(path);
  end.method = "DELETE";
  EXPECT_EQ(ask(end).status, 200u);
  EXPECT_EQ(code_in(waits.get()), "cancelled");
  EXPECT_EQ(ask(get("/v1/evaluations/0123")).status, 404u);
  EXPECT_EQ(evaluate(ToyJudge::request(3), "?wait=-1").status, 400u);
}

TEST_F(Served, AResultIsPolledTwice) {
  serve();
  const Answer begun = evaluate(ToyJudge::request(3), "?wait=60");
  ASSERT_EQ(begun.status, 200u);
  EXPECT_EQ(json(begun)["evaluation"]["verdict"], "ok");
  const Answer again = ask(get("/v1/evaluations/" + json(begun)["id"].get<std::string>()));
  EXPECT_EQ(json(again)["evaluation"], json(begun)["evaluation"]);
}

TEST_F(Served, NothingIsJudgedForAClientThatHasLeft) {
  serve({"backend.held=true", "backend.concurrency=1"});
  boost::asio::io_context io;
  {
    boost::asio::ip::tcp::socket socket(io);
    const std::string url = server_->url(), body = ToyJudge::request(3);
    socket.connect({boost::asio::ip::make_address("127.0.0.1"),
                    static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)))});
    boost::asio::write(socket,
                       boost::asio::buffer("POST /v1/evaluate HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                           "Content-Length: " +
                                           std::to_string(body.size()) + "\r\n\r\n" + body));
    test::wait_while([&] { return json(ask(get("/v1/info")))["running"] == 0; });
  }
  test::wait_while([&] { return metrics().find("{end=\"cancelled\"} 1") == std::string::npos; });
  EXPECT_TRUE(server_->drain(std::chrono::seconds(60)));
}

TEST_F(Served, AnErrorIsNeverAVerdict) {
  serve({"backend.broken=true", "run.retries=0"});
  const Answer broken = evaluate(ToyJudge::request(3));
  EXPECT_EQ(broken.status, 503u);
  EXPECT_NE(broken.header("Retry-After"), "");
  EXPECT_FALSE(json(broken).contains("evaluation"));
}

TEST_F(Served, ADeadlineIsKept) {
  serve({"backend.held=true"});
  EXPECT_EQ(evaluate(ToyJudge::request(3, "", R"(, "deadline_s": 1)")).status, 504u);
}

TEST_F(Served, WrongRequestsAreTold) {
  serve();
  EXPECT_EQ(evaluate("{").status, 400u);
  EXPECT_THAT(evaluate(R"({"task": "toy_0", "sauce": ""})").body,
              HasSubstr("unknown key 'sauce'; known: task, source"));
  EXPECT_EQ(evaluate(R"({"task": "toy_00", "source": ""})").status, 404u);
  EXPECT_EQ(evaluate(R"({"requests": 3})").status, 400u);
  EXPECT_EQ(ask(get("/v1/evaluate")).status, 405u);
  EXPECT_EQ(ask(get("/v1")).status, 404u);
}

TEST_F(Served, HoldoutsStaySecret) {
  serve({"backend.overfitted_choice=3"});
  const Answer answer =
      evaluate(ToyJudge::request(3, "", R"(, "stages": ["check", "time", "holdout"])"));
  const Json cases = json(answer)["evaluation"]["cases"];
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1]["kind"], "holdout");
  EXPECT_EQ(cases[1]["verdict"], "wrong_result");
  EXPECT_EQ(answer.body.find("n=2"), std::string::npos) << answer.body;
  EXPECT_EQ(ask(get("/v1/tasks/toy_0")).body.find("holdout"), std::string::npos);
}

TEST_F(Served, ShowsTasksAsATrainingDoes) {
  serve();
  EXPECT_EQ(json(ask(get("/v1/tasks")))["tasks"].size(), 4u);
  const Json task = json(ask(get("/v1/tasks/toy_0")));
  EXPECT_EQ(task["signature"], "in float x[n]\nout float y[n]");
  EXPECT_THAT(task["prompt"].get<std::string>(), HasSubstr("in float x[n]"));
  Json own = {
      {"id", "mine"}, {"title", "mine"}, {"prompt", "p"}, {"origin", {{"file", "/etc/passwd"}}}};
  own.update(Json::parse(
      R"({"axes": {"n": "var"}, "input": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
          "output": [{"name": "y", "dtype": "float32", "shape": ["n"]}], "reference": "def run(x): return x",
          "cases": [{"n": 1}]})"));
  const Answer defined = ask(post("/v1/tasks", own.dump()));
  EXPECT_EQ(json(defined)["id"], "mine") << defined.body;
  const Json request = {{"task", own}, {"source", "__global__ void k() {}  // choice 2"}};
  EXPECT_EQ(json(evaluate(request.dump()))["evaluation"]["verdict"], "ok");
}

TEST_F(Served, ClientsNeedTheirTokens) {
  JudgeServerOptions options;
  options.admission.tokens = {{"0123456789abcdef", "trainer"}};
  serve({}, options);
  EXPECT_EQ(evaluate(ToyJudge::request(3)).status, 401u);
  EXPECT_EQ(ask(get("/healthz")).status, 200u);
  Request request = post("/v1/evaluate", ToyJudge::request(3));
  request.headers = {{"Authorization", "Bearer 0123456789abcdef"}};
  EXPECT_EQ(ask(request).status, 200u);
  request.headers = {{"Authorization", "Bearer 0123456789abcdee"}};
  EXPECT_EQ(ask(request).status, 401u);
}

TEST_F(Served, PagesOfOthersAreRefused) {
  JudgeServerOptions options;
  options.admission.origins = {"https://friend.example"};
  serve({}, options);
  Request request = get("/v1/tasks");
  request.headers = {{"Origin", "https://evil.example"}};
  EXPECT_EQ(ask(request).status, 403u);
  request.headers = {{"Origin", "https://friend.example"}};
  EXPECT_EQ(ask(request).status, 200u);
  request.headers = {{"Origin", server_->url()}};
  EXPECT_EQ(ask(request).status, 200u);
  request.headers = {{"Host", "rebound.example"}};
  EXPECT_EQ(ask(request).status, 403u);
}

TEST_F(Served, EachClientHasItsRate) {
  JudgeServerOptions options;
  options.admission.rate = 0.2;  // two at once, then one in five seconds
  serve({}, options);
  EXPECT_EQ(ask(get("/v1/tasks")).status, 200u);
  EXPECT_EQ(ask(get("/v1/tasks")).status, 200u);
  const Answer refused = ask(get("/v1/tasks"));
  EXPECT_EQ(refused.status, 429u);
  EXPECT_EQ(refused.header("Retry-After"), "1");
}

TEST_F(Served, OpenApiDescribesEveryRoute) {
  serve();
  const Json document = json(ask(get("/openapi.json")));
  EXPECT_EQ(document["openapi"], "3.1.0");
  const Json& schemas = document["components"]["schemas"];
  EXPECT_TRUE(schemas["EvaluationRequest"]["properties"].contains("deadline_s"));
  EXPECT_TRUE(schemas["Evaluation"]["properties"].contains("verdict"));
  // What is described is there, and an answer has what its schema requires.
  for (const auto& [path, operations] : document["paths"].items()) {
    for (const auto& [method, operation] : operations.items()) {
      EXPECT_TRUE(operation.contains("responses")) << path;
      const bool is_plain = path.starts_with("/v1/") && path.find('{') == std::string::npos;
      if (method != "get" || !is_plain) continue;
      EXPECT_EQ(ask(get(path)).status, 200u) << path;
    }
  }
  const Json result = json(evaluate(ToyJudge::request(3)));
  for (const Json& member : schemas["Result"]["required"])
    EXPECT_TRUE(result.contains(member.get<std::string>())) << member;
  for (const auto& [name, schema] : schemas["Evaluation"]["properties"].items())
    EXPECT_TRUE(result["evaluation"].contains(name)) << name;
}

TEST_F(Served, DrainsAndSaysSo) {
  serve({"backend.slow_choice=2"});
  auto under_way = std::async(std::launch::async, [&] { return evaluate(ToyJudge::request(2)); });
  test::wait_while([&] { return json(ask(get("/v1/info")))["running"] == 0; });
  auto drained =
      std::async(std::launch::async, [&] { return server_->drain(std::chrono::seconds(60)); });
  test::wait_while([&] { return ask(get("/healthz")).status == 200; });
  EXPECT_EQ(evaluate(ToyJudge::request(3)).status, 503u);
  EXPECT_EQ(under_way.get().status, 200u);
  client_.reset();
  EXPECT_TRUE(drained.get());
}

}  // namespace
}  // namespace krl::serve::testing
