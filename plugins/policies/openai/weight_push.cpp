#include "plugins/policies/openai/weight_push.hpp"

#include <atomic>
#include <filesystem>
#include <kernelrl/values.hpp>
#include <random>
#include <sstream>

namespace krl::openai {
namespace {

// Posts, and throws if the answer is not good.
http::Answer demand(Server& server, const std::string& path, const Json& body,
                    const Patience& patience, Yield yield) {
  http::Answer answer = server.post(path, body, patience, yield);
  if (answer.good()) return answer;
  const bool passing = answer.status == 429 || answer.status >= 500;
  throw Failure(passing ? KRL_UNAVAILABLE : KRL_FAILED_PRECONDITION,
                server.complaint("POST " + path, answer));
}

std::string new_adapter_name(const Server& server, const PushedWeights& weights) {
  static std::atomic<std::uint32_t> number{std::random_device{}()};
  std::ostringstream name;
  name << server.found.model << "-v" << weights.version << '-' << std::hex << number++;
  return name.str();
}

Json json_of(const Server& server, const std::string& path, const http::Answer& answer) {
  Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw Failure(KRL_UNAVAILABLE, server.complaint(path, answer));
  return json;
}

bool lists_model(const Json& models, const std::string& name) {
  if (!models.is_object() || !models.contains("data") || !models["data"].is_array()) return false;
  for (const Json& entry : models["data"]) {
    if (entry.is_object() && entry.value("id", Json()) == name) return true;
  }
  return false;
}

// vLLM: an adapter is a separate model, alongside the one that it was made for.
void push_to_vllm(Server& server, const std::string& adapter, const PushedWeights& weights,
                  const Patience& patience, Yield yield) {
  demand(server, "/v1/load_lora_adapter",
         {{"lora_name", adapter}, {"lora_path", weights.directory}}, patience, yield);
  const std::string path = "/v1/models";
  if (!lists_model(json_of(server, path, server.get(path, patience, yield)), adapter)) {
    throw Failure(KRL_UNAVAILABLE,
                  server.name() + ": does not list the adapter " + adapter + " that it has loaded");
  }
}

// An answer of status 200 may still report a failure.
void demand_success(Server& server, const std::string& path, const Json& body,
                    const Patience& patience, Yield yield) {
  const http::Answer answer = demand(server, path, body, patience, yield);
  const Json json = json_of(server, path, answer);
  if (!json.is_object() || json.value("success", true)) return;
  throw Failure(KRL_FAILED_PRECONDITION, server.complaint("POST " + path, answer));
}

// vLLM takes a whole model only in its development mode, and does not survive a directory that
// holds none.
void push_model_to_vllm(Server& server, const PushedWeights& weights, const Patience& patience,
                        Yield yield) {
  if (!std::filesystem::exists(std::filesystem::path(weights.directory) / "config.json")) {
    throw Failure(KRL_NOT_FOUND, weights.directory + ": holds no model (config.json is missing)");
  }
  const Json reload = {{"method", "reload_weights"},
                       {"kwargs", {{"weights_path", weights.directory}}}};
  const std::string path = "/collective_rpc";
  server.is_uncertain = true;
  const http::Answer answer = server.post(path, reload, patience, yield);
  if (answer.status == 404) {
    server.is_uncertain = false;
    throw Failure(KRL_FAILED_PRECONDITION,
                  server.name() +
                      ": vLLM loads whole models only if started with "
                      "VLLM_SERVER_DEV_MODE=1; otherwise train adapters (lora.rank)");
  }
  if (!answer.good()) throw Failure(KRL_UNAVAILABLE, server.complaint("POST " + path, answer));
  demand_success(server, "/reset_prefix_cache", Json::object(), patience, yield);
  demand_success(server, "/update_weight_version",
                 {{"new_version", std::to_string(weights.version)}}, patience, yield);
}

void push_adapter_to_sglang(Server& server, const std::string& adapter,
                            const PushedWeights& weights, const Patience& patience, Yield yield) {
  demand_success(server, "/load_lora_adapter",
                 {{"lora_name", adapter}, {"lora_path", weights.directory}}, patience, yield);
}

// Only frees memory: the new adapter is loaded already. A server that was restarted since does not
// know the old one.
void unload(Server& server, const std::string& adapter, const Patience& patience, Yield yield) {
  const bool is_vllm = server.found.dialect == &vllm_dialect();
  const char* const path = is_vllm ? "/v1/unload_lora_adapter" : "/unload_lora_adapter";
  try {
    server.post(path, {{"lora_name", adapter}}, patience, yield);
  } catch (const http::Failure&) {  // the next exchange will show the error
  }
}

void push_model_to_sglang(Server& server, const PushedWeights& weights, const Patience& patience,
                          Yield yield) {
  const std::string version = std::to_string(weights.version);
  server.is_uncertain = true;
  demand_success(
      server, "/update_weights_from_disk",
      {{"model_path", weights.directory}, {"weight_version", version}, {"flush_cache", true}},
      patience, yield);
  const std::string path = "/get_weight_version";
  const http::Answer answer = server.get(path, patience, yield);
  if (!answer.good()) return;  // older versions lack this path; each answer contains its version
  const Json found = json_of(server, path, answer);
  if (found.is_object() && found.value("weight_version", version) != version) {
    throw Failure(KRL_UNAVAILABLE,
                  server.complaint("version " + version + " was not taken", answer));
  }
}

}  // namespace

bool runs_beside(const Dialect& dialect, std::uint32_t kind) {
  return &dialect == &vllm_dialect() && kind == KRL_WEIGHTS_PEFT;
}

void push_weights(Server& server, const PushedWeights& weights, const Patience& patience,
                  Yield yield) {
  const Dialect& dialect = *server.found.dialect;
  if ((dialect.adopts & weights.kind) == 0) {
    throw Failure(KRL_UNIMPLEMENTED,
                  server.name() + ": " + std::string(dialect.server) + " cannot load " +
                      (weights.kind == KRL_WEIGHTS_PEFT ? "adapters" : "whole models") +
                      " while running");
  }
  const std::string before = server.adapter;
  const bool is_vllm = &dialect == &vllm_dialect();
  if (weights.kind == KRL_WEIGHTS_HF) {
    if (is_vllm) {
      push_model_to_vllm(server, weights, patience, yield);
    } else {
      push_model_to_sglang(server, weights, patience, yield);
    }
    server.version = weights.version;
    server.is_uncertain = false;
    return;
  }
  const std::string adapter = new_adapter_name(server, weights);
  if (is_vllm) {
    push_to_vllm(server, adapter, weights, patience, yield);
  } else {
    push_adapter_to_sglang(server, adapter, weights, patience, yield);
  }
  server.adapter = adapter;
  server.version = weights.version;
  if (!before.empty()) unload(server, before, patience, yield);
}

}  // namespace krl::openai
