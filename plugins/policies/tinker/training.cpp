#include "plugins/policies/tinker/training.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/policies/tinker/loss_gradients.hpp"

namespace krl::tinker {
namespace {

using policies::LossKind;
using policies::LossMetrics;
using policies::LossOptions;

// Returns the gradient's norm, if the service reports it: "skyrl.ai/grad_norm",
// "unclipped_grad_l2:mean".
std::optional<double> grad_norm(const std::map<std::string, double>& metrics) {
  for (const auto& [name, value] : metrics) {
    if (name.find("grad_norm") != std::string::npos || name.find("grad_l2") != std::string::npos)
      return value;
  }
  return std::nullopt;
}

void check_finite(const std::map<std::string, double>& metrics) {
  for (const auto& [name, value] : metrics) {
    if (!std::isfinite(value))
      throw Failure(KRL_UNAVAILABLE, "the service's optim_step reported " + name + " = " +
                                         std::to_string(value) + ": its weights are damaged");
  }
}

AdamParams adam_params(const krl_optimizer& optimizer) {
  return {optimizer.lr,      optimizer.beta1,        optimizer.beta2,
          optimizer.epsilon, optimizer.weight_decay, optimizer.grad_clip};
}

}  // namespace

Training::Training(Session& session, Model& model, const TrainingOptions& options)
    : session_(session), model_(model), options_(options) {}

// Runs work that changes the gradient or the weights.
void Training::change(const Context& context,
                      const std::function<void(const Patience&, Yield)>& work) {
  if (!broken_.empty()) throw Failure(KRL_FAILED_PRECONDITION, broken_);
  const Patience patience = patience_of(context, options_.timeout);
  may_have_changed_ = false;
  try {
    session_.loop().run([&](Yield yield) { work(patience, yield); });
  } catch (const std::exception& error) {
    held_.clear();
    if (may_have_changed_ || !passes_.empty()) {
      passes_.clear();
      broken_ = "the model at " + session_.url() +
                " is in an unknown state; resume from a checkpoint: " + error.what();
    }
    throw;
  }
  report(context);
}

// Submits a change once, even if the service may not have received it.
std::string Training::submit_change(const Submission& submission, const Patience& patience,
                                    Yield yield) {
  const bool before = std::exchange(may_have_changed_, true);
  try {
    return session_.futures().submit(submission, patience, yield);
  } catch (const Refused& refused) {
    if (refused.code() != KRL_UNAVAILABLE) may_have_changed_ = before;
    throw;
  }
}

void Training::count(const LossOptions& loss, const LearnedExample& example,
                     const std::vector<float>& now) {
  loss_gradient(loss, example, now, metrics_);
  counted_ = loss;
}

void Training::report(const Context& context) {
  if (counted_) policies::report_metrics(*counted_, metrics_, context);
  metrics_ = {};
  counted_.reset();
}

std::vector<std::vector<float>> Training::logprobs(const std::vector<LearnedExample>& examples,
                                                   const Context& context) {
  const Patience patience = patience_of(context, options_.timeout);
  return session_.loop().run([&](Yield yield) { return forward(examples, patience, yield); });
}

void Training::forward_backward(const LossOptions& loss, std::vector<LearnedExample> examples,
                                bool last_of_step, const Context& context) {
  std::erase_if(examples, [](const LearnedExample& example) { return !example.counts(); });
  change(context, [&](const Patience& patience, Yield yield) {
    if (!examples.empty()) held_.push_back({loss, std::move(examples)});
    if (options_.gradients == Gradients::kSum || last_of_step) submit_held(patience, yield);
  });
}

void Training::optimizer_step(const krl_optimizer& optimizer, const Context& context) {
  change(context, [&](const Patience& patience, Yield yield) {
    submit_held(patience, yield);
    Submission step{OptimStep::kPath,
                    to_json(OptimStep{model_.id, model_.next_seq_id++, adam_params(optimizer)})};
    step.repeatable = session_.kind().knows_seq_ids;
    const std::string promise = submit_change(step, patience, yield);
    for (Pass& pass : passes_) pass.submission.is_built_upon = true;
    take_results(patience, yield);
    const auto answer = session_.futures().result<OptimStepAnswer>(step, promise, patience, yield);
    check_finite(answer.metrics);
    if (const auto norm = grad_norm(answer.metrics)) context.metric("grad_norm", *norm);
  });
}

void Training::submit_held(const Patience& patience, Yield yield) {
  std::size_t examples = 0;
  for (const Held& held : held_) examples += held.examples.size();
  for (; !held_.empty(); held_.pop_front())
    submit_gradient(std::move(held_.front()), examples, patience, yield);
}

void Training::submit_gradient(Held held, std::size_t step_examples, const Patience& patience,
                               Yield yield) {
  const Gradients gradients = options_.gradients;
  const std::optional<ServiceLoss> own =
      options_.own_losses ? own_loss(held.loss, held.examples, gradients) : std::nullopt;
  std::vector<Datum> data;
  if (own) {
    for (const LearnedExample& example : held.examples)
      data.push_back(own_loss_datum(held.loss, example, gradients, step_examples));
  } else {
    const auto now = forward(held.examples, patience, yield);
    for (std::size_t i = 0; i < now.size(); ++i) {
      LossMetrics unused;
      const auto gradient = loss_gradient(held.loss, held.examples[i], now[i], unused);
      data.push_back(linear_loss_datum(held.examples[i], gradient, gradients, step_examples));
    }
  }
  const ServiceLoss loss = own ? *own : linear_loss(gradients);
  for (const auto& [begin, end] : chunks(held.examples)) {
    const auto first = static_cast<std::ptrdiff_t>(begin), last = static_cast<std::ptrdiff_t>(end);
    ForwardBackward request;
    request.loss_fn = loss.loss_fn;
    request.loss_fn_config = loss.config;
    std::move(data.begin() + first, data.begin() + last, std::back_inserter(request.data));
    Pass pass = submit(std::move(request), patience, yield);
    pass.loss = held.loss;
    std::move(held.examples.begin() + first, held.examples.begin() + last,
              std::back_inserter(pass.examples));
    passes_.push_back(std::move(pass));
  }
}

std::vector<std::vector<float>> Training::forward(const std::vector<LearnedExample>& examples,
                                                  const Patience& patience, Yield yield) {
  std::deque<Pass> passes;
  for (const auto& [begin, end] : chunks(examples)) {
    ForwardBackward request;
    request.loss_fn = "cross_entropy";
    request.forward_only = true;
    for (std::size_t i = begin; i < end; ++i) request.data.push_back(forward_datum(examples[i]));
    passes.push_back(submit(std::move(request), patience, yield));
    passes.back().examples.assign(examples.begin() + static_cast<std::ptrdiff_t>(begin),
                                  examples.begin() + static_cast<std::ptrdiff_t>(end));
  }
  std::vector<std::vector<float>> all;
  for (const Pass& pass : passes) {
    const ForwardBackwardAnswer answer = result(pass, patience, yield);
    for (std::size_t i = 0; i < pass.examples.size(); ++i)
      all.push_back(answer_logprobs(pass.examples[i], answer.logprobs[i]));
  }
  return all;
}

// Takes the next seq_id.
Training::Pass Training::submit(ForwardBackward request, const Patience& patience, Yield yield) {
  request.model_id = model_.id;
  request.seq_id = model_.next_seq_id++;
  Pass pass;
  pass.submission.path =
      request.forward_only ? ForwardBackward::kForwardPath : ForwardBackward::kPath;
  pass.submission.body = to_json(request);
  pass.submission.repeatable = request.forward_only || session_.kind().knows_seq_ids;
  pass.request_id = request.forward_only
                        ? session_.futures().submit(pass.submission, patience, yield)
                        : submit_change(pass.submission, patience, yield);
  return pass;
}

ForwardBackwardAnswer Training::result(const Pass& pass, const Patience& patience, Yield yield) {
  auto answer = session_.futures().result<ForwardBackwardAnswer>(pass.submission, pass.request_id,
                                                                 patience, yield);
  if (answer.logprobs.size() != pass.examples.size()) {
    throw Failure(KRL_UNAVAILABLE, "the service gave the log-probabilities of " +
                                       std::to_string(answer.logprobs.size()) + " of " +
                                       std::to_string(pass.examples.size()) + " examples");
  }
  return answer;
}

void Training::take_results(const Patience& patience, Yield yield) {
  for (; !passes_.empty(); passes_.pop_front()) {
    const Pass& pass = passes_.front();
    const ForwardBackwardAnswer answer = result(pass, patience, yield);
    for (std::size_t i = 0; i < pass.examples.size(); ++i)
      count(pass.loss, pass.examples[i], answer_logprobs(pass.examples[i], answer.logprobs[i]));
  }
}

// Returns the ranges of examples of each request. An example is never cut.
std::vector<std::pair<std::size_t, std::size_t>> Training::chunks(
    const std::vector<LearnedExample>& examples) const {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  std::size_t begin = 0;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto length =
        static_cast<std::int64_t>(examples[i].prompt.size() + examples[i].tokens.size());
    const bool full = static_cast<std::int64_t>(i - begin) >= options_.chunk_examples ||
                      tokens + length > options_.chunk_tokens;
    if (i > begin && full) {
      all.emplace_back(begin, i);
      begin = i;
      tokens = 0;
    }
    tokens += length;
  }
  if (begin < examples.size()) all.emplace_back(begin, examples.size());
  return all;
}

}  // namespace krl::tinker
