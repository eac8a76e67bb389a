#include "serve/routing/router.hpp"

#include <optional>
#include <set>

#include "core/base/log.hpp"
#include "service/kernels/evaluation_request.hpp"

namespace krl::serve {
namespace {

using Parameters = std::map<std::string, std::string>;

std::string_view first_part(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return part;
}

// The parameters of a path that has this form; none if it has not.
std::optional<Parameters> match(std::string_view form, std::string_view path) {
  Parameters parameters;
  if (form.empty() || path.empty()) return std::nullopt;
  form.remove_prefix(1);
  path.remove_prefix(1);
  while (!form.empty()) {
    const std::string_view name = first_part(form);
    if (path.empty()) return std::nullopt;
    if (!name.starts_with('{')) {
      if (first_part(path) != name) return std::nullopt;
    } else {
      const std::string key(name.substr(1, name.size() - 2));
      parameters[key] = form.empty() ? std::exchange(path, {}) : first_part(path);
    }
  }
  return path.empty() ? std::optional(parameters) : std::nullopt;
}

http::Answer wrong_method(const std::set<std::string>& methods) {
  std::string allowed;
  for (const std::string& method : methods) allowed += (allowed.empty() ? "" : ", ") + method;
  http::Answer answer = refusal(405, "invalid_argument", "this address takes only " + allowed);
  answer.headers.push_back({"Allow", allowed});
  return answer;
}

}  // namespace

Result<Json> RoutedCall::json() const {
  return request().body.empty() ? Json::object() : service::parse_json(request().body);
}

std::function<void(const RoutedCall&)> taking_json(
    std::function<void(const RoutedCall&, const Json&)> handle) {
  return [handle = std::move(handle)](const RoutedCall& call) {
    const auto body = call.json();
    body ? handle(call, *body) : call.answer(error_answer(body.error()));
  };
}

void Router::handle(CallPointer call) {
  const http::IncomingRequest& request = call->request();
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::set<std::string> methods;
  for (const Route& route : routes_) {
    const auto parameters = match(route.path, request.path);
    if (!parameters) continue;
    methods.insert(route.method);
    if (route.method != method) continue;
    auto client = admission_.admit(request, route.is_open);
    if (!client) {
      metrics_.count_request(route.path, client.error().status);
      return call->answer(std::move(client).error());
    }
    try {
      route.handle({call, *std::move(client), *parameters, route.path, &metrics_, &admission_});
    } catch (const std::exception& error) {
      log(Severity::kError, route.path + ": " + error.what());
      call->answer(error_answer({Code::kInternal, "the server failed at this request"}));
    }
    return;
  }
  metrics_.count_request("", methods.empty() ? 404 : 405);
  if (!methods.empty()) return call->answer(wrong_method(methods));
  call->answer(error_answer(
      {Code::kNotFound, "there is nothing at " + request.path + "; see /openapi.json"}));
}

}  // namespace krl::serve
