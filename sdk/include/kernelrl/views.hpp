// Read-only views of the host's arguments: tasks and turns. Each borrows for the length of the
// call.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <kernelrl/values.hpp>

#include <optional>
#include <string_view>

namespace krl {

class Task {
 public:
  explicit Task(const krl_task* c) : c_(c) {}
  std::string_view id() const { return view(c_->id); }
  std::string_view title() const { return view(c_->title); }
  std::string_view prompt() const { return view(c_->prompt); }
  unsigned tier() const { return c_->tier; }
  // Everything about the task: <kernelrl/task_definition.hpp> reads it.
  std::string_view definition_json() const { return view(c_->definition_json); }
  const krl_task* c() const { return c_; }

 private:
  const krl_task* c_;
};

class Turn {
 public:
  explicit Turn(const krl_turn* c) : c_(c) {}
  unsigned index() const { return c_->index; }  // 0 = first of its episode
  Task task() const { return Task(c_->task); }
  std::string_view prompt() const { return view(c_->prompt); }
  std::string_view answer() const { return view(c_->answer); }
  std::string_view thinking() const { return view(c_->thinking); }
  std::string_view source() const { return view(c_->source); }
  unsigned format() const { return c_->format; }            // KRL_FORMAT_*
  unsigned stop_reason() const { return c_->stop_reason; }  // KRL_STOP_*
  bool truncated() const { return c_->stop_reason == KRL_STOP_LENGTH; }
  Span<std::int32_t> tokens() const { return span(c_->tokens); }
  Span<float> logprobs() const { return span(c_->logprobs); }
  Evaluation evaluation() const { return from_c(*c_->evaluation); }  // a copy
  std::optional<Turn> previous() const {
    return c_->previous ? std::optional(Turn(c_->previous)) : std::nullopt;
  }
  const krl_turn* c() const { return c_; }

 private:
  const krl_turn* c_;
};

}  // namespace krl
