// Values that cross the boundary between a host and a policy and own their data: requests,
// samples, examples, losses, and what a policy says of itself.
//
// Each struct lists its fields once, in `each_field`: the structs of abi.h are made from that list
// and copied by it, and messages between ranks follow it. A new field is a member and its line.
//
// A field is a number, a text, an array, another value, a list of texts or values with its count, or
// a bit of `flags`.
// Header-only, C++17. Plain data; const functions may run on many threads at once.
#pragma once

#include <kernelrl/growth.hpp>
#include <kernelrl/values.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace krl {

struct MessageValue {
  using C = krl_message;
  std::uint32_t role = KRL_ROLE_USER;  // KRL_ROLE_*
  std::string text;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&MessageValue::role, &C::role);
    visit(&MessageValue::text, &C::text);
  }
};

struct SamplingValue {
  using C = krl_sampling;
  std::uint32_t max_tokens = 256;
  double temperature = 1.0, top_p = 1.0;
  std::int32_t top_k = -1;
  std::vector<std::string> stop = {};

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&SamplingValue::max_tokens, &C::max_tokens);
    visit(&SamplingValue::temperature, &C::temperature);
    visit(&SamplingValue::top_p, &C::top_p);
    visit(&SamplingValue::top_k, &C::top_k);
    visit(&SamplingValue::stop, &C::stop, &C::n_stop);
  }
};

struct RequestValue {
  using C = krl_request;
  std::uint32_t n_samples = 1;
  std::vector<MessageValue> messages = {};
  SamplingValue sampling = {};
  std::uint64_t seed = 0;
  std::string session = {};
  std::vector<std::int32_t> prompt_tokens = {}, answer_prefix = {};
  std::int64_t deadline_ns = 0;  // CLOCK_MONOTONIC of this machine; 0 = none

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&RequestValue::n_samples, &C::n_samples);
    visit(&RequestValue::messages, &C::messages, &C::n_messages);
    visit(&RequestValue::sampling, &C::sampling);
    visit(&RequestValue::seed, &C::seed);
    visit(&RequestValue::session, &C::session);
    visit(&RequestValue::prompt_tokens, &C::prompt_tokens);
    visit(&RequestValue::answer_prefix, &C::answer_prefix);
    visit(&RequestValue::deadline_ns, &C::deadline_ns);
  }
};

struct SpanValue {
  using C = krl_version_span;
  std::uint32_t first_token = 0;
  std::uint64_t version = 0;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&SpanValue::first_token, &C::first_token);
    visit(&SpanValue::version, &C::version);
  }
};

struct SampleValue {
  using C = krl_sample;
  std::uint32_t stop_reason = KRL_STOP_END, request = 0, index = 0;
  std::string text;
  std::vector<std::int32_t> prompt_tokens, tokens;
  std::vector<float> logprobs;  // one for each of `tokens`
  std::uint64_t policy_version = 0;
  std::vector<SpanValue> spans;
  std::string state;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&SampleValue::stop_reason, &C::stop_reason);
    visit(&SampleValue::request, &C::request);
    visit(&SampleValue::index, &C::index);
    visit(&SampleValue::text, &C::text);
    visit(&SampleValue::prompt_tokens, &C::prompt_tokens);
    visit(&SampleValue::tokens, &C::tokens);
    visit(&SampleValue::logprobs, &C::logprobs);
    visit(&SampleValue::policy_version, &C::policy_version);
    visit(&SampleValue::spans, &C::spans, &C::n_spans);
    visit(&SampleValue::state, &C::state);
  }
};

// One training example: one turn.
struct ExampleValue {
  using C = krl_example;
  std::vector<std::int32_t> prompt_tokens, tokens;
  // One for each of `tokens`, or empty (krl_example).
  std::vector<float> logprobs = {}, advantages = {}, weights = {}, values = {}, returns = {},
                     old_logprobs = {}, reference_logprobs = {};
  std::uint64_t version = 0;
  std::string state = {};

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&ExampleValue::prompt_tokens, &C::prompt_tokens);
    visit(&ExampleValue::tokens, &C::tokens);
    visit(&ExampleValue::logprobs, &C::logprobs);
    visit(&ExampleValue::advantages, &C::advantages);
    visit(&ExampleValue::weights, &C::weights);
    visit(&ExampleValue::values, &C::values);
    visit(&ExampleValue::returns, &C::returns);
    visit(&ExampleValue::old_logprobs, &C::old_logprobs);
    visit(&ExampleValue::reference_logprobs, &C::reference_logprobs);
    visit(&ExampleValue::version, &C::version);
    visit(&ExampleValue::state, &C::state);
  }
};

