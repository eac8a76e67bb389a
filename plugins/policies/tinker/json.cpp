#include "plugins/policies/tinker/json.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace krl::tinker {
namespace {

using nlohmann::json;

// ---- requests

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

json parse_object(std::string_view body) {
  json value = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) throw WireError("not valid JSON");
  if (!value.is_object()) throw WireError("not a JSON object");
  return value;
}

const json& field(const json& object, const char* name) {
  if (!object.is_object()) throw WireError(std::string("no object that could hold '") + name + "'");
  const auto found = object.find(name);
  if (found == object.end()) throw WireError(std::string("'") + name + "' is missing");
  return *found;
}

std::string text_field(const json& object, const char* name) {
  const json& value = field(object, name);
  if (!value.is_string()) throw WireError(std::string("'") + name + "' is not a string");
  return value.get<std::string>();
}

// An id; some services give numbers.
std::string id_field(const json& object, const char* name) {
  const json& value = field(object, name);
  if (value.is_number_integer()) return value.dump();
  std::string id = text_field(object, name);
  if (id.empty()) throw WireError(std::string("'") + name + "' is empty");
  return id;
}

// Empty where it is missing or null.
std::string optional_text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const json& array_field(const json& object, const char* name) {
  const json& value = field(object, name);
  if (!value.is_array()) throw WireError(std::string("'") + name + "' is not an array");
  return value;
}

std::vector<TokenId> read_tokens(const json& array, const char* name) {
  std::vector<TokenId> tokens;
  tokens.reserve(array.size());
  for (const json& value : array) {
    const bool fits =
        value.is_number_integer() && value >= 0 && value <= std::numeric_limits<TokenId>::max();
    if (!fits)
      throw WireError(std::string("'") + name + "' contains something that is not a token id");
    tokens.push_back(value.get<TokenId>());
  }
  return tokens;
}

// null is NaN.
std::vector<float> read_floats(const json& array, const char* name) {
  std::vector<float> values;
  values.reserve(array.size());
  for (const json& value : array) {
    if (!value.is_number() && !value.is_null())
      throw WireError(std::string("'") + name + "' contains something that is not a number");
    values.push_back(value.is_null() ? std::numeric_limits<float>::quiet_NaN()
                                     : value.get<float>());
  }
  return values;
}

std::vector<float> optional_floats(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  return read_floats(array_field(object, name), name);
}

std::map<std::string, double> read_metrics(const json& object) {
  std::map<std::string, double> metrics;
  const auto found = object.find("metrics");
  if (found == object.end() || !found->is_object()) return metrics;
  for (const auto& [name, value] : found->items()) {
    if (value.is_number()) metrics[name] = value.get<double>();
  }
  return metrics;
}

StopReason read_stop_reason(const json& sequence) {
  const std::string reason = text_field(sequence, "stop_reason");
  if (reason == "stop") return StopReason::kStop;
  if (reason == "length") return StopReason::kLength;
  throw WireError("unknown 'stop_reason' \"" + reason + "\"");
}

SampledSequence read_sequence(const json& object) {
  SampledSequence sequence;
  sequence.tokens = read_tokens(array_field(object, "tokens"), "tokens");
  sequence.logprobs = optional_floats(object, "logprobs");
  sequence.stop_reason = read_stop_reason(object);
  return sequence;
}

// Returns the words of an error: a text itself, or for pydantic's list the text for each place.
std::string words_of(const json& error) {
  if (error.is_string()) return error.get<std::string>();
  std::string words;
  for (const json& item : error.is_array() ? error : json::array()) {
    const std::string message = item.is_object() ? optional_text(item, "msg") : "";
    if (!message.empty()) words += (words.empty() ? "" : "; ") + message;
  }
  if (!words.empty()) return words;
  return error.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const CreateSession& request) {
  return json{{"tags", request.tags},
              {"user_metadata", request.user_metadata},
              {"sdk_version", request.sdk_version},
              {"type", "create_session"}}
      .dump();
}

std::string to_json(const SessionHeartbeat& request) {
  return json{{"session_id", request.session_id}, {"type", "session_heartbeat"}}.dump();
}

std::string to_json(const CreateModel& request) {
  const LoraConfig& lora = request.lora;
  return json{{"session_id", request.session_id},
              {"model_seq_id", request.model_seq_id},
              {"base_model", request.base_model},
              {"lora_config",
               {{"rank", lora.rank},
                {"seed", lora.seed ? json(*lora.seed) : json()},
                {"train_unembed", lora.train_unembed},
                {"train_mlp", lora.train_mlp},
                {"train_attn", lora.train_attn}}},
              {"type", "create_model"}}
      .dump();
}

std::string to_json(const UnloadModel& request) {
  return json{{"model_id", request.model_id}, {"type", "unload_model"}}.dump();
}

std::string to_json(const SaveWeightsForSampler& request) {
  return json{{"model_id", request.model_id},
              {"sampling_session_seq_id", request.sampling_session_seq_id},
              {"seq_id", request.seq_id},
              {"type", "save_weights_for_sampler"}}
      .dump();
}

