#include "plugins/policies/tinker/wire/protobuf.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "wire/tinker_public.pb.h"

namespace krl::tinker {
namespace {

namespace pb = ::tinker_public;

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

template <class T>
void put_numbers(std::string& bytes, const std::vector<T>& values) {
  bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T>
std::vector<T> get_numbers(std::string_view bytes, const char* name) {
  if (bytes.size() % sizeof(T) != 0)
    throw WireError(std::string("'") + name + "' ends inside a number");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class Message>
Message parse(std::string_view body) {
  Message message;
  constexpr auto kLargest = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (body.size() > kLargest ||
      !message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    throw WireError("not valid protobuf");
  }
  return message;
}

void write_tensor(const Tensor& tensor, pb::Tensor& out) {
  const bool whole = std::holds_alternative<std::vector<std::int64_t>>(tensor);
  out.set_dtype(whole ? pb::INT64 : pb::FLOAT32);
  std::visit(
      [&](const auto& values) {
        put_numbers(*out.mutable_dense(), values);
        out.add_shape(static_cast<std::int64_t>(values.size()));
      },
      tensor);
}

Tensor read_tensor(const pb::Tensor& tensor, const char* name) {
  if (tensor.dtype() == pb::INT64) return get_numbers<std::int64_t>(tensor.dense(), name);
  if (tensor.dtype() == pb::FLOAT32) return get_numbers<float>(tensor.dense(), name);
  throw WireError(std::string("'") + name + "' is of a type that is not used here");
}

void write_datum(const Datum& datum, pb::Datum& out) {
  put_numbers(*out.add_model_input()->mutable_encoded_text()->mutable_tokens(), datum.tokens);
  for (const auto& [name, tensor] : datum.inputs) {
    pb::TensorEntry& entry = *out.add_loss_fn_inputs();
    entry.set_key(name);
    write_tensor(tensor, *entry.mutable_value());
  }
}

Datum read_datum(const pb::Datum& datum) {
  Datum out;
  for (const pb::Chunk& chunk : datum.model_input()) {
    const auto tokens = get_numbers<TokenId>(chunk.encoded_text().tokens(), "tokens");
    out.tokens.insert(out.tokens.end(), tokens.begin(), tokens.end());
  }
  for (const pb::TensorEntry& entry : datum.loss_fn_inputs())
    out.inputs.emplace_back(entry.key(), read_tensor(entry.value(), entry.key().c_str()));
  return out;
}

// Appends the log-probabilities of each of the record's data.
void read_record(const pb::ArrayRecord& record, std::vector<std::vector<float>>& out) {
  for (const pb::BatchedTensorEntry& entry : record.fields()) {
    if (entry.key() != "logprobs") continue;
    const pb::BatchedTensor& tensor = entry.value();
    if (tensor.dtype() != pb::FLOAT32) throw WireError("'logprobs' are not of type float32");
    const auto values = get_numbers<float>(tensor.data(), "logprobs");
    const auto offsets = get_numbers<std::int64_t>(tensor.offsets(), "offsets");
    if (record.num_datums() < 0 ||
        offsets.size() != static_cast<std::size_t>(record.num_datums()) + 1)
      throw WireError("'offsets' has not one number more than there are data");
    if (offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(tensor.data().size()))
      throw WireError("'offsets' does not span 'data'");
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const std::int64_t begin = offsets[i], end = offsets[i + 1];
      if (begin < 0 || begin > end || begin % 4 != 0 || end % 4 != 0 || end > offsets.back())
        throw WireError("'offsets' does not ascend by whole numbers");
      out.emplace_back(values.begin() + begin / 4, values.begin() + end / 4);
    }
    return;
  }
  throw WireError("'logprobs' is missing");
}

}  // namespace

std::string to_protobuf(const ForwardBackward& request) {
  pb::ForwardBackwardRequest out;
  out.set_model_id(request.model_id);
  if (request.seq_id > std::numeric_limits<std::int32_t>::max())
    throw WireError("'seq_id' is too large for this wire");
  out.set_seq_id(static_cast<std::int32_t>(request.seq_id));
  for (const Datum& datum : request.data) write_datum(datum, *out.add_data());
  out.set_loss_fn(request.loss_fn);
  out.set_forward_only(request.forward_only);
  for (const auto& [name, value] : request.loss_fn_config) {
    pb::NumberEntry& entry = *out.add_loss_fn_config();
    entry.set_key(name);
    entry.set_value(value);
    if (!request.says_config_twice) continue;
    pb::SettingEntry& setting = *out.add_loss_fn_config_v2();
    setting.set_key(name);
    setting.mutable_value()->set_number(value);
  }
  return out.SerializeAsString();
}

template <>
ForwardBackward from_protobuf(std::string_view body) {
  const auto message = parse<pb::ForwardBackwardRequest>(body);
  ForwardBackward request;
  request.model_id = message.model_id();
  request.seq_id = message.seq_id();
  for (const pb::Datum& datum : message.data()) request.data.push_back(read_datum(datum));
  request.loss_fn = message.loss_fn();
  for (const pb::NumberEntry& entry : message.loss_fn_config())
    request.loss_fn_config.emplace_back(entry.key(), entry.value());
  request.forward_only = message.forward_only();
  request.says_config_twice = message.loss_fn_config_v2_size() > 0;
  return request;
}

template <>
ForwardBackwardAnswer from_protobuf(std::string_view body) {
  const auto message = parse<pb::ForwardBackwardOutput>(body);
  ForwardBackwardAnswer answer;
  for (const pb::ArrayRecord& record : message.loss_fn_outputs())
    read_record(record, answer.logprobs);
  for (const pb::NumberEntry& entry : message.metrics())
    answer.metrics[entry.key()] = entry.value();
  return answer;
}

template <>
SampleAnswer from_protobuf(std::string_view body) {
  const auto message = parse<pb::SampleResponse>(body);
  SampleAnswer answer;
  for (const pb::SampledSequence& sequence : message.sequences()) {
    SampledSequence& out = answer.sequences.emplace_back();
    if (sequence.stop_reason() != pb::STOP && sequence.stop_reason() != pb::LENGTH)
      throw WireError("unknown 'stop_reason' " + std::to_string(sequence.stop_reason()));
    out.stop_reason = sequence.stop_reason() == pb::STOP ? StopReason::kStop : StopReason::kLength;
    out.tokens = get_numbers<TokenId>(sequence.tokens(), "tokens");
    for (const TokenId token : out.tokens) {
      if (token < 0) throw WireError("'tokens' contains something that is not a token id");
    }
    out.logprobs = get_numbers<float>(sequence.logprobs(), "logprobs");
  }
  answer.prompt_logprobs = get_numbers<float>(message.prompt_logprobs(), "prompt_logprobs");
  return answer;
}

}  // namespace krl::tinker
