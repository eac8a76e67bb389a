// What a call over training samples passes to a policy and takes from it: examples in C's terms,
// and a sink for one number per token. Each object lives as long as its call; one thread.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin/policy.hpp"
#include "core/plugin/rows.hpp"

namespace krl {

// Borrow the arrays of the examples.
Rows<krl_example> rows_of(const std::vector<Example>& examples);

// A loss in C's terms, borrowed.
class LossView {
 public:
  explicit LossView(const Loss& loss);
  LossView(const LossView&) = delete;
  LossView& operator=(const LossView&) = delete;

  const krl_loss* c() const { return &c_; }

 private:
  Rows<krl_parameter> parameters_;
  krl_loss c_;
};

// Receives a number for every token of every example, and checks them. `Sink` is krl_critic_sink or
// krl_logprob_sink.
template <class Sink>
class NumberReceiver {
 public:
  // `what`: one of the numbers, "value".
  NumberReceiver(const std::vector<Example>& examples, std::string what)
      : examples_(examples),
        what_(std::move(what)),
        numbers_(examples.size()),
        sink_{sizeof(Sink), 0, this, put} {}
  NumberReceiver(const NumberReceiver&) = delete;
  NumberReceiver& operator=(const NumberReceiver&) = delete;

  const Sink* c() const { return &sink_; }

  // What was wrong with what was put; empty if nothing was.
  const std::string& complaint() const { return complaint_; }
  // What is still missing; empty if nothing is.
  std::string missing() const {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i].size() != examples_[i].tokens.size())
        return fmt::format("it gave no {}s for example {} of {}", what_, i, numbers_.size());
    }
    return {};
  }

  std::vector<std::vector<float>> take() && { return std::move(numbers_); }

 private:
  static krl_status put(const Sink* sink, std::size_t example, krl_f32s numbers) {
    return static_cast<NumberReceiver*>(sink->ctx)->receive(example, numbers);
  }

  krl_status receive(std::size_t example, krl_f32s numbers) {
    if (example >= examples_.size()) {
      complaint_ = fmt::format("{}s of example {}, of {}", what_, example, examples_.size());
    } else if (numbers.size != examples_[example].tokens.size()) {
      complaint_ = fmt::format("{} {}s for the {} tokens of example {}", numbers.size, what_,
                               examples_[example].tokens.size(), example);
    } else if (!std::all_of(numbers.data, numbers.data + numbers.size,
                            [](float v) { return std::isfinite(v); })) {
      complaint_ = fmt::format("a {} of example {} is no finite number", what_, example);
    }
    if (!complaint_.empty()) return KRL_INVALID_ARGUMENT;
    numbers_[example].assign(numbers.data, numbers.data + numbers.size);
    return KRL_OK;
  }

  const std::vector<Example>& examples_;
  const std::string what_;
  std::vector<std::vector<float>> numbers_;
  std::string complaint_;
  Sink sink_;
};

}  // namespace krl
