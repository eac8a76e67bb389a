#include "tests/unit/policies/tinker/fake_service.hpp"

#include "plugins/policies/tinker/json.hpp"

namespace krl::tinker::testing {
namespace {

using http::testing::answer;
using http::testing::SeenRequest;
using nlohmann::json;

const std::string kApi = "/api/v1/";

json logprobs_of(const json& input) {
  json outputs = json::array();
  for (const json& datum : input["data"]) {
    const std::size_t n = datum["loss_fn_inputs"]["target_tokens"]["data"].size();
    outputs.push_back({{"logprobs", {{"data", std::vector<float>(n, FakeService::kLogprob)}}}});
  }
  return {{"loss_fn_outputs", outputs}, {"metrics", {{"loss:sum", 1.0}}}};
}

// Answers of "ab" and the end token of tokenizers from scratch.
json sequences_of(const json& request) {
  json sequences = json::array();
  for (int i = 0; i < request["num_samples"].get<int>(); ++i)
    sequences.push_back(
        {{"tokens", {101, 102, 3}}, {"logprobs", {-1.0, -2.0, -0.5}}, {"stop_reason", "stop"}});
  json answer = {{"type", "sample"}, {"sequences", sequences}};
  if (!request["prompt_logprobs"].get<bool>()) return answer;
  const std::size_t n = request["prompt"]["chunks"][0]["tokens"].size();
  answer["prompt_logprobs"] = std::vector<float>(n, FakeService::kLogprob);
  answer["prompt_logprobs"][0] = nullptr;
  return answer;
}

}  // namespace

FakeService::FakeService()
    : server_([this](const SeenRequest& request) { return handle(request); }) {}

void FakeService::fail(const std::string& path, Script script, bool acts) {
  const std::lock_guard lock(mutex_);
  faults_[kApi + path].push_back({std::move(script), acts});
}

void FakeService::set_root(std::string body) {
  const std::lock_guard lock(mutex_);
  root_ = std::move(body);
}

void FakeService::answer_next(const std::string& path, std::string body) {
  const std::lock_guard lock(mutex_);
  next_answers_[kApi + path].push_back(std::move(body));
}

std::vector<std::string> FakeService::posted(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> bodies;
  for (const auto& [target, body] : posts_) {
    if (target == kApi + path) bodies.push_back(body);
  }
  return bodies;
}

std::vector<std::string> FakeService::order() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [target, body] : posts_) {
    if (target != kApi + "session_heartbeat") paths.push_back(target.substr(kApi.size()));
  }
  return paths;
}

int FakeService::happened(const std::string& what) const {
  const std::lock_guard lock(mutex_);
  const auto found = happened_.find(what);
  return found == happened_.end() ? 0 : found->second;
}

std::vector<std::int64_t> FakeService::seq_ids() const {
  const std::lock_guard lock(mutex_);
  return seq_ids_;
}

Script FakeService::handle(const SeenRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request.method == "POST") posts_.emplace_back(request.target, request.body);
  auto& faults = faults_[request.target];
  if (faults.empty()) return act(request);
  const Fault fault = std::move(faults.front());
  faults.pop_front();
  if (fault.acts) act(request);
  return fault.script;
}

Script FakeService::act(const SeenRequest& request) {
  if (request.target == "/")
    return root_.empty() ? answer(404, "nothing here") : answer(200, root_);
  if (request.method == "DELETE") return answer(200, "{}");
  const std::string path = request.target.substr(kApi.size());
  if (path == "get_server_capabilities")
    return answer(200, R"({"supported_models":[{"model_name":"tiny","max_context_length":64}]})");
  if (path == "create_session") return answer(200, R"({"session_id":"s1"})");
  if (path == "create_sampling_session") return answer(200, R"({"sampling_session_id":"base"})");
  if (path == "session_heartbeat") {
    ++happened_[path];
    return answer(200, R"({"type":"session_heartbeat"})");
  }
  if (path != "retrieve_future") return promise(path, request.body);
  const auto found = results_.find(json::parse(request.body)["request_id"]);
  if (found == results_.end()) return answer(404, R"({"detail":"Future not found"})");
  return answer(200, found->second);
}

Script FakeService::promise(const std::string& path, const std::string& body) {
  const json request = json::parse(body);
  const bool changes = request.contains("model_id") && request.contains("seq_id");
  const std::pair<std::string, std::int64_t> key = {request.value("model_id", ""),
                                                    request.value("seq_id", std::int64_t{-1})};
  if (changes && by_seq_id_.contains(key)) {
    const auto& [id, earlier] = by_seq_id_[key];
    if (earlier != body) return answer(400, R"({"detail":"another request has this seq_id"})");
    return answer(200, json{{"request_id", id}}.dump());
  }
  const std::string id = "r" + std::to_string(results_.size() + 1);
  std::string kept = result(path, request);
  auto& next = next_answers_[kApi + path];
  if (!next.empty()) {
    kept = std::move(next.front());
    next.pop_front();
  }
  results_[id] = std::move(kept);
  ++happened_[path];
  if (changes) {
    by_seq_id_[key] = {id, body};
    seq_ids_.push_back(key.second);
  }
  return answer(200, json{{"request_id", id}}.dump());
}

std::string FakeService::result(const std::string& path, const json& request) {
  const std::string number = std::to_string(happened_[path] + 1);
  json made = json::object();
  if (path == "create_model") made = {{"model_id", "m" + number}};
  if (path == "save_weights_for_sampler") made = {{"sampling_session_id", "p" + number}};
  if (path == "save_weights")
    made = {{"path", "tinker://" + request["model_id"].get<std::string>() + "/weights/" +
                         request["path"].get<std::string>()}};
  if (path == "asample") made = sequences_of(request);
  if (path == "optim_step") made = {{"metrics", {{"unclipped_grad_l2:mean", 2.5}}}};
  for (const char* input : {"forward_input", "forward_backward_input"}) {
    if (request.contains(input)) made = logprobs_of(request[input]);
  }
  return made.dump();
}

}  // namespace krl::tinker::testing
