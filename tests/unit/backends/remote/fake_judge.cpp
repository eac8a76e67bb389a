#include "tests/unit/backends/remote/fake_judge.hpp"

#include <kernelrl/evaluation_json.hpp>

namespace krl::remote::testing {
namespace {

constexpr const char* kDigest = "sha256:5eed";
constexpr const char* kDefinition = R"({
  "id": "doubled", "title": "Doubling", "prompt": "out[i] = 2 * x[i]", "axes": {"n": "var"},
  "reference": "def run(x):\n    return x + x\n", "naive": "the naive kernel", "cases": [{"n": 8}],
  "input": [{"name": "x", "dtype": "float32", "shape": ["n"], "values": "normal"}],
  "output": [{"name": "out", "dtype": "float32", "shape": ["n"]}]})";

const krl_task& task() {
  static const krl_task task{
      sizeof(krl_task), 0, to_c("doubled"), to_c("Doubling"), to_c("out = 2 x"), to_c(kDefinition)};
  return task;
}

}  // namespace

Json usual_info() {
  return {{"version", "1"},    {"identity", "cpu\nfake 1\na GPU"},
          {"device", "a GPU"}, {"toolchain", "fake 1"},
          {"concurrency", 4},  {"real_sizes", true},
          {"signals", 7},      {"seeds", "client"},
          {"waiting", 0}};
}

FakeJudge::FakeJudge(Interfere interfere, Json info)
    : interfere_(std::move(interfere)),
      info_(info.is_null() ? usual_info() : std::move(info)),
      server_([this](const SeenRequest& request) { return handle(request); }) {}

Script FakeJudge::handle(const SeenRequest& request) {
  if (request.target == "/v1/info") return http::testing::answer(200, info_.dump());
  if (request.target != "/v1/evaluate") return http::testing::answer(404);
  const Json body = Json::parse(request.body);
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(body);
    if (body["task"].is_object()) tasks_.insert(kDigest);
    if (body["task"].is_string() && tasks_.count(body["task"].get<std::string>()) == 0)
      return http::testing::answer(404, R"({"error": {"code": "not_found", "message": "?"}})");
  }
  if (interfere_) {
    if (auto script = interfere_(request)) return *script;
  }
  const std::lock_guard lock(mutex_);
  judged_.push_back(body["source"]);
  return verdict(body);
}

Script FakeJudge::verdict(const Json& request) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::kOk;
  evaluation.toolchain = "fake 1";
  evaluation.device = "a GPU";
  evaluation.compile_log = request["source"];
  Case timed;
  timed.label = "n=8";
  timed.speedup = timed.speedup_low = timed.speedup_high = 1.1;
  evaluation.cases = {timed};
  evaluation.values = {{0, "sectors", "", 0.1}};
  const Json answer = {{"task", "doubled"}, {"digest", kDigest}, {"evaluation", evaluation},
                       {"headline", ""},    {"feedback", ""},    {"kept", false}};
  return http::testing::answer(200, answer.dump());
}

std::vector<std::string> FakeJudge::judged() const {
  const std::lock_guard lock(mutex_);
  return judged_;
}

std::vector<Json> FakeJudge::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

void FakeJudge::forget_tasks() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
}

// ---- the backend --------------------------------------------------------------------------------

const krl::testing::Plugin& Remote::plugin() {
  static const krl::testing::Plugin plugin(std::string(KERNELRL_BINARY_DIR) +
                                           "/lib/kernelrl/plugins/remote.krl.so");
  return plugin;
}

krl::testing::Table at(const std::vector<std::string>& servers, krl::testing::Table more) {
  more.insert_or_assign("servers", krl::testing::Value::json(Json(servers).dump()));
  return more;
}

krl::testing::BackendDescription Remote::describe() {
  return krl::testing::backend_description([this](const krl_backend_info_sink* sink) {
    instance_.call().require(
        instance_.table().describe(instance_.self(), instance_.context(), sink));
  });
}

Ending Remote::prepare() {
  const krl::testing::Call call;
  const krl_evaluate_options options{sizeof(krl_evaluate_options), KRL_STAGE_CHECK, 3};
  Ending ending;
  ending.status = instance_.table().prepare(instance_.self(), call.context(), &task(), &options);
  ending.why = call.why;
  return ending;
}

Ending Remote::evaluate(const std::string& source, const krl_call* context) {
  const krl_candidate candidate{sizeof(krl_candidate), KRL_CONTRACT_DEVICE, &task(), to_c(source)};
  const krl_evaluate_options options{sizeof(krl_evaluate_options),
                                     KRL_STAGE_COMPILE | KRL_STAGE_CHECK, 3};
  krl::testing::EvaluationReceiver receiver;
  Ending ending;
  ending.status =
      instance_.table().evaluate(instance_.self(), context, &candidate, &options, receiver.c());
  ending.why = static_cast<krl::testing::Call*>(context->ctx)->why;
  ending.evaluation = receiver.evaluation();
  ending.verdicts = receiver.verdicts();
  return ending;
}

}  // namespace krl::remote::testing
