// The plugin `isolation`: a component of each kind that stands for one of another plugin, which runs
// in a process of its own. What a plan makes of `isolation = "process"`.
#include <kernelrl/sdk.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/isolation/component_process.hpp"
#include "plugins/isolation/messages.hpp"

namespace krl::isolation {
namespace {

using nlohmann::json;
using Events = ComponentProcess::Events;

// The part that the stand-ins of all kinds share. A component derives from it.
template <std::uint32_t kKind>
class Isolated {
 public:
  std::string file, component;

  static constexpr auto config =
      krl::config(opt("file", &Isolated::file, "the plugin").path().required(),
                  opt("component", &Isolated::component, "the id of its component").required(),
                  free_opt("options", KRL_TABLE, "the component's own table, complete"));

 protected:
  void launch(const Config& config, const Context& context) {
    process_.emplace(Subject{kKind, file, component,
                             json::parse(config.json()).value("options", json::object())},
                     context);
  }
  json ask(const char* name, const json& arguments, const Context& context,
           const Events& events = {}) {
    return process_->call(name, arguments, &context, events);
  }
  // Asks the component to describe itself, as a V.
  template <class V>
  V described() {
    std::optional<V> info;
    process_->call("describe", nullptr, nullptr, {{"info", [&](const json& pushed) {
                                                     info = decode<V>(pushed);
                                                     return json();
                                                   }}});
    if (!info) throw Failure(KRL_INTERNAL, "it pushed no description");
    return *std::move(info);
  }

  std::optional<ComponentProcess> process_;
};

// An event that takes a value and needs no reply.
template <class Take>
auto take(Take taken) {
  return [taken](const json& value) {
    taken(value);
    return json();
  };
}

template <class Values>
json encode_all(const Values& values) {
  json all = json::array();
  for (const auto& value : values) all.push_back(encode(value));
  return all;
}

class IsolatedReward final : public Reward, public Isolated<KRL_REWARD> {
 public:
  void start(const Config& config, const Context& context) override { launch(config, context); }

  std::vector<double> score_all(const Turns& turns, const Context& context) override {
    json all = json::array();
    for (const Turn turn : turns) all.push_back(encode_c(*turn.c()));
    return ask("score", all, context).get<std::vector<double>>();
  }
};

class IsolatedDataset final : public SearchableDataset, public Isolated<KRL_DATASET> {
 public:
  void start(const Config& config, const Context& context) override { launch(config, context); }

  std::uint64_t size() override {
    return process_->call("size", nullptr, nullptr).get<std::uint64_t>();
  }

  void read(std::uint64_t index, const DatasetSink& sink, const Context& context) override {
    ask("read", index, context,
        {{"task", take([&](const json& pushed) {
            sink.task(*CView<TaskValue>(decode<TaskValue>(pushed)).c());
          })},
         {"pair", take([&](const json& pushed) {
            const auto pair = decode<PairValue>(pushed);
            sink.pair(*CView<TaskValue>(pair.task).c(), pair.answer, pair.earlier, pair.shows);
          })},
         {"document", take([&](const json& pushed) {
            const auto document = decode<DocumentValue>(pushed);
            sink.document(*CView<DocumentValue>(document).c());
          })}});
  }

  void find(const DocumentQuery& query, const FoundSink& sink, const Context& context) override {
    ask("find", encode_c<DocumentQueryValue>(*query.c()), context,
        {{"found", take([&](const json& pushed) {
            const auto found = decode<FoundValue>(pushed);
            sink.found(*CView<DocumentValue>(found.document).c(), found.score, found.left_out);
          })}});
  }
};

class IsolatedBackend final : public Backend, public Isolated<KRL_BACKEND> {
 public:
  void start(const Config& config, const Context& context) override { launch(config, context); }

  BackendInfo describe() override {
    const auto info = described<BackendInfoValue>();
    return {info.concurrency, info.signals, info.toolchain, info.device, info.flags};
  }

  void prepare(const Task& task, const EvaluateOptions& options, const Context& context) override {
    ask("prepare", json::array({encode_c<TaskValue>(*task.c()), encode(value_of_options(options))}),
        context);
  }

  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& context) override {
    const auto text = [](const json& value, std::size_t i) {
      return value.at(i).get<std::string>();
    };
    ask("evaluate",
        json::array({encode_c<CandidateValue>(*candidate.c()), encode(value_of_options(options))}),
        context,
        {{"identity", take([&](const json& v) { sink.identity(text(v, 0), text(v, 1)); })},
         {"compile_log", take([&](const json& v) { sink.compile_log(v.get<std::string>()); })},
         {"diagnostic", take([&](const json& v) { sink.diagnostic(v.get<Diagnostic>()); })},
         {"kernel", take([&](const json& v) { sink.kernel(v.get<Kernel>()); })},
         {"case", take([&](const json& v) { sink.add_case(v.get<Case>()); })},
         {"value", take([&](const json& v) { sink.value(v.get<Value>()); })},
         {"verdict", take([&](const json& v) {
            sink.verdict(static_cast<Verdict>(v.at(0).get<std::uint32_t>()), text(v, 1));
          })}});
  }

