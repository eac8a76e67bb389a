#include "plugins/policies/tinker/json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plugins/policies/tokenizer/json_node.hpp"

namespace krl::tinker {

using nlohmann::json;
using policies::JsonNode;

// ---- requests

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CreateSession, tags, user_metadata, sdk_version, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SessionHeartbeat, session_id, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnloadModel, model_id, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SaveWeightsForSampler, model_id, sampling_session_seq_id, seq_id,
                                   type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CreateSamplingSession, session_id, sampling_session_seq_id,
                                   base_model, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AdamParams, learning_rate, beta1, beta2, eps, weight_decay,
                                   grad_clip_norm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OptimStep, model_id, seq_id, adam_params, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SaveWeights, model_id, path, seq_id, overwrite, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadWeights, model_id, seq_id, path, optimizer, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RetrieveFuture, request_id)

namespace {

json prompt_json(const std::vector<TokenId>& tokens) {
  return {{"chunks", json::array({{{"type", "encoded_text"}, {"tokens", tokens}}})}};
}

json tensor_json(const Tensor& tensor) {
  const bool whole = std::holds_alternative<std::vector<std::int64_t>>(tensor);
  const json data = std::visit([](const auto& values) { return json(values); }, tensor);
  return {{"data", data}, {"dtype", whole ? "int64" : "float32"}, {"shape", {data.size()}}};
}

json datum_json(const Datum& datum) {
  json inputs = json::object();
  for (const auto& [name, tensor] : datum.inputs) inputs[name] = tensor_json(tensor);
  return {{"model_input", prompt_json(datum.tokens)}, {"loss_fn_inputs", inputs}};
}

// ---- answers

// An id; some services give numbers.
std::string id_in(const JsonNode& object, const char* key) {
  const JsonNode id = object.get(key);
  if (id.value().is_number_integer()) return id.value().dump();
  if (id.text().empty()) id.refuse("is empty");
  return id.text();
}

// Empty where there is none.
std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// null is NaN.
std::vector<float> floats_in(const JsonNode& array) {
  std::vector<float> values;
  for (const JsonNode& value : array.elements())
    values.push_back(value.is_null() ? NAN : static_cast<float>(value.number()));
  return values;
}

void read(const JsonNode& answer, Promise& promise) {
  promise.request_id = id_in(answer, "request_id");
}

void read(const JsonNode& answer, SessionOpened& session) {
  session.session_id = id_in(answer, "session_id");
  for (const char* kind : {"error_message", "warning_message", "info_message"}) {
    const std::string text = text_in(answer.value(), kind);
    if (!text.empty()) session.message += (session.message.empty() ? "" : " ") + text;
  }
}

void read(const JsonNode& answer, CreatedModel& model) {
  model = {id_in(answer, "model_id"), text_in(answer.value(), "base_model")};
}

void read(const JsonNode& answer, SamplingSession& session) {
  session.sampling_session_id = id_in(answer, "sampling_session_id");
}

void read(const JsonNode& answer, SavedWeights& weights) { weights.path = id_in(answer, "path"); }

void read(const JsonNode&, Done&) {}

void read(const JsonNode& answer, std::map<std::string, double>& metrics) {
  const auto found = answer.find("metrics");
  if (!found || !found->value().is_object()) return;
  for (const auto& [name, value] : found->object()) {
    if (value.is_number()) metrics[name] = value.get<double>();
  }
}

void read(const JsonNode& answer, OptimStepAnswer& step) { read(answer, step.metrics); }

void read(const JsonNode& answer, Capabilities& capabilities) {
  for (const JsonNode& model : answer.get("supported_models").elements()) {
    const auto context = model.find("max_context_length");
    const bool says_it = context && context->value().is_number_integer();
    capabilities.models.push_back(
        {text_in(model.value(), "model_name"), says_it ? context->value().get<std::int64_t>() : 0});
  }
}

StopReason stop_reason(const JsonNode& reason) {
  if (reason.text() == "stop") return StopReason::kStop;
  if (reason.text() == "length") return StopReason::kLength;
  reason.refuse("unknown: \"" + reason.text() + "\"");
}

void read(const JsonNode& answer, SampleAnswer& sample) {
  for (const JsonNode& sequence : answer.get("sequences").elements()) {
    const auto logprobs = sequence.find("logprobs");
    sample.sequences.push_back({stop_reason(sequence.get("stop_reason")),
                                policies::read_ids(sequence.get("tokens")),
                                logprobs ? floats_in(*logprobs) : std::vector<float>()});
  }
  if (const auto logprobs = answer.find("prompt_logprobs"))
    sample.prompt_logprobs = floats_in(*logprobs);
}

void read(const JsonNode& answer, ForwardBackwardAnswer& result) {
  for (const JsonNode& output : answer.get("loss_fn_outputs").elements())
    result.logprobs.push_back(floats_in(output.get("logprobs").get("data")));
  read(answer, result.metrics);
}

// Returns the words of an error: a text itself, or for pydantic's list the text for each place.
std::string words_of(const json& error) {
  if (error.is_string()) return error.get<std::string>();
  std::string words;
  for (const json& item : error.is_array() ? error : json::array()) {
    const std::string message = item.is_object() ? text_in(item, "msg") : "";
    if (!message.empty()) words += (words.empty() ? "" : "; ") + message;
  }
  if (!words.empty()) return words;
  return error.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

}  // namespace

void to_json(json& out, const CreateModel& request) {
  const LoraConfig& lora = request.lora;
  out = {{"session_id", request.session_id},
         {"model_seq_id", request.model_seq_id},
         {"base_model", request.base_model},
         {"lora_config",
          {{"rank", lora.rank},
           {"seed", lora.seed ? json(*lora.seed) : json()},
           {"train_unembed", lora.train_unembed},
           {"train_mlp", lora.train_mlp},
           {"train_attn", lora.train_attn}}},
         {"type", "create_model"}};
}

void to_json(json& out, const SampleRequest& request) {
  json params = {{"max_tokens", request.max_tokens},
                 {"temperature", request.temperature},
                 {"top_k", request.top_k},
                 {"top_p", request.top_p}};
  if (request.seed) params["seed"] = *request.seed;
  std::visit(
      [&](const auto& stop) {
        if (!stop.empty()) params["stop"] = stop;
      },
      request.stop);
  out = {{"num_samples", request.num_samples},
         {"prompt", prompt_json(request.prompt)},
         {"sampling_params", params},
         {"sampling_session_id", request.sampling_session_id},
         {"seq_id", request.seq_id},
         {"prompt_logprobs", request.prompt_logprobs},
         {"type", "sample"}};
}

void to_json(json& out, const ForwardBackward& request) {
  json input = {{"loss_fn", request.loss_fn}, {"data", json::array()}};
  for (const Datum& datum : request.data) input["data"].push_back(datum_json(datum));
  for (const auto& [name, value] : request.loss_fn_config) input["loss_fn_config"][name] = value;
  out = {{"model_id", request.model_id},
         {"seq_id", request.seq_id},
         {request.forward_only ? "forward_input" : "forward_backward_input", std::move(input)}};
}

template <class T>
std::string to_json(const T& request) {
  return json(request).dump();
}
template std::string to_json(const CreateSession&);
template std::string to_json(const SessionHeartbeat&);
template std::string to_json(const CreateModel&);
template std::string to_json(const UnloadModel&);
template std::string to_json(const SaveWeightsForSampler&);
template std::string to_json(const CreateSamplingSession&);
template std::string to_json(const SampleRequest&);
template std::string to_json(const ForwardBackward&);
template std::string to_json(const OptimStep&);
template std::string to_json(const SaveWeights&);
template std::string to_json(const LoadWeights&);
template std::string to_json(const RetrieveFuture&);

template <class T>
T from_json(std::string_view body) {
  const json document = policies::parse_json(std::string(body), "the answer");
  const JsonNode answer(document, "the answer");
  T read_answer;
  answer.object();
  read(answer, read_answer);
  return read_answer;
}
template Promise from_json(std::string_view);
template SessionOpened from_json(std::string_view);
template CreatedModel from_json(std::string_view);
template Capabilities from_json(std::string_view);
template SamplingSession from_json(std::string_view);
template SampleAnswer from_json(std::string_view);
template ForwardBackwardAnswer from_json(std::string_view);
template OptimStepAnswer from_json(std::string_view);
template SavedWeights from_json(std::string_view);
template Done from_json(std::string_view);

std::optional<TryAgain> try_again_from_json(std::string_view body) {
  const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object() || text_in(answer, "type") != "try_again") return std::nullopt;
  return TryAgain{text_in(answer, "queue_state")};
}

std::optional<RequestFailed> failure_from_json(std::string_view body) {
  const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return std::nullopt;
  const auto error = answer.find("error");
  if (error == answer.end() || !error->is_string()) return std::nullopt;
  return RequestFailed{error->get<std::string>(), text_in(answer, "category")};
}

std::string error_text(std::string_view body) {
  constexpr std::size_t kLongest = 300;
  std::string text(body);
  const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (answer.is_object()) {
    for (const char* name : {"detail", "error", "message"}) {
      const auto found = answer.find(name);
      if (found == answer.end() || found->is_null()) continue;
      text = words_of(*found);
      break;
    }
  }
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace krl::tinker