std::string to_json(const CreateSamplingSession& request) {
  return json{{"session_id", request.session_id},
              {"sampling_session_seq_id", request.sampling_session_seq_id},
              {"base_model", request.base_model},
              {"type", "create_sampling_session"}}
      .dump();
}

std::string to_json(const SampleRequest& request) {
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
  return json{{"num_samples", request.num_samples},
              {"prompt", prompt_json(request.prompt)},
              {"sampling_params", params},
              {"sampling_session_id", request.sampling_session_id},
              {"seq_id", request.seq_id},
              {"prompt_logprobs", request.prompt_logprobs},
              {"type", "sample"}}
      .dump();
}

std::string to_json(const ForwardBackward& request) {
  json input = {{"loss_fn", request.loss_fn}, {"data", json::array()}};
  for (const Datum& datum : request.data) input["data"].push_back(datum_json(datum));
  for (const auto& [name, value] : request.loss_fn_config) input["loss_fn_config"][name] = value;
  return json{{"model_id", request.model_id},
              {"seq_id", request.seq_id},
              {request.forward_only ? "forward_input" : "forward_backward_input", std::move(input)}}
      .dump();
}

std::string to_json(const OptimStep& request) {
  const AdamParams& adam = request.adam;
  return json{{"model_id", request.model_id},
              {"seq_id", request.seq_id},
              {"adam_params",
               {{"learning_rate", adam.learning_rate},
                {"beta1", adam.beta1},
                {"beta2", adam.beta2},
                {"eps", adam.eps},
                {"weight_decay", adam.weight_decay},
                {"grad_clip_norm", adam.grad_clip_norm}}},
              {"type", "optim_step"}}
      .dump();
}

std::string to_json(const SaveWeights& request) {
  return json{{"model_id", request.model_id},
              {"path", request.path},
              {"seq_id", request.seq_id},
              {"overwrite", false},
              {"type", "save_weights"}}
      .dump();
}

std::string to_json(const LoadWeights& request) {
  return json{{"model_id", request.model_id},
              {"seq_id", request.seq_id},
              {"path", request.path},
              {"optimizer", request.optimizer},
              {"type", "load_weights"}}
      .dump();
}

std::string to_json(const RetrieveFuture& request) {
  return json{{"request_id", request.request_id}}.dump();
}

template <>
Promise from_json(std::string_view body) {
  return {id_field(parse_object(body), "request_id")};
}

template <>
SessionOpened from_json(std::string_view body) {
  const json answer = parse_object(body);
  SessionOpened session{id_field(answer, "session_id"), ""};
  for (const char* kind : {"error_message", "warning_message", "info_message"}) {
    const std::string text = optional_text(answer, kind);
    if (!text.empty()) session.message += (session.message.empty() ? "" : " ") + text;
  }
  return session;
}

template <>
CreatedModel from_json(std::string_view body) {
  const json answer = parse_object(body);
  return {id_field(answer, "model_id"), optional_text(answer, "base_model")};
}

template <>
SamplingSession from_json(std::string_view body) {
  return {id_field(parse_object(body), "sampling_session_id")};
}

template <>
SavedWeights from_json(std::string_view body) {
  return {id_field(parse_object(body), "path")};
}

template <>
Done from_json(std::string_view body) {
  parse_object(body);
  return {};
}

template <>
OptimStepAnswer from_json(std::string_view body) {
  return {read_metrics(parse_object(body))};
}

template <>
Capabilities from_json(std::string_view body) {
  const json answer = parse_object(body);
  Capabilities capabilities;
  for (const json& model : array_field(answer, "supported_models")) {
    if (!model.is_object())
      throw WireError("'supported_models' contains something that is not an object");
    const auto context = model.find("max_context_length");
    const bool says_it = context != model.end() && context->is_number_integer();
    capabilities.models.push_back(
        {optional_text(model, "model_name"), says_it ? context->get<std::int64_t>() : 0});
  }
  return capabilities;
}

template <>
SampleAnswer from_json(std::string_view body) {
  const json answer = parse_object(body);
  SampleAnswer sample;
  for (const json& sequence : array_field(answer, "sequences"))
    sample.sequences.push_back(read_sequence(sequence));
  sample.prompt_logprobs = optional_floats(answer, "prompt_logprobs");
  return sample;
}

template <>
ForwardBackwardAnswer from_json(std::string_view body) {
  const json answer = parse_object(body);
  ForwardBackwardAnswer result;
  for (const json& output : array_field(answer, "loss_fn_outputs"))
    result.logprobs.push_back(
        read_floats(array_field(field(output, "logprobs"), "data"), "logprobs"));
  result.metrics = read_metrics(answer);
  return result;
}

std::optional<TryAgain> try_again_from_json(std::string_view body) {
  const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object() || optional_text(answer, "type") != "try_again") return std::nullopt;
  return TryAgain{optional_text(answer, "queue_state")};
}

std::optional<RequestFailed> failure_from_json(std::string_view body) {
  const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return std::nullopt;
  const auto error = answer.find("error");
  if (error == answer.end() || !error->is_string()) return std::nullopt;
  return RequestFailed{error->get<std::string>(), optional_text(answer, "category")};
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
