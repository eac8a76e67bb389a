#include "serve/dialects/mcp_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cctype>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>

#include "serve/dialects/mcp_tool_list.hpp"
#include "serve/native/native_api.hpp"
#include "serve/routing/answers.hpp"

namespace krl::serve::mcp {
namespace {

constexpr std::size_t kMostModuleId = 64;
constexpr int kMostImports = 64;  // that wait, or are made
constexpr int kSecondsOfImport = 120;

// Only to have a task without a baseline prepared.
constexpr const char* kAnyKernel = "__global__ void any() {}";

bool is_callers_fault(Code code) {
  return code == Code::kInvalidArgument || code == Code::kNotFound ||
         code == Code::kFailedPrecondition || code == Code::kUnimplemented;
}

ToolAnswer error_answer_of(const Error& error, std::chrono::seconds retry_after = {}) {
  const bool is_ours = !is_callers_fault(error.code);
  Json structured = error_json(error, is_ours ? retry_after : std::chrono::seconds(0));
  structured["infrastructure"] = is_ours;
  std::string text = error.message;
  if (is_ours) text = "No verdict: the judge failed, not the kernel (" + text + "). Call again.";
  return {std::move(structured), std::move(text), true};
}

std::function<void()> refuse(const ToolCall& call, const Error& error) {
  call.done(error_answer_of(error));
  return {};
}

// The text of an argument; empty if it is not there and need not be.
Result<std::string> text_argument(const Json& arguments, const char* name,
                                  bool is_required = true) {
  const auto found = arguments.find(name);
  if (found == arguments.end() && !is_required) return std::string();
  if (found == arguments.end()) return invalid(fmt::format("argument '{}' is missing", name));
  if (!found->is_string()) return invalid(fmt::format("argument '{}' must be a string", name));
  return found->get<std::string>();
}

ToolAnswer shown(const JudgeService& service, const Task& task) {
  ToolAnswer answer{brief(task), service.prompt(task).back().text};
  answer.structured["prompt"] = answer.text;
  answer.structured["signature"] = task.facts.signature;
  if (task.facts.naive.empty()) return answer;
  answer.structured["naive"] = task.facts.naive;
  answer.text += "\nThe naive kernel, which speedups are relative to:\n" + task.facts.naive;
  return answer;
}

// Kernels that are judged for one call; lives until all are, or one has no verdict.
class KernelsCall : public std::enable_shared_from_this<KernelsCall> {
 public:
  using Verdicts = std::vector<ToldPointer>;
  using Answer = std::function<ToolAnswer(const Verdicts&)>;

  KernelsCall(JudgeService& service, ToolCall call, Answer answer)
      : service_(service), call_(std::move(call)), answer_(std::move(answer)) {}

  // `requests` as POST /v1/evaluate takes them. Calling the result ends the call early.
  std::function<void()> begin(const Json& requests) {
    std::vector<Order> orders;
    for (const Json& request : requests) {
      auto order = service_.order_of(call_.client, request);
      if (!order) return refuse(call_, order.error());
      orders.push_back(*std::move(order));
    }
    verdicts_.resize(orders.size());
    for (std::size_t i = 0; i < orders.size(); ++i) submit(std::move(orders[i]), i);
    return [self = shared_from_this()] { self->cancel(); };
  }

 private:
  void submit(Order order, std::size_t i) {
    const auto ticket = service_.queue().submit(
        std::move(order),
        [self = shared_from_this(), i](Outcome outcome) { self->settle(i, std::move(outcome)); },
        [self = shared_from_this(), i] { self->step(i, "is being judged"); });
    std::unique_lock lock(mutex_);
    tickets_.push_back(ticket);
    if (!is_over_) return;
    lock.unlock();
    service_.queue().cancel(ticket);
  }