struct ParameterValue {
  using C = krl_parameter;
  std::string name;
  double value = 0;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&ParameterValue::name, &C::name);
    visit(&ParameterValue::value, &C::value);
  }
};

struct LossValue {
  using C = krl_loss;
  std::string name;                            // "ppo", "cross_entropy", …
  std::uint32_t aggregation = KRL_TOKEN_MEAN;  // KRL_TOKEN_MEAN, …
  double normaliser = 1;                       // for the whole optimiser step
  double temperature = 1;                      // temperature at which the examples were sampled
  std::vector<ParameterValue> parameters = {};
  std::uint32_t flags = KRL_LOSS_LAST_OF_STEP;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&LossValue::name, &C::name);
    visit(&LossValue::aggregation, &C::aggregation);
    visit(&LossValue::normaliser, &C::normaliser);
    visit(&LossValue::temperature, &C::temperature);
    visit(&LossValue::parameters, &C::parameters, &C::n_parameters);
    visit(&LossValue::flags, &C::flags);
  }
};

struct OptimizerValue {  // AdamW
  using C = krl_optimizer;
  double lr = 0, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0, grad_clip = 1;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&OptimizerValue::lr, &C::lr);
    visit(&OptimizerValue::beta1, &C::beta1);
    visit(&OptimizerValue::beta2, &C::beta2);
    visit(&OptimizerValue::epsilon, &C::epsilon);
    visit(&OptimizerValue::weight_decay, &C::weight_decay);
    visit(&OptimizerValue::grad_clip, &C::grad_clip);
  }
};

struct PolicyInfo {
  using C = krl_policy_info;
  bool trainable = true;  // a TrainablePolicy may turn it off; others never are
  bool has_tokens = true, needs_corpus = false, has_critic = false, samples_while_training = false,
       shares_prompts = false, continues = false, takes_tokens = false, has_logprobs = false,
       needs_old_logprobs = false;
  std::int64_t context_tokens = 0, vocabulary = 0;  // 0 = unknown
  std::uint64_t version = 0;                        // version of the weights that sample
  std::string description;
  std::uint32_t logprobs = KRL_LOGPROBS_SCALED;  // KRL_LOGPROBS_*
  std::uint32_t exports = 0, adopts = 0;         // KRL_WEIGHTS_*

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&PolicyInfo::trainable, KRL_POLICY_TRAINABLE);
    visit(&PolicyInfo::has_tokens, KRL_POLICY_HAS_TOKENS);
    visit(&PolicyInfo::needs_corpus, KRL_POLICY_NEEDS_CORPUS);
    visit(&PolicyInfo::has_critic, KRL_POLICY_HAS_CRITIC);
    visit(&PolicyInfo::samples_while_training, KRL_POLICY_SAMPLES_WHILE_TRAINING);
    visit(&PolicyInfo::shares_prompts, KRL_POLICY_SHARES_PROMPTS);
    visit(&PolicyInfo::continues, KRL_POLICY_CONTINUES);
    visit(&PolicyInfo::takes_tokens, KRL_POLICY_TAKES_TOKENS);
    visit(&PolicyInfo::has_logprobs, KRL_POLICY_HAS_LOGPROBS);
    visit(&PolicyInfo::needs_old_logprobs, KRL_POLICY_NEEDS_OLD_LOGPROBS);
    visit(&PolicyInfo::context_tokens, &C::context_tokens);
    visit(&PolicyInfo::vocabulary, &C::vocabulary);
    visit(&PolicyInfo::version, &C::version);
    visit(&PolicyInfo::description, &C::description);
    visit(&PolicyInfo::logprobs, &C::logprobs);
    visit(&PolicyInfo::exports, &C::exports);
    visit(&PolicyInfo::adopts, &C::adopts);
  }
};

