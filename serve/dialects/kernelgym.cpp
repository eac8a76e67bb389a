#include "serve/dialects/kernelgym.hpp"

#include <fmt/format.h>

#include "serve/dialects/environment.hpp"
#include "serve/dialects/kernelbench_sources.hpp"
#include "serve/judging/clients_own.hpp"

namespace krl::serve::kernelgym {
namespace {

constexpr std::size_t kMostResults = 10000;
constexpr std::int64_t kTimeout = 300;  // seconds, of requests that name none

Json result_of(const std::string& id, const ToldResult& told, const std::string& device) {
  const Evaluation& evaluation = told.evaluation;
  double kernel_ns = kUnknown, baseline_ns = kUnknown;
  for (const Case& c : evaluation.cases)
    if (c.timed()) kernel_ns = c.time_ns, baseline_ns = c.baseline_ns;
  const bool passed = evaluation.passed();
  return {
      {"task_id", id},
      {"status", "completed"},
      {"compiled", evaluation.compiled()},
      {"correctness", passed},
      {"decoy_kernel", evaluation.verdict == Verdict::kFlagged},
      {"reference_runtime", number_or_null(baseline_ns / 1e6)},
      {"kernel_runtime", number_or_null(kernel_ns / 1e6)},
      {"speedup", passed ? number_or_null(evaluation.speedup()) : Json(0.0)},
      {"metadata",
       {{"device", device}, {"verdict", name_of(evaluation.verdict)}, {"feedback", told.feedback}}},
      {"error_message", passed ? Json(nullptr) : Json(told.headline)}};
}

class Results {
 public:
  explicit Results(JudgeService& service) : service_(service), sources_(service.tasks()) {}

  // Answers once the kernel is judged. An error leaves nothing behind: the client asks again.
  void evaluate(const RoutedCall& call, const Json& body) {
    const std::string id = text_in(body, "task_id"), kernel = text_in(body, "kernel_code");
    if (id.empty() || id.size() > kMostId || kernel.empty())
      return call.answer(error_answer(
          {Code::kInvalidArgument,
           fmt::format("task_id, of at most {} bytes, reference_code and kernel_code must be texts",
                       kMostId)}));
    auto task = sources_.find(text_in(body, "reference_code"));
    if (!task) return call.answer(error_answer(task.error()));
    const bool has_timeout = body.contains("timeout") && body["timeout"].is_number_integer();
    const std::int64_t timeout = has_timeout ? body["timeout"].get<std::int64_t>() : kTimeout;
    const auto ticket = service_.queue().submit(
        service_.order_of(call.client, *std::move(task), kernel,
                          std::chrono::seconds(std::max<std::int64_t>(timeout, 1))),
        [this, call, id](const Outcome& outcome) { settle(call, id, outcome); });
    call.call->when_gone([this, ticket] {
      if (ticket != 0) service_.queue().cancel(ticket);
    });
  }

  void status(const RoutedCall& call) {
    if (!find(call).is_null())
      call.answer(json_answer({{"task_id", call.parameters.at("id")}, {"status", "completed"}}));
  }

  void result(const RoutedCall& call) {
    const Json result = find(call);
    if (!result.is_null()) call.answer(json_answer(result));
  }

 private:
  // Clients ask again after 503, and take another error for a bad kernel.
  void settle(const RoutedCall& call, const std::string& id, const Outcome& outcome) {
    if (!outcome.told)
      return call.answer(error_answer({Code::kUnavailable, outcome.told.error().message},
                                      service_.queue().retry_after()));
    const Json result = result_of(id, **outcome.told, service_.info().device);
    results_.keep(call.client, id, result);  // first: the client may ask as soon as it is answered
    call.answer(json_answer(result));
  }

  // Null after it has answered that there is none.
  Json find(const RoutedCall& call) {
    Json result = results_.find(call.client, call.parameters.at("id"));
    if (result.is_null())
      call.answer(error_answer({Code::kNotFound, "there is no such task of yours"}));
    return result;
  }

  JudgeService& service_;
  const KernelBenchSources sources_;
  ClientsOwn<Json> results_{kMostResults};
};

}  // namespace

void add_routes(JudgeService& service, Router& router) {
  const auto results = std::make_shared<Results>(service);
  router.add({"POST", "/evaluate", taking_json([results](const RoutedCall& call, const Json& body) {
                results->evaluate(call, body);
              })});
  router.add({"GET", "/status/{id}", [results](const RoutedCall& call) { results->status(call); }});
  router.add(
      {"GET", "/results/{id}", [results](const RoutedCall& call) { results->result(call); }});
}

}  // namespace krl::serve::kernelgym
