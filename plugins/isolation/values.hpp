// Values that cross the boundary and own their data, besides those of <kernelrl/policy_values.hpp>,
// whose form they have.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <kernelrl/policy_values.hpp>

#include <memory>
#include <string>
#include <vector>

namespace krl::isolation {

struct TaskValue {
  using C = krl_task;
  std::uint32_t tier = 0;
  std::string id, title, prompt, definition_json;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&TaskValue::tier, &C::tier);
    visit(&TaskValue::id, &C::id);
    visit(&TaskValue::title, &C::title);
    visit(&TaskValue::prompt, &C::prompt);
    visit(&TaskValue::definition_json, &C::definition_json);
  }
};

struct CandidateValue {
  using C = krl_candidate;
  std::uint32_t contract = 0;
  TaskValue task;
  std::string source;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&CandidateValue::contract, &C::contract);
    visit(&CandidateValue::task, &C::task);
    visit(&CandidateValue::source, &C::source);
  }
};

struct EvaluateOptionsValue {
  using C = krl_evaluate_options;
  std::uint32_t stages = 0;
  std::uint64_t seed = 0;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&EvaluateOptionsValue::stages, &C::stages);
    visit(&EvaluateOptionsValue::seed, &C::seed);
  }
};

struct BackendInfoValue {
  using C = krl_backend_info;
  std::uint32_t flags = 0, concurrency = 1, signals = 0;
  std::string toolchain, device;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&BackendInfoValue::flags, &C::flags);
    visit(&BackendInfoValue::concurrency, &C::concurrency);
    visit(&BackendInfoValue::signals, &C::signals);
    visit(&BackendInfoValue::toolchain, &C::toolchain);
    visit(&BackendInfoValue::device, &C::device);
  }
};

struct WeightsValue {
  using C = krl_weights;
  std::uint32_t kind = 0;
  std::string directory;
  std::uint64_t version = 0;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&WeightsValue::kind, &C::kind);
    visit(&WeightsValue::directory, &C::directory);
    visit(&WeightsValue::version, &C::version);
  }
};

struct PairValue {
  using C = krl_pair;
  TaskValue task;
  std::string answer;
  std::vector<std::string> earlier;
  std::string shows;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&PairValue::task, &C::task);
    visit(&PairValue::answer, &C::answer);
    visit(&PairValue::earlier, &C::earlier, &C::n_earlier);
    visit(&PairValue::shows, &C::shows);
  }
};

struct DocumentValue {
  using C = krl_document;
  std::string id, task_hint, text, meta_json;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&DocumentValue::id, &C::id);
    visit(&DocumentValue::task_hint, &C::task_hint);
    visit(&DocumentValue::text, &C::text);
    visit(&DocumentValue::meta_json, &C::meta_json);
  }
};

struct DocumentQueryValue {
  using C = krl_document_query;
  std::uint32_t count = 0;
  TaskValue task;
  std::vector<std::string> guarded;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&DocumentQueryValue::count, &C::count);
    visit(&DocumentQueryValue::task, &C::task);
    visit(&DocumentQueryValue::guarded, &C::guarded, &C::n_guarded);
  }
};

struct FoundValue {
  using C = krl_found;
  DocumentValue document;
  double score = 0;
  std::string left_out;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&FoundValue::document, &C::document);
    visit(&FoundValue::score, &C::score);
    visit(&FoundValue::left_out, &C::left_out);
  }
};

// A turn but for its evaluation and the turn before it, which TurnValue adds.
struct TurnTexts {
  using C = krl_turn;
  std::uint32_t index = 0, format = 0, stop_reason = 0;
  TaskValue task;
  std::string prompt, answer, thinking, source;
  std::vector<std::int32_t> tokens;
  std::vector<float> logprobs;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&TurnTexts::index, &C::index);
    visit(&TurnTexts::format, &C::format);
    visit(&TurnTexts::stop_reason, &C::stop_reason);
    visit(&TurnTexts::task, &C::task);
    visit(&TurnTexts::prompt, &C::prompt);
    visit(&TurnTexts::answer, &C::answer);
    visit(&TurnTexts::thinking, &C::thinking);
    visit(&TurnTexts::source, &C::source);
    visit(&TurnTexts::tokens, &C::tokens);
    visit(&TurnTexts::logprobs, &C::logprobs);
  }
};

struct TurnValue {
  TurnTexts texts;
  Evaluation evaluation;
  std::unique_ptr<TurnValue> previous;
};

// The krl_turn of a turn, which it borrows from. Keeps its address.
class TurnView {
 public:
  explicit TurnView(const TurnValue& turn)
      : texts_(turn.texts), evaluation_(turn.evaluation), c_(*texts_.c()) {
    if (turn.previous) previous_ = std::make_unique<TurnView>(*turn.previous);
    c_.evaluation = evaluation_.c();
    c_.previous = previous_ ? previous_->c() : nullptr;
  }
  TurnView(const TurnView&) = delete;
  TurnView& operator=(const TurnView&) = delete;

  const krl_turn* c() const { return &c_; }

 private:
  CView<TurnTexts> texts_;
  EvaluationView evaluation_;
  std::unique_ptr<TurnView> previous_;
  krl_turn c_;
};

}  // namespace krl::isolation