  void settle(std::size_t i, Outcome outcome) {
    std::unique_lock lock(mutex_);
    if (is_over_) return;
    if (outcome.told) verdicts_[i] = *outcome.told;
    is_over_ = !outcome.told || ++judged_ == verdicts_.size();
    const bool is_over = is_over_;
    lock.unlock();
    if (!is_over) return step(i, "is judged");
    if (outcome.told) return call_.done(answer_(verdicts_));
    call_.done(error_answer_of(outcome.told.error(), service_.queue().retry_after()));
    cancel();
  }

  void step(std::size_t i, const char* what) {
    if (!call_.progress) return;
    const std::lock_guard lock(progress_mutex_);
    const std::size_t of = verdicts_.size();
    call_.progress(++steps_, 2 * of, fmt::format("kernel {} of {} {}", i + 1, of, what));
  }

  void cancel() {
    std::unique_lock lock(mutex_);
    is_over_ = true;
    const std::vector<EvaluationQueue::Ticket> tickets = tickets_;
    lock.unlock();
    for (const auto ticket : tickets) service_.queue().cancel(ticket);
  }

  JudgeService& service_;
  const ToolCall call_;
  const Answer answer_;
  std::mutex progress_mutex_;  // guards `steps_`, and keeps them in order
  std::size_t steps_ = 0;
  std::mutex mutex_;  // guards the members below
  bool is_over_ = false;
  std::size_t judged_ = 0;
  Verdicts verdicts_;
  std::vector<EvaluationQueue::Ticket> tickets_;
};

std::function<void()> judge(JudgeService& service, ToolCall call, const Json& requests,
                            KernelsCall::Answer answer) {
  return std::make_shared<KernelsCall>(service, std::move(call), std::move(answer))
      ->begin(requests);
}

// A request as POST /v1/evaluate takes it.
Result<Json> request_of(const Json& arguments, const Json& holder) {
  Json request;
  KRL_ASSIGN(request["task"], text_argument(arguments, "task"));
  KRL_ASSIGN(request["source"], text_argument(holder, "source"));
  if (arguments.contains("contract")) request["contract"] = arguments["contract"];
  return request;
}

// The kernels to compare: their requests, and their names in `names`.
Result<Json> requests_of(const Json& arguments, std::vector<std::string>& names) {
  const Json kernels = arguments.value("kernels", Json());
  if (!kernels.is_array() || kernels.empty() || kernels.size() > kMostCompared)
    return invalid(fmt::format("argument 'kernels' must be a list of 1 to {}", kMostCompared));
  Json requests = Json::array();
  for (const Json& kernel : kernels) {
    if (!kernel.is_object()) return invalid("each of 'kernels' must be an object with a 'source'");
    KRL_ASSIGN(std::string name, text_argument(kernel, "name", false));
    names.push_back(name.empty() ? fmt::format("kernel {}", names.size() + 1) : name);
    KRL_ASSIGN(Json request, request_of(arguments, kernel));
    requests.push_back(std::move(request));
  }
  return requests;
}

// One row for each kernel, and one column of times for each shape that is shown.
std::string table_of(const std::vector<std::string>& names, const KernelsCall::Verdicts& verdicts) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Evaluation& evaluation = verdicts[i]->evaluation;
    text += names[i] + ": " + verdicts[i]->headline + "\n";
    for (const Case& c : evaluation.cases) {
      if (c.kind != CaseKind::kShown || !std::isfinite(c.time_ns)) continue;
      text += fmt::format("  {}: {:.1f} us", c.label, c.time_ns / 1000);
      if (c.timed())
        text += fmt::format(", {:.2f} times the baseline [{:.2f}, {:.2f}]", c.speedup,
                            c.speedup_low, c.speedup_high);
      text += "\n";
    }
  }
  return text;
}

