#include "tests/unit/policies/openai/fake_vllm.hpp"

#include <algorithm>

#include "plugins/files/file.hpp"

namespace krl::openai::testing {

using http::testing::SeenRequest;

TokenizerDirectory::TokenizerDirectory() {
  const std::string document = krl::test::tokenizer_document({"<|im_start|>", "<|im_end|>"}).dump();
  files::write_file(directory_.path() / "tokenizer.json", {document});
  chat_ = policies::ChatTokenizer::from_directory(directory_.path(), {"chatml", {}});
}

const TokenizerDirectory& tokenizer_directory() {
  static const TokenizerDirectory directory;
  return directory;
}

FakeVllm::FakeVllm(Interfere interfere)
    : interfere_(std::move(interfere)),
      server_([this](const SeenRequest& request) { return handle(request); }) {}

std::vector<json> FakeVllm::completions() const {
  const std::lock_guard lock(mutex_);
  return completions_;
}

std::vector<std::string> FakeVllm::adapters() const {
  const std::lock_guard lock(mutex_);
  return adapters_;
}

void FakeVllm::forget_adapters() {
  const std::lock_guard lock(mutex_);
  adapters_.clear();
}

std::vector<std::string> FakeVllm::paths() const {
  std::vector<std::string> paths;
  for (const SeenRequest& seen : server_.requests())
    paths.push_back(seen.method + " " + seen.target);
  return paths;
}

json FakeVllm::answer(const json& body) {
  const policies::ChatTokenizer& chat = tokenizer_directory().chat();
  json choices = json::array();
  for (unsigned i = 0; i < body["n"]; ++i) {
    const std::string text = "int i = " + std::to_string(body["seed"].get<unsigned>() + i) + ";";
    std::vector<policies::TokenId> tokens = chat.answer(text);
    choices.push_back({{"index", i},
                       {"text", text},
                       {"token_ids", tokens},
                       {"prompt_token_ids", body["prompt"]},
                       {"logprobs", {{"token_logprobs", std::vector<double>(tokens.size(), -0.5)}}},
                       {"finish_reason", "stop"}});
  }
  return {{"model", body["model"]},
          {"choices", choices},
          {"usage", {{"prompt_tokens", body["prompt"].size()}}}};
}

std::vector<std::string> FakeVllm::events(const json& body) {
  std::vector<std::string> events;
  const policies::Tokenizer& tokenizer = tokenizer_directory().chat().tokenizer();
  const json whole = answer(body);
  for (const json& choice : whole["choices"]) {
    for (const json& token : choice["token_ids"]) {
      const json piece = {{"index", choice["index"]},
                          {"text", tokenizer.bytes(token.get<policies::TokenId>())},
                          {"token_ids", json::array({token})},
                          {"logprobs", {{"token_logprobs", json::array({-0.5})}}},
                          {"finish_reason", nullptr}};
      events.push_back(json{{"model", body["model"]}, {"choices", json::array({piece})}}.dump());
    }
    json last = json::parse(events.back());
    last["choices"][0]["finish_reason"] = "stop";
    events.back() = last.dump();
  }
  events.emplace_back("[DONE]");
  return events;
}

Script FakeVllm::complete(const json& body) {
  int number = 0;
  {
    const std::lock_guard lock(mutex_);
    completions_.push_back(body);
    number = static_cast<int>(completions_.size());
  }
  if (interfere_) {
    if (std::optional<Script> script = interfere_(body, number)) return *script;
  }
  const std::string model = body["model"];
  const std::vector<std::string> loaded = adapters();
  if (model != "smol" && std::count(loaded.begin(), loaded.end(), model) == 0) {
    return http::testing::answer(404, R"({"error": {"message": "The model does not exist."}})");
  }
  if (body.value("stream", false)) return http::testing::events(events(body));
  return http::testing::answer(200, answer(body).dump());
}

Script FakeVllm::handle(const SeenRequest& request) {
  using http::testing::answer;
  const json body = request.body.empty() ? json() : json::parse(request.body);
  if (request.target == "/version") return answer(200, R"({"version": "0.32.0"})");
  if (request.target == "/v1/models") {
    json models = {{{"id", "smol"}, {"max_model_len", 256}, {"parent", nullptr}}};
    for (const std::string& name : adapters()) models.push_back({{"id", name}, {"parent", "smol"}});
    return answer(200, json{{"data", models}}.dump());
  }
  if (request.target == "/v1/completions") return complete(body);
  const std::lock_guard lock(mutex_);
  if (request.target == "/v1/load_lora_adapter") {
    if (body["lora_path"] == "/nowhere") {
      return answer(404, R"({"error": {"message": "No adapter found for /nowhere"}})");
    }
    adapters_.push_back(body["lora_name"]);
    return answer(200, "Success");
  }
  if (request.target == "/v1/unload_lora_adapter") {
    const bool is_known = std::erase(adapters_, body["lora_name"].get<std::string>()) > 0;
    return is_known ? answer(200, "Success")
                    : answer(404, R"({"error": {"message": "The adapter cannot be found."}})");
  }
  return answer(404, R"({"detail": "Not Found"})");
}

}  // namespace krl::openai::testing
