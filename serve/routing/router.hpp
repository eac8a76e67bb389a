// Finds the handler of a request by its method and path, once the client may ask at all: its token,
// the page that it comes from, and how often it asks. Thread-safe after the routes are added.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/server/server_call.hpp"
#include "serve/judging/judge_metrics.hpp"
#include "serve/routing/admission.hpp"
#include "serve/routing/answers.hpp"

namespace krl::serve {

using CallPointer = std::shared_ptr<http::ServerCall>;

// A request that may be answered.
struct RoutedCall {
  CallPointer call;
  std::string client;                             // a token's name, or the peer's address
  std::map<std::string, std::string> parameters;  // those of the path: {id}
  std::string route;
  JudgeMetrics* metrics;
  Admission* admission;

  const http::IncomingRequest& request() const { return call->request(); }
  // Answers, and counts the answer.
  void answer(http::Answer answer) const {
    metrics->count_request(route, answer.status);
    call->answer(std::move(answer));
  }
  // Begins an event stream, and counts it.
  void begin_events() const {
    metrics->count_request(route, 200);
    call->begin_events();
  }
  bool wants_events() const {
    return request().header("Accept").find("text/event-stream") != std::string_view::npos;
  }
  // The body as JSON; an empty one is {}.
  Result<Json> json() const;
};

// A handler of requests with JSON: answers those whose body is none.
std::function<void(const RoutedCall&)> taking_json(
    std::function<void(const RoutedCall&, const Json&)> handle);

struct Route {
  std::string method, path;  // "GET", "/v1/tasks/{id}"; a parameter may hold "/" if last
  std::function<void(const RoutedCall&)> handle;
  Json operation = Json::object();  // how OpenAPI describes it
  bool is_open = false;             // for clients without a token too
};

class Router {
 public:
  Router(Admission admission, JudgeMetrics& metrics)
      : admission_(std::move(admission)), metrics_(metrics) {}

  void add(Route route) { routes_.push_back(std::move(route)); }
  const std::vector<Route>& routes() const { return routes_; }

  // Answers by a handler, or with 401, 403, 404, 405 or 429. What a handler throws is an answer of
  // status 500.
  void handle(CallPointer call);

 private:
  Admission admission_;
  JudgeMetrics& metrics_;
  std::vector<Route> routes_;
};

}  // namespace krl::serve
