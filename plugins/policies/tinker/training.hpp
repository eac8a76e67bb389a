// Trains a model at a service: gradients and optimiser steps.
//
// The requests of a step are sent one after the other before waiting for any of their results, so
// that the service has them all in its queue: forward_backward() returns once its requests are
// submitted, and optimizer_step() once all is done. Only a loss that the service does not have (see
// service_loss.hpp) needs a wait in between, for the log-probabilities from which its gradient is
// computed. If gradients are averaged over a step's data, nothing can be sent before their number
// is known, which is with the last call of the step.
//
// If something fails and it is unknown whether the service executed it, the gradient there is no
// longer defined: every further call fails until a checkpoint is loaded. One call at a time.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "plugins/policies/tinker/service_loss.hpp"
#include "plugins/policies/tinker/session.hpp"

namespace krl::tinker {

struct TrainingOptions {
  Gradients gradients = Gradients::kSum;
  bool own_losses = true;  // use the service's own losses if they are the same
  // Limits of one request; a larger one is split.
  std::int64_t chunk_tokens = 100000, chunk_examples = 1024;
  http::Duration timeout = std::chrono::minutes(30);  // limit of a call
};

class Training {
 public:
  // Both outlive this.
  Training(Session& session, Model& model, const TrainingOptions& options);

  // θ of each answer's tokens under the present weights.
  std::vector<std::vector<float>> logprobs(const std::vector<LearnedExample>& examples,
                                           const Context& context);

  void forward_backward(const policies::LossOptions& loss, std::vector<LearnedExample> examples,
                        bool last_of_step, const Context& context);

  // Reports the step's metrics as well: those of its losses, and "grad_norm" if the service reports
  // it.
  void optimizer_step(const krl_optimizer& optimizer, const Context& context);

  // True if forward_backward() was called without its optimizer_step() yet.
  bool has_gradient() const { return !held_.empty() || !passes_.empty(); }
  // Explains why no call can succeed before a checkpoint is loaded; empty if one can.
  const std::string& broken() const { return broken_; }

 private:
  // The examples of a call.
  struct Held {
    policies::LossOptions loss;
    std::vector<LearnedExample> examples;
  };
  // A request for a gradient that is in progress.
  struct Pass {
    Submission submission;
    std::string request_id;
    policies::LossOptions loss;
    std::vector<LearnedExample> examples;
  };

  void change(const Context& context, const std::function<void(const Patience&, Yield)>& work);
  void submit_held(const Patience& patience, Yield yield);
  void submit_gradient(Held held, std::size_t step_examples, const Patience& patience, Yield yield);
  std::vector<std::vector<float>> forward(const std::vector<LearnedExample>& examples,
                                          const Patience& patience, Yield yield);
  Pass submit(ForwardBackward request, const Patience& patience, Yield yield);
  std::string submit_change(const Submission& submission, const Patience& patience, Yield yield);
  ForwardBackwardAnswer result(const Pass& pass, const Patience& patience, Yield yield);
  void take_results(const Patience& patience, Yield yield);
  void count(const policies::LossOptions& loss, const LearnedExample& example,
             const std::vector<float>& now);
  void report(const Context& context);
  std::vector<std::pair<std::size_t, std::size_t>> chunks(
      const std::vector<LearnedExample>& examples) const;

  Session& session_;
  Model& model_;
  const TrainingOptions options_;
  std::deque<Held> held_;
  std::deque<Pass> passes_;
  policies::LossMetrics metrics_;                 // not reported yet
  std::optional<policies::LossOptions> counted_;  // the loss options they belong to
  bool may_have_changed_ = false;                 // the model, by the present call
  std::string broken_;
};

}  // namespace krl::tinker
