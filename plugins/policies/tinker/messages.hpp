// The messages between a client and a Tinker-compatible service, as plain data; json.hpp writes and reads
// them. Each request has the path to which it is posted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace krl::tinker {

using TokenId = std::int32_t;

// Rounding may bring the logarithm of a probability of 1 above 0.
inline constexpr float kLargestLogprob = 1e-4F;

// An answer without contents.
struct Done {};

// ---- sessions and models ----------------------------------------------------------------------

struct CreateSession {
  static constexpr const char* kPath = "/api/v1/create_session";
  std::vector<std::string> tags;
  std::map<std::string, std::string> user_metadata;
  std::string sdk_version;
  std::string type = "create_session";
};
struct SessionOpened {
  std::string session_id;
  std::string message;  // message of the service to its users; may be empty
};

struct SessionHeartbeat {
  static constexpr const char* kPath = "/api/v1/session_heartbeat";
  std::string session_id;
  std::string type = "session_heartbeat";
};

struct LoraConfig {
  std::int64_t rank = 32;
  std::optional<std::int64_t> seed;
  bool train_unembed = true, train_mlp = true, train_attn = true;
};

struct CreateModel {
  static constexpr const char* kPath = "/api/v1/create_model";
  std::string session_id;
  std::int64_t model_seq_id = 0;  // index among the session's models, from 0
  std::string base_model;
  LoraConfig lora;
};
struct CreatedModel {
  std::string model_id;
  std::string base_model;  // empty if the service does not tell
};

struct UnloadModel {
  static constexpr const char* kPath = "/api/v1/unload_model";
  std::string model_id;
  std::string type = "unload_model";
};

// GET kCapabilitiesPath
inline constexpr const char* kCapabilitiesPath = "/api/v1/get_server_capabilities";
struct SupportedModel {
  std::string name;
  std::int64_t max_context_length = 0;  // 0 = not said
};
struct Capabilities {
  std::vector<SupportedModel> models;
};

// ---- sampling ---------------------------------------------------------------------------------

struct SaveWeightsForSampler {
  static constexpr const char* kPath = "/api/v1/save_weights_for_sampler";
  std::string model_id;
  std::int64_t sampling_session_seq_id = 0;  // index among the session's samplers, from 0
  std::int64_t seq_id = 0;
  std::string type = "save_weights_for_sampler";
};
struct CreateSamplingSession {
  static constexpr const char* kPath = "/api/v1/create_sampling_session";
  std::string session_id;
  std::int64_t sampling_session_seq_id = 0;
  std::string base_model;
  std::string type = "create_sampling_session";
};
struct SamplingSession {
  std::string sampling_session_id;
};

struct SampleRequest {
  static constexpr const char* kPath = "/api/v1/asample";
  std::int64_t num_samples = 1;
  std::vector<TokenId> prompt;
  std::int64_t max_tokens = 0;
  std::optional<std::int64_t> seed;
  // Either ids or texts: services take one kind a request. None of them: the key is left out.
  std::variant<std::vector<TokenId>, std::vector<std::string>> stop;
  double temperature = 1;
  std::int64_t top_k = -1;  // -1 = off
  double top_p = 1;
  std::string sampling_session_id;
  std::int64_t seq_id = 0;  // index among the sampling session's requests, from 0
  bool prompt_logprobs = false;
};

enum class StopReason { kStop, kLength };

struct SampledSequence {
  StopReason stop_reason = StopReason::kStop;
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;  // one per token, or none
};

struct SampleAnswer {
  std::vector<SampledSequence> sequences;
  // NaN where the service sends none, such as for the first token.
  std::vector<float> prompt_logprobs;
};

// ---- learning ---------------------------------------------------------------------------------

using Tensor = std::variant<std::vector<std::int64_t>, std::vector<float>>;

struct Datum {
  std::vector<TokenId> tokens;  // the model's input
  // Inputs of the loss, in this order on the wire.
  std::vector<std::pair<std::string, Tensor>> inputs;
};

struct ForwardBackward {
  static constexpr const char* kPath = "/api/v1/forward_backward";
  static constexpr const char* kForwardPath = "/api/v1/forward";  // if forward_only
  std::string model_id;
  std::int64_t seq_id = 0;
  std::vector<Datum> data;
  std::string loss_fn;
  std::vector<std::pair<std::string, double>> loss_fn_config;  // in this order on the wire
  bool forward_only = false;
};

struct ForwardBackwardAnswer {
  std::vector<std::vector<float>> logprobs;  // for each datum, per target token
  std::map<std::string, double> metrics;     // "loss:sum", …
};

struct AdamParams {
  double learning_rate = 1e-4, beta1 = 0.9, beta2 = 0.95, eps = 1e-12, weight_decay = 0;
  double grad_clip_norm = 0;  // 0 = off
};

struct OptimStep {
  static constexpr const char* kPath = "/api/v1/optim_step";
  std::string model_id;
  std::int64_t seq_id = 0;
  AdamParams adam_params;
  std::string type = "optim_step";
};
struct OptimStepAnswer {
  std::map<std::string, double> metrics;
};

// ---- checkpoints ------------------------------------------------------------------------------

struct SaveWeights {
  static constexpr const char* kPath = "/api/v1/save_weights";
  std::string model_id;
  std::string path;  // a name, which the service makes a "tinker://…" of
  std::int64_t seq_id = 0;
  bool overwrite = false;
  std::string type = "save_weights";
};
struct SavedWeights {
  std::string path;  // "tinker://MODEL/weights/NAME"
};

struct LoadWeights {
  static constexpr const char* kPath = "/api/v1/load_weights";
  std::string model_id;
  std::int64_t seq_id = 0;
  std::string path;
  bool optimizer = true;  // its state as well
  std::string type = "load_weights";
};

// ---- futures ----------------------------------------------------------------------------------

// The answer to a long request: its result is polled with this id.
struct Promise {
  std::string request_id;
};

struct RetrieveFuture {
  static constexpr const char* kPath = "/api/v1/retrieve_future";
  std::string request_id;
};

// The answers of retrieve_future instead of a result.
struct TryAgain {
  std::string queue_state;  // "active", "paused_capacity", "paused_rate_limit"; may be empty
};
struct RequestFailed {
  std::string error;
  std::string category;  // "user", "server", "unknown"; may be empty
};

}  // namespace krl::tinker
