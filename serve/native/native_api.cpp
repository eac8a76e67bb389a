#include "serve/native/native_api.hpp"

#include <memory>

#include "serve/native/evaluate_call.hpp"
#include "serve/native/openapi.hpp"
#include "serve/native/polled_evaluations.hpp"

namespace krl::serve {
Json brief(const Task& task) {
  return {{"id", task.id}, {"title", task.title}, {"tier", task.tier}};
}

namespace {

Result<Json> in_full(const JudgeService& service, const Result<TaskPointer>& found) {
  KRL_ASSIGN(const TaskPointer pointer, found);
  const Task& task = pointer->task;
  Json json = brief(task);
  json["prompt"] = service.prompt(task).back().text;
  json["signature"] = task.facts.signature;
  json["naive"] = task.facts.naive;
  return json;
}

void add_evaluation(JudgeService& service, Router& router) {
  const auto polled = std::make_shared<PolledEvaluations>(service);
  const Json result = json_response("the verdict, with all its figures", reference("Result"));
  const Json state = json_response("it is not over yet", reference("State"));
  const char* const kWait = "seconds to wait for the result; what is not over then is 202";
  router.add(
      {"POST", "/v1/evaluate",
       taking_json([&service, polled](const RoutedCall& call, const Json& body) {
         const bool is_batch = body.is_object() && body.contains("requests");
         if (call.request().query("wait").empty() || is_batch)
           return answer_evaluate(service, call, body);
         polled->begin(call, body);
       }),
       with_query(
           with_body(operation("Judges a kernel, or several", {{"200", result}, {"202", state}}),
                     {{"oneOf", {reference("EvaluationRequest"), reference("Batch")}}}),
           "wait", kWait, "number")});
  router.add({"GET", "/v1/evaluations/{id}",
              [polled](const RoutedCall& call) { polled->look(call); },
              with_query(operation("The result of an earlier call with `wait`",
                                   {{"200", result}, {"202", state}}),
                         "wait", kWait, "number")});
  router.add({"DELETE", "/v1/evaluations/{id}",
              [polled](const RoutedCall& call) { polled->cancel(call); },
              operation("Ends an evaluation", {{"200", state}})});
}

void add_tasks(JudgeService& service, Router& router) {
  router.add({"GET", "/v1/tasks",
              [&service](const RoutedCall& call) {
                Json tasks = Json::array();
                for (const TaskPointer& task : service.tasks().seen_by(call.client))
                  tasks.push_back(brief(task->task));
                call.answer(json_answer({{"tasks", std::move(tasks)}}));
              },
              operation("The tasks", {{"200", json_response("by id", {{"type", "object"}})}})});
  router.add({"POST", "/v1/tasks",
              taking_json([&service](const RoutedCall& call, const Json& body) {
                const auto task = service.tasks().define(body);
                if (task) service.tasks().keep(call.client, *task);
                call.answer(answer_of(in_full(service, task)));
              }),
              with_body(operation("Reads a definition, and shows what a policy would be shown",
                                  {{"200", json_response("the task", reference("Task"))}}),
                        {{"type", "object"}})});
  router.add({"GET", "/v1/tasks/{id}",
              [&service](const RoutedCall& call) {
                call.answer(answer_of(
                    in_full(service, service.tasks().find(call.parameters.at("id"), call.client))));
              },
              operation("A task with its prompt",
                        {{"200", json_response("the task", reference("Task"))}})});
  router.add({"GET", "/v1/best",
              [&service](const RoutedCall& call) {
                std::string text = "{\"best\":[";
                for (const BestKernel& best :
                     service.queue().best().list(call.client, call.request().query("task"))) {
                  text += (text.back() == '[' ? "{\"source\":" : ",{\"source\":") +
                          dumped(best.source) + "," + best.told->json + "}";
                }
                call.answer(text_answer(text + "]}", "application/json"));
              },
              with_query(operation("The fastest right kernels that were judged here",
                                   {{"200", json_response("by task", {{"type", "object"}})}}),
                         "task", "only that of this task", "string")});
}

void add_operation(JudgeService& service, const ServerState& state, Router& router) {
  router.add({"GET", "/v1/info",
              [&service, &state](const RoutedCall& call) {
                const BackendInfo& info = service.info();
                call.answer(json_answer({{"version", state.version},
                                         {"identity", service.identity()},
                                         {"device", info.device},
                                         {"toolchain", info.toolchain},
                                         {"concurrency", info.concurrency},
                                         {"real_sizes", info.real_sizes},
                                         {"signals", info.signals},
                                         {"seeds", state.seeds},
                                         {"waiting", service.queue().waiting()},
                                         {"running", service.queue().running()}}));
              },
              operation("What judges here", {{"200", json_response("", {{"type", "object"}})}})});
  router.add(
      {"GET", "/healthz",
       [&state](const RoutedCall& call) {
         const bool drains = state.drains;
         call.answer(json_answer({{"status", drains ? "draining" : "ok"}}, drains ? 503 : 200));
       },
       operation("200 if it serves", {{"200", json_response("", {{"type", "object"}})}}), true});
  router.add({"GET", "/metrics",
              [&service, &state](const RoutedCall& call) {
                service.metrics().set_connections(state.connections());
                call.answer(text_answer(service.metrics().text(), "text/plain; version=0.0.4"));
              },
              operation("Prometheus's text format", {{"200", {{"description", "metrics"}}}})});
  router.add({"GET", "/openapi.json",
              [&router, &state](const RoutedCall& call) {
                call.answer(json_answer(openapi_document(router.routes(), state.version)));
              },
              operation("This document", {{"200", json_response("", {{"type", "object"}})}}),
              true});
}

}  // namespace

void add_native_routes(JudgeService& service, const ServerState& state, Router& router) {
  add_evaluation(service, router);
  add_tasks(service, router);
  add_operation(service, state, router);
}

}  // namespace krl::serve