 private:
  static EvaluateOptionsValue value_of_options(const EvaluateOptions& options) {
    return {options.stages, options.seed};
  }
};

class IsolatedPolicy final : public TrainablePolicy, public Isolated<KRL_POLICY> {
 public:
  static constexpr bool streams = true;
  static bool follows() { return false; }  // the component itself is asked

  void start(const Config& config, const Context& context) override { launch(config, context); }

  PolicyInfo describe() override { return described<PolicyInfo>(); }

  void sample(const Requests& requests, const SampleSink& sink, const Context& context) override {
    json all = json::array();
    for (const Request request : requests) all.push_back(encode_c<RequestValue>(*request.c()));
    ask("sample", all, context, samples(sink));
  }

  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context& context) override {
    json all = json::array();
    for (const Message message : messages)
      all.push_back(encode(MessageValue{message.role(), std::string(message.text())}));
    ask("tokenize", json::array({all, answer}), context, samples(sink));
  }

  void sample_stream(const RequestSource& source, const SampleSink& sink,
                     const Context& context) override {
    Events events = samples(sink);
    const auto next = [&](bool wait) {
      const auto request = source.next(wait);
      return request ? json::array({encode_c<RequestValue>(*request->c())}) : json::array();
    };
    events["next"] = [&](const json&) { return next(false); };
    events["wait"] = [&](const json&) { return next(true); };
    ask("sample_stream", nullptr, context, events);
  }

  void follow(const Context& context) override { ask("follow", nullptr, context); }

  void fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) override {
    json all = json::array();
    for (const krl_str text : texts) all.push_back(view(text));
    ask("fit", json::array({all, seed}), context);
  }

  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& context) override {
    ask("logprobs", json::array({temperature, encode_examples(examples)}), context, rows(sink));
  }

  void values(const Examples& examples, const CriticSink& sink, const Context& context) override {
    ask("values", encode_examples(examples), context, rows(sink));
  }

  void forward_backward(const Loss& loss, const Examples& examples,
                        const Context& context) override {
    ask("forward_backward",
        json::array({encode_c<LossValue>(*loss.c()), encode_examples(examples)}), context);
  }

  void optimizer_step(const krl_optimizer& optimizer, const Context& context) override {
    ask("optimizer_step", encode_c<OptimizerValue>(optimizer), context);
  }

  void save(std::string_view directory, const Context& context) override {
    ask("save", directory, context);
  }
  void load(std::string_view directory, const Context& context) override {
    ask("load", directory, context);
  }
  void export_weights(std::string_view directory, std::string_view format,
                      const Context& context) override {
    ask("export_weights", json::array({directory, format}), context);
  }
  std::uint64_t publish(const Context& context) override {
    return ask("publish", nullptr, context).get<std::uint64_t>();
  }
  void adopt_weights(const Weights& weights, const Context& context) override {
    ask("adopt_weights",
        encode(WeightsValue{weights.kind(), std::string(weights.directory()), weights.version()}),
        context);
  }
  void forget(std::string_view directory, const Context& context) override {
    ask("forget", directory, context);
  }

 private:
  static json encode_examples(const Examples& examples) {
    json all = json::array();
    for (const Example example : examples) all.push_back(encode_c<ExampleValue>(*example.c()));
    return all;
  }

  static Events samples(const SampleSink& sink) {
    return {{"sample", take([&sink](const json& pushed) {
               const auto sample = decode<SampleValue>(pushed);
               sink.put(*CView<SampleValue>(sample).c());
             })},
            {"fail", take([&sink](const json& failed) {
               sink.fail(failed.at(0).get<std::uint32_t>(), failed.at(1).get<krl_status>(),
                         failed.at(2).get_ref<const std::string&>());
             })}};
  }

  template <class Sink>
  static Events rows(const Sink& sink) {
    return {{"row", take([&sink](const json& row) {
               sink.put(row.at(0).get<std::size_t>(), row.at(1).get<std::vector<float>>());
             })}};
  }
};

constexpr const char* kSummary = "A component of another plugin, in a process of its own";

}  // namespace
}  // namespace krl::isolation

KRL_PLUGIN("isolation", "1.0.0",
           krl::reward<krl::isolation::IsolatedReward>("isolated", krl::isolation::kSummary),
           krl::dataset<krl::isolation::IsolatedDataset>("isolated", krl::isolation::kSummary),
           krl::backend<krl::isolation::IsolatedBackend>("isolated", krl::isolation::kSummary),
           krl::policy<krl::isolation::IsolatedPolicy>("isolated", krl::isolation::kSummary))