namespace detail {

template <class T>
constexpr bool is_value_v = std::is_class_v<T> && !std::is_same_v<T, std::string>;

template <class CField, class Field>
void lend(CField& c, const Field& field) {
  if constexpr (std::is_same_v<CField, krl_str>) {
    c = to_c(field);
  } else if constexpr (std::is_same_v<CField, krl_i32s>) {
    c = i32s(field);
  } else if constexpr (std::is_same_v<CField, krl_f32s>) {
    c = f32s(field);
  } else {
    c = field;
  }
}

template <class Field, class CField>
void copy_to(Field& field, const CField& c) {
  if constexpr (std::is_same_v<CField, krl_str>) {
    field = copy(c);
  } else if constexpr (std::is_same_v<CField, krl_i32s> || std::is_same_v<CField, krl_f32s>) {
    field.assign(c.data, c.data + c.size);
  } else {
    field = static_cast<Field>(c);
  }
}

}  // namespace detail

template <class V>
class CViews;

// The struct of abi.h that stands for a value and borrows its data, and those of its parts. Keeps
// its address.
template <class V>
class CView {
 public:
  explicit CView(const V& value) {
    c_.struct_size = sizeof c_;
    V::each_field(Fill{*this, value});
  }
  CView(const CView&) = delete;
  CView& operator=(const CView&) = delete;
  const typename V::C* c() const { return &c_; }

 private:
  struct Fill {
    CView& view;
    const V& value;

    void operator()(bool V::*field, std::uint32_t flag) const {
      if (value.*field) view.c_.flags |= flag;
    }
    template <class F, class CF>
    void operator()(F V::*field, CF V::C::*c) const {
      if constexpr (detail::is_value_v<F> && std::is_pointer_v<CF>) {
        view.c_.*c = view.template keep<CView<F>>(value.*field)->c();
      } else {
        detail::lend(view.c_.*c, value.*field);
      }
    }
    template <class Item, class CF, class N>
    void operator()(std::vector<Item> V::*field, CF V::C::*c, N V::C::*count) const {
      const std::vector<Item>& items = value.*field;
      view.c_.*count = static_cast<N>(items.size());
      if constexpr (std::is_same_v<Item, std::string>) {
        auto& texts = *view.template keep<std::vector<krl_str>>();
        for (const std::string& text : items) texts.push_back(to_c(text));
        view.c_.*c = texts.data();
      } else {
        view.c_.*c = view.template keep<CViews<Item>>(items)->data();
      }
    }
  };

  template <class T, class... From>
  T* keep(const From&... from) {
    auto part = std::make_shared<T>(from...);
    T* const kept = part.get();
    parts_.push_back(std::move(part));
    return kept;
  }

  typename V::C c_{};
  std::vector<std::shared_ptr<void>> parts_;
};

// Views of several values, and the array of pointers to them that the boundary's functions take.
template <class V>
class CViews {
 public:
  CViews() = default;
  // `values`: or pointers to them.
  template <class Values>
  explicit CViews(const Values& values) {
    for (const auto& value : values) add(value);
  }
  CViews(const CViews&) = delete;
  CViews& operator=(const CViews&) = delete;

  const typename V::C* add(const V& value) {
    pointers_.push_back(views_.emplace_back(value).c());
    return pointers_.back();
  }
  const typename V::C* add(const V* value) { return add(*value); }

  const typename V::C* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::deque<CView<V>> views_;
  std::vector<const typename V::C*> pointers_;
};

template <class V>
V value_of(const typename V::C& c);

namespace detail {

template <class V>
struct Copy {
  V& value;
  const typename V::C c;

  void operator()(bool V::*field, std::uint32_t flag) const {
    value.*field = (c.flags & flag) != 0;
  }
  template <class F, class CF>
  void operator()(F V::*field, CF V::C::*from) const {
    if constexpr (is_value_v<F> && std::is_pointer_v<CF>) {
      value.*field = value_of<F>(*(c.*from));
    } else {
      copy_to(value.*field, c.*from);
    }
  }
  template <class Item, class CF, class N>
  void operator()(std::vector<Item> V::*field, CF V::C::*from, N V::C::*count) const {
    for (N i = 0; i < c.*count; ++i) {
      if constexpr (std::is_same_v<Item, std::string>) {
        (value.*field).push_back(copy((c.*from)[i]));
      } else {
        (value.*field).push_back(value_of<Item>(*(c.*from)[i]));
      }
    }
  }
};

}  // namespace detail

// A copy of what a struct of abi.h borrows.
template <class V>
V value_of(const typename V::C& c) {
  V value;
  V::each_field(detail::Copy<V>{value, whole(c)});
  return value;
}

}  // namespace krl