ToolAnswer comparison(const std::string& task, const std::vector<std::string>& names,
                      const KernelsCall::Verdicts& verdicts) {
  Json kernels = Json::array();
  std::optional<std::size_t> fastest;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Json kernel = {{"name", names[i]}};
    kernel.update(verdict_json(task, *verdicts[i], Depth::kVerdict));
    kernels.push_back(std::move(kernel));
    const Evaluation& evaluation = verdicts[i]->evaluation;
    if (!evaluation.passed() || !std::isfinite(evaluation.speedup())) continue;
    if (!fastest || evaluation.speedup() > verdicts[*fastest]->evaluation.speedup()) fastest = i;
  }
  ToolAnswer answer{{{"task", task}, {"kernels", std::move(kernels)}}, table_of(names, verdicts)};
  if (fastest) {
    answer.structured["fastest"] = names[*fastest];
    answer.text += "fastest: " + names[*fastest] + "\n";
  }
  return answer;
}

Result<service::ModuleText> module_in(const Json& arguments) {
  service::ModuleText module;
  KRL_ASSIGN(module.id, text_argument(arguments, "id"));
  KRL_ASSIGN(module.text, text_argument(arguments, "module"));
  KRL_ASSIGN(module.name, text_argument(arguments, "name", false));
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  if (module.id.empty() || module.id.size() > kMostModuleId ||
      !std::ranges::all_of(module.id, is_plain))
    return invalid(fmt::format("argument 'id' must have 1 to {} letters, digits and underscores",
                               kMostModuleId));
  const Json shapes = arguments.value("shapes", Json::array());
  const auto is_text = [](const Json& shape) { return shape.is_string(); };
  if (!shapes.is_array() || !std::ranges::all_of(shapes, is_text))
    return invalid("argument 'shapes' must be a list of strings");
  module.shapes = shapes.get<std::vector<std::string>>();
  return module;
}

Result<TaskPointer> defined(JudgeService& service, const Task& task, const std::string& client,
                            const std::string& baseline) {
  KRL_ASSIGN(Json definition, service::parse_json(task.definition_json));
  if (!baseline.empty()) definition["naive"] = baseline;
  KRL_ASSIGN(TaskPointer made, service.tasks().define(definition));
  service.tasks().keep(client, made);
  return made;
}

}  // namespace

Tools::Tools(JudgeService& service, Import import)
    : service_(service), import_(std::move(import)), list_(tool_list(static_cast<bool>(import_))) {}

Tools::~Tools() { imports_.join(); }

const char* Tools::instructions() {
  return "kernelrl judges CUDA kernels: it compiles them, checks their results at shapes that you see "
         "and at others, and times them. Call show_task, write a kernel with its // @launch comment, "
         "call evaluate_kernel, and act on the reason or the advice until the speedup no longer "
         "grows; profile_kernel has the counters.";
}

bool Tools::has(const std::string& name) const {
  return std::ranges::any_of(list_, [&](const Json& tool) { return tool["name"] == name; });
}

std::function<void()> Tools::call(const std::string& name, ToolCall call) {
  if (name == "evaluate_kernel") return judge_one(std::move(call), Depth::kVerdict);
  if (name == "profile_kernel") return judge_one(std::move(call), Depth::kProfile);
  if (name == "compare_kernels") return compare(std::move(call));
  if (name == "new_task") return import_module(std::move(call));
  const auto answer = name == "list_tasks"  ? list_tasks(call)
                      : name == "show_task" ? show_task(call)
                                            : best(call);
  call.done(answer ? *answer : error_answer_of(answer.error()));
  return {};
}

Result<ToolAnswer> Tools::list_tasks(const ToolCall& call) {
  KRL_ASSIGN(const std::string search, text_argument(call.arguments, "search", false));
  const Json tier = call.arguments.value("tier", Json());
  Json tasks = Json::array();
  std::string text;
  for (const TaskPointer& task : service_.tasks().seen_by(call.client)) {
    const Task& known = task->task;
    if (!tier.is_null() && tier != known.tier) continue;
    if (known.id.find(search) == std::string::npos && known.title.find(search) == std::string::npos)
      continue;
    tasks.push_back(brief(known));
    text += fmt::format("{} (tier {}): {}\n", known.id, known.tier, known.title);
  }
  if (text.empty()) text = "no such task\n";
  return ToolAnswer{{{"tasks", std::move(tasks)}}, std::move(text)};
}

