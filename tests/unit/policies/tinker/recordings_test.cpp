// What the official client has sent we would send, and what a server has answered we can read.
//
// Of each recorded request our own struct is filled and rewritten. Equal means: the same value
// in JSON. What the client says and we do not is removed before, and
// named in kClientsOwn: keys that services have defaults for.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "plugins/policies/tinker/json.hpp"
#include "tests/unit/policies/tinker/recorded_exchange.hpp"

namespace krl::tinker {
namespace {

using nlohmann::json;
using testing::recorded_exchanges;
using testing::RecordedExchange;

const std::vector<std::string> kFiles = {"json_client_0.24.jsonl", "client_0.25_and_0.38.jsonl"};

// By path: what the client says beyond what we do.
const std::map<std::string, std::vector<std::string>> kClientsOwn = {
    {CreateModel::kPath, {"optimizer_config"}},
    {SaveWeightsForSampler::kPath, {"kind"}},
    {SampleRequest::kPath,
     {"topk_prompt_logprobs", "topk_sample_logprobs", "prompt_alt_tokens_k",
      "record_stability_info"}},
    {RetrieveFuture::kPath, {"allow_metadata_only"}},
};

// What the client asks of a server and we never do.
const std::set<std::string> kNotOurs = {"/api/v1/client/config", "/api/v1/client/dynamic_config",
                                        "/api/v1/get_info"};

std::vector<TokenId> prompt_of(const json& input) { return input["chunks"][0]["tokens"]; }

Tensor tensor_of(const json& tensor) {
  if (tensor["dtype"] == "int64") return tensor["data"].get<std::vector<std::int64_t>>();
  return tensor["data"].get<std::vector<float>>();
}

std::string rewrite_sample(const json& said) {
  const json& params = said["sampling_params"];
  SampleRequest request;
  request.num_samples = said["num_samples"];
  request.prompt = prompt_of(said["prompt"]);
  request.max_tokens = params["max_tokens"];
  if (params.contains("seed")) request.seed = params["seed"].get<std::int64_t>();
  if (params.contains("stop")) request.stop = params["stop"].get<std::vector<TokenId>>();
  request.temperature = params["temperature"];
  request.top_k = params["top_k"];
  request.top_p = params["top_p"];
  request.sampling_session_id = said["sampling_session_id"];
  request.seq_id = said["seq_id"];
  request.prompt_logprobs = said["prompt_logprobs"];
  return to_json(request);
}

std::string rewrite_forward_backward(const json& said) {
  ForwardBackward request;
  request.model_id = said["model_id"];
  request.seq_id = said["seq_id"];
  request.forward_only = said.contains("forward_input");
  const json& input = said[request.forward_only ? "forward_input" : "forward_backward_input"];
  request.loss_fn = input["loss_fn"];
  const json config = input.value("loss_fn_config", json::object());
  for (const auto& [name, value] : config.items()) request.loss_fn_config.emplace_back(name, value);
  for (const json& datum : input["data"]) {
    Datum& ours = request.data.emplace_back();
    ours.tokens = prompt_of(datum["model_input"]);
    for (const auto& [name, tensor] : datum["loss_fn_inputs"].items())
      ours.inputs.emplace_back(name, tensor_of(tensor));
  }
  return to_json(request);
}

std::string rewrite_create_model(const json& said) {
  const json& lora = said["lora_config"];
  return to_json(
      CreateModel{said["session_id"], said["model_seq_id"], said["base_model"],
                  LoraConfig{lora["rank"], lora["seed"].get<std::int64_t>(), lora["train_unembed"],
                             lora["train_mlp"], lora["train_attn"]}});
}

std::string rewrite_optim_step(const json& said) {
  const json& adam = said["adam_params"];
  return to_json(OptimStep{said["model_id"], said["seq_id"],
                           AdamParams{adam["learning_rate"], adam["beta1"], adam["beta2"],
                                      adam["eps"], adam["weight_decay"], adam["grad_clip_norm"]}});
}

// Our own words for a recorded request; empty if we never say its like.
std::string rewrite(const std::string& path, const json& said) {
  if (path == CreateSession::kPath)
    return to_json(CreateSession{said["tags"], said["user_metadata"], said["sdk_version"]});
  if (path == SessionHeartbeat::kPath) return to_json(SessionHeartbeat{said["session_id"]});
  if (path == CreateModel::kPath) return rewrite_create_model(said);
  if (path == SampleRequest::kPath) return rewrite_sample(said);
  if (path == ForwardBackward::kPath || path == ForwardBackward::kForwardPath)
    return rewrite_forward_backward(said);
  if (path == OptimStep::kPath) return rewrite_optim_step(said);
  if (path == SaveWeightsForSampler::kPath)
    return to_json(
        SaveWeightsForSampler{said["model_id"], said["sampling_session_seq_id"], said["seq_id"]});
  if (path == CreateSamplingSession::kPath)
    return to_json(CreateSamplingSession{said["session_id"], said["sampling_session_seq_id"],
                                         said["base_model"]});
  if (path == SaveWeights::kPath)
    return to_json(SaveWeights{said["model_id"], said["path"], said["seq_id"]});
  if (path == RetrieveFuture::kPath) return to_json(RetrieveFuture{said["request_id"]});
  return "";
}

bool is_ours(const std::string& path) {
  return !kNotOurs.contains(path) && path.rfind("/api/v1/sessions/", 0) != 0;
}

TEST(TinkerRecordings, OurRequestsAreTheClients) {
  std::map<std::string, int> seen;
  for (const std::string& file : kFiles) {
    for (const RecordedExchange& exchange : recorded_exchanges(file)) {
      if (exchange.request.empty() || !is_ours(exchange.path)) continue;
      SCOPED_TRACE(exchange.where + " " + exchange.path);
      json said = json::parse(exchange.request);
      const auto own = kClientsOwn.find(exchange.path);
      if (own != kClientsOwn.end()) {
        for (const std::string& key : own->second) said.erase(key);
      }
      EXPECT_EQ(json::parse(rewrite(exchange.path, said)), said);
      ++seen[exchange.path];
    }
  }
  EXPECT_EQ(seen.size(), 11u);  // paths
}

std::size_t promised_tokens(const std::string& request) {
  return json::parse(request)["sampling_params"]["max_tokens"];
}

void expect_sample(const SampleAnswer& answer, const std::string& request) {
  const json said = json::parse(request);
  ASSERT_EQ(answer.sequences.size(), said["num_samples"]);
  for (const SampledSequence& sequence : answer.sequences) {
    EXPECT_EQ(sequence.stop_reason, StopReason::kLength);
    EXPECT_EQ(sequence.tokens.size(), promised_tokens(request));
    EXPECT_EQ(sequence.logprobs.size(), sequence.tokens.size());
    for (const float logprob : sequence.logprobs) EXPECT_LT(logprob, 0);
  }
  EXPECT_EQ(answer.prompt_logprobs.size(), said["prompt_logprobs"].get<bool>() ? 5u : 0u);
}

void expect_gradient(const ForwardBackwardAnswer& answer, const ForwardBackward& request) {
  ASSERT_EQ(answer.logprobs.size(), request.data.size());
  for (const auto& logprobs : answer.logprobs) {
    ASSERT_EQ(logprobs.size(), 5u);
    EXPECT_NEAR(logprobs[0], -7.930557f, 1e-5);
    EXPECT_NEAR(logprobs[4], -4.8755627f, 1e-5);
  }
}

ForwardBackward recorded_gradient(const RecordedExchange& exchange) {
  const json said = json::parse(exchange.request);
  ForwardBackward request;
  request.data.resize((said.contains("forward_input") ? said["forward_input"]
                                                      : said["forward_backward_input"])["data"]
                          .size());
  return request;
}

// Reads the result of what was submitted as `submitted`.
void expect_result(const RecordedExchange& submitted, const RecordedExchange& result) {
  if (submitted.path == SampleRequest::kPath) {
    expect_sample(from_json<SampleAnswer>(result.answer), submitted.request);
  } else if (submitted.path == CreateModel::kPath) {
    EXPECT_FALSE(from_json<CreatedModel>(result.answer).model_id.empty());
  } else if (submitted.path == OptimStep::kPath) {
    EXPECT_NEAR(from_json<OptimStepAnswer>(result.answer).metrics.at("skyrl.ai/grad_norm"),
                16.26164, 1e-4);
  } else if (submitted.path == SaveWeightsForSampler::kPath) {
    EXPECT_FALSE(from_json<SamplingSession>(result.answer).sampling_session_id.empty());
  } else if (submitted.path == SaveWeights::kPath) {
    EXPECT_EQ(from_json<SavedWeights>(result.answer).path.rfind("tinker://", 0), 0u);
  } else {
    expect_gradient(from_json<ForwardBackwardAnswer>(result.answer), recorded_gradient(submitted));
  }
}

TEST(TinkerRecordings, TheServersAnswersAreRead) {
  for (const std::string& file : kFiles) {
    std::map<std::string, RecordedExchange> promised;
    std::size_t results = 0;
    for (const RecordedExchange& exchange : recorded_exchanges(file)) {
      if (!is_ours(exchange.path)) continue;
      SCOPED_TRACE(exchange.where + " " + exchange.path);
      if (exchange.status != 200) {
        EXPECT_NE(error_text(exchange.answer).find("nonsense"), std::string::npos);
      } else if (exchange.path == kCapabilitiesPath) {
        EXPECT_EQ(from_json<Capabilities>(exchange.answer).models.at(0).name, "tiny-qwen3");
      } else if (exchange.path == CreateSession::kPath) {
        EXPECT_EQ(from_json<SessionOpened>(exchange.answer).session_id.rfind("session_", 0), 0u);
      } else if (exchange.path == CreateSamplingSession::kPath) {
        EXPECT_FALSE(from_json<SamplingSession>(exchange.answer).sampling_session_id.empty());
      } else if (exchange.path == RetrieveFuture::kPath) {
        const std::string id = json::parse(exchange.request)["request_id"];
        expect_result(promised.at(id), exchange);
        ++results;
      } else if (exchange.path != SessionHeartbeat::kPath) {
        promised[from_json<Promise>(exchange.answer).request_id] = exchange;
      }
    }
    EXPECT_GE(results, 8u);  // the newer clients get samples as protobuf
  }
}

}  // namespace
}  // namespace krl::tinker
