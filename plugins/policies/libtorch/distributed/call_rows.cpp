#include "plugins/policies/libtorch/distributed/call_rows.hpp"

#include <limits>

namespace krl::libtorch {
namespace {

constexpr std::int64_t kNoDeadline = std::numeric_limits<std::int64_t>::max();

}  // namespace

RequestPart::RequestPart(const Requests& requests, const RankShare& share) {
  for (const std::size_t i : share) rows_.push_back(requests[i].c());
}

void write_request(MessageWriter& message, const Request& request) {
  message.number(request.n_samples());
  message.number(request.seed());
  message.number(request.max_tokens());
  message.number(request.temperature());
  message.number(request.top_p());
  message.number(request.top_k());
  const auto stop = request.stop();
  message.number(static_cast<std::uint64_t>(stop.size()));
  for (const std::string_view text : stop) message.text(text);
  message.number(static_cast<std::uint64_t>(request.messages().size()));
  for (const Message m : request.messages()) {
    message.number(m.role());
    message.text(m.text());
  }
  message.array(request.prompt_tokens());
  message.array(request.answer_prefix());
  const std::int64_t deadline = request.deadline_ns();
  message.number(deadline == 0 ? kNoDeadline : deadline - monotonic_ns());
}

const krl_request* ReceivedRequests::add(MessageReader& message) {
  Row& row = owned_.emplace_back();
  row.request.struct_size = sizeof row.request;
  row.request.n_samples = message.number<unsigned>();
  row.request.seed = message.number<std::uint64_t>();
  row.sampling.struct_size = sizeof row.sampling;
  row.sampling.max_tokens = message.number<unsigned>();
  row.sampling.temperature = message.number<double>();
  row.sampling.top_p = message.number<double>();
  row.sampling.top_k = message.number<int>();
  for (std::size_t n = message.count(sizeof(std::uint64_t)); n > 0; --n) {
    row.stop.push_back(to_c(row.texts.emplace_back(message.text())));
  }
  row.sampling.n_stop = static_cast<std::uint32_t>(row.stop.size());
  row.sampling.stop = row.stop.data();
  for (std::size_t n = message.count(sizeof(std::uint64_t)); n > 0; --n) {
    const auto role = message.number<unsigned>();
    row.messages.push_back(
        {sizeof(krl_message), role, to_c(row.texts.emplace_back(message.text()))});
    row.pointers.push_back(&row.messages.back());
  }
  row.request.messages = row.pointers.data();
  row.request.n_messages = row.pointers.size();
  row.request.sampling = &row.sampling;
  row.tokens = message.array<std::int32_t>();
  row.request.prompt_tokens = i32s(row.tokens);
  row.answer = message.array<std::int32_t>();
  row.request.answer_prefix = i32s(row.answer);
  const auto left_ns = message.number<std::int64_t>();
  row.request.deadline_ns = left_ns == kNoDeadline ? 0 : monotonic_ns() + left_ns;
  rows_.push_back(&row.request);
  return &row.request;
}

ExamplePart::ExamplePart(const Examples& examples, const RankShare& share) {
  for (const std::size_t i : share) rows_.push_back(examples[i].c());
}

void write_examples(MessageWriter& message, const Examples& examples, const RankShare& share) {
  message.number(static_cast<std::uint64_t>(share.size()));
  for (const std::size_t i : share) {
    const Example example = examples[i];
    message.array(example.prompt_tokens());
    message.array(example.tokens());
    message.array(example.logprobs());
    message.array(example.advantages());
    message.array(example.weights());
    message.array(example.values());
    message.array(example.returns());
    message.array(example.old_logprobs());
    message.array(example.reference_logprobs());
  }
}

ReceivedExamples::ReceivedExamples(MessageReader& message) {
  const auto tokens = [&] { return i32s(tokens_.emplace_back(message.array<std::int32_t>())); };
  const auto values = [&] { return f32s(values_.emplace_back(message.array<float>())); };
  for (std::size_t n = message.count(sizeof(std::uint64_t)); n > 0; --n) {
    krl_example& example = owned_.emplace_back();
    example.struct_size = sizeof example;
    example.prompt_tokens = tokens();
    example.tokens = tokens();
    example.logprobs = values();
    example.advantages = values();
    example.weights = values();
    example.values = values();
    example.returns = values();
    example.old_logprobs = values();
    example.reference_logprobs = values();
    rows_.push_back(&example);
  }
}

void write_loss(MessageWriter& message, const Loss& loss) {
  message.text(loss.name());
  message.number(loss.aggregation());
  message.number(loss.normaliser());
  message.number(loss.temperature());
  message.number(static_cast<std::uint64_t>(loss.size()));
  for (std::size_t i = 0; i < loss.size(); ++i) {
    message.text(loss.parameter_name(i));
    message.number(loss.parameter_value(i));
  }
}

ReceivedLoss::ReceivedLoss(MessageReader& message) : name_(message.text()) {
  c_.struct_size = sizeof c_;
  c_.name = to_c(name_);
  c_.aggregation = message.number<unsigned>();
  c_.normaliser = message.number<double>();
  c_.temperature = message.number<double>();
  for (std::size_t n = message.count(sizeof(double)); n > 0; --n) {
    const krl_str name = to_c(names_.emplace_back(message.text()));
    parameters_.push_back({sizeof(krl_parameter), 0, name, message.number<double>()});
    pointers_.push_back(&parameters_.back());
  }
  c_.parameters = pointers_.data();
  c_.n_parameters = pointers_.size();
}

void write_optimizer(MessageWriter& message, const krl_optimizer& optimizer) {
  for (const double value : {optimizer.lr, optimizer.beta1, optimizer.beta2, optimizer.epsilon,
                             optimizer.weight_decay, optimizer.grad_clip}) {
    message.number(value);
  }
}

krl_optimizer read_optimizer(MessageReader& message) {
  krl_optimizer optimizer{};
  optimizer.struct_size = sizeof optimizer;
  for (double* value : {&optimizer.lr, &optimizer.beta1, &optimizer.beta2, &optimizer.epsilon,
                        &optimizer.weight_decay, &optimizer.grad_clip}) {
    *value = message.number<double>();
  }
  return optimizer;
}

void write_sample(MessageWriter& message, const krl_sample& sample) {
  message.number(sample.request);
  message.number(sample.index);
  message.number(sample.stop_reason);
  message.number(sample.policy_version);
  message.text(view(sample.text));
  message.array(span(sample.prompt_tokens));
  message.array(span(sample.tokens));
  message.array(span(sample.logprobs));
}

ReceivedSample::ReceivedSample(MessageReader& message) {
  c_.struct_size = sizeof c_;
  c_.request = message.number<std::uint32_t>();
  c_.index = message.number<std::uint32_t>();
  c_.stop_reason = message.number<std::uint32_t>();
  c_.policy_version = message.number<std::uint64_t>();
  text_ = message.text();
  prompt_ = message.array<std::int32_t>();
  tokens_ = message.array<std::int32_t>();
  logprobs_ = message.array<float>();
}

krl_sample ReceivedSample::sample() const {
  krl_sample sample = c_;
  sample.text = to_c(text_);
  sample.prompt_tokens = i32s(prompt_);
  sample.tokens = i32s(tokens_);
  sample.logprobs = f32s(logprobs_);
  return sample;
}

void write_failed_request(MessageWriter& message, const FailedRequest& failed) {
  message.number(failed.request);
  message.number(failed.status);
  message.text(failed.why);
}

FailedRequest read_failed_request(MessageReader& message) {
  const auto request = message.number<std::uint32_t>();
  const auto status = message.number<krl_status>();
  return {request, status, message.text()};
}

}  // namespace krl::libtorch