Result<ToolAnswer> Tools::show_task(const ToolCall& call) {
  KRL_ASSIGN(const std::string id, text_argument(call.arguments, "task"));
  KRL_ASSIGN(const TaskPointer task, service_.tasks().find(id, call.client));
  return shown(service_, task->task);
}

Result<ToolAnswer> Tools::best(const ToolCall& call) {
  KRL_ASSIGN(const std::string id, text_argument(call.arguments, "task", false));
  if (!id.empty()) {
    KRL_TRY(service_.tasks().find(id, call.client));
  }
  Json list = Json::array();
  std::string text;
  for (const BestKernel& best : service_.queue().best().list(call.client, id)) {
    const Evaluation& evaluation = best.told->evaluation;
    list.push_back({{"task", best.task->task.id},
                    {"speedup", evaluation.speedup()},
                    {"device", evaluation.device},
                    {"source", best.source}});
    text += fmt::format("{}: {:.2f} times the baseline on {}\n{}\n", best.task->task.id,
                        evaluation.speedup(), evaluation.device, id.empty() ? "" : best.source);
  }
  if (text.empty()) text = "no right kernel with a speedup was judged here yet\n";
  return ToolAnswer{{{"best", std::move(list)}}, std::move(text)};
}

std::function<void()> Tools::judge_one(ToolCall call, Depth depth) {
  const auto request = request_of(call.arguments, call.arguments);
  if (!request) return refuse(call, request.error());
  return judge(service_, std::move(call), Json::array({*request}),
               [depth, task = (*request)["task"]](const KernelsCall::Verdicts& verdicts) {
                 const ToldResult& told = *verdicts.front();
                 return ToolAnswer{verdict_json(task, told, depth), verdict_text(told, depth)};
               });
}

std::function<void()> Tools::compare(ToolCall call) {
  std::vector<std::string> names;
  const auto requests = requests_of(call.arguments, names);
  if (!requests) return refuse(call, requests.error());
  return judge(service_, std::move(call), *requests,
               [names, task = requests->front()["task"]](const KernelsCall::Verdicts& verdicts) {
                 return comparison(task, names, verdicts);
               });
}

std::function<void()> Tools::import_module(ToolCall call) {
  auto module = module_in(call.arguments);
  if (!module) return refuse(call, module.error());
  if (importing_ >= kMostImports)
    return refuse(call, {Code::kUnavailable, "too many modules wait to be read"});
  ++importing_;
  boost::asio::post(imports_, [this, module = *std::move(module), call = std::move(call)] {
    const auto baseline = text_argument(call.arguments, "baseline", false);
    const auto task = baseline ? import_(module) : failure(baseline.error());
    --importing_;
    const auto made =
        task ? defined(service_, *task, call.client, *baseline) : failure(task.error());
    if (!made) return call.done(error_answer_of(made.error()));
    try_new_task(*made, call);
  });
  return {};
}

// Also a task without a baseline must be one that the judge accepts.
void Tools::try_new_task(const TaskPointer& made, const ToolCall& call) {
  const Task& task = made->task;
  Json request = {{"task", task.id}, {"source", task.facts.naive}};
  if (task.facts.naive.empty())
    request = {{"task", task.id}, {"source", kAnyKernel}, {"stages", Json::array()}};
  judge(service_, call, Json::array({request}),
        [&service = service_, made](const KernelsCall::Verdicts& verdicts) {
          const ToldResult& told = *verdicts.front();
          if (made->task.facts.naive.empty() || told.evaluation.passed())
            return shown(service, made->task);
          return error_answer_of(
              {Code::kInvalidArgument, "the baseline is not right: " + told.feedback});
        });
}

Tools::Import import_modules(core::Session& session, std::string python) {
  service::ChildOptions child{2, 2, std::move(python), kSecondsOfImport};
  return [&registry = session.components().registry(), scope = session.scope(),
          child = std::move(child)](const service::ModuleText& module) {
    Components components(registry, scope);
    return service::task_of_module(module, child, components);
  };
}

}  // namespace krl::serve::mcp
