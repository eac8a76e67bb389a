#include "plugins/policies/libtorch/distributed/distributed_policy.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include "plugins/policies/libtorch/distributed/call_rows.hpp"
#include "plugins/policies/libtorch/distributed/directory_copy.hpp"
#include "plugins/policies/libtorch/distributed/stream_broker.hpp"
#include "plugins/policies/libtorch/training/examples.hpp"

namespace krl::libtorch {
namespace {

// Collects errors from all ranks; keeps the lowest rank's, preferring real errors over
// cancellations.
class FirstError {
 public:
  void add(int rank, const std::string& name, const Reply& reply) {
    if (reply.status == KRL_OK) return;
    if (status_ != KRL_OK && (status_ != KRL_CANCELLED || reply.status == KRL_CANCELLED)) return;
    status_ = reply.status;
    why_ = rank == 0 ? reply.why : name + ": " + reply.why;
  }
  void throw_if_any() const {
    if (status_ != KRL_OK) throw Failure(status_, why_);
  }

 private:
  krl_status status_ = KRL_OK;
  std::string why_;
};

// Passes one rank's answers on to the host, each under its request's number in the host's call.
// The sinks of all ranks share the lock: the host gets one answer at a time.
class PartSink final : public AnswerSink {
 public:
  PartSink(const SampleSink& sink, std::mutex& mutex, const RankShare& share)
      : sink_(sink), mutex_(mutex), share_(share) {}

  void put(krl_sample sample) override {
    sample.request = host_number(sample.request);
    const std::lock_guard lock(mutex_);
    sink_.put(sample);
  }
  void fail(std::uint32_t request, krl_status status, std::string_view why) override {
    const std::lock_guard lock(mutex_);
    sink_.fail(host_number(request), status, why);
  }

 private:
  std::uint32_t host_number(std::uint32_t request) const {
    return static_cast<std::uint32_t>(share_.at(request));
  }

  const SampleSink& sink_;
  std::mutex& mutex_;
  const RankShare& share_;
};

void pass_on(AnswerKind kind, MessageReader& message, AnswerSink& sink) {
  if (kind == AnswerKind::kSample) {
    const auto sample = read_value<SampleValue>(message);
    sink.put(*CView(sample).c());
  } else {
    const auto failed = read_value<FailedRequest>(message);
    sink.fail(failed.request, failed.status, failed.why);
  }
}

void place_rows(const Rows& from, const RankShare& share, Rows& rows) {
  for (std::size_t k = 0; k < share.size(); ++k) rows[share[k]] = from.at(k);
}

// Runs `work` and returns its status.
template <class Work>
Reply reply_to(const Work& work) {
  try {
    work();
    return {};
  } catch (...) {
    return reply_of(std::current_exception());
  }
}

}  // namespace

DistributedPolicy::DistributedPolicy(std::unique_ptr<RankGroup> group,
                                     std::unique_ptr<RankPolicy> local)
    : group_(std::move(group)), local_(std::move(local)) {}

DistributedPolicy::~DistributedPolicy() {
  if (group_->lost()) return;
  reply_to([&] {
    send_command(CommandKind::kClose, {});
    for (int r = 1; r < group_->size(); ++r) receive_reply(r, {});
  });
}

std::uint64_t DistributedPolicy::send_command(CommandKind kind, const Write& write) {
  const CommandHeader header{kind, ++commands_};
  for (int r = 1; r < group_->size(); ++r) {
    MessageWriter message;
    write_header(message, header);
    if (write) write(message, r);
    group_->send(r, std::move(message).take());
  }
  return header.number;
}

Reply DistributedPolicy::receive_reply(int from, const OnAnswer& on_answer) {
  while (true) {
    const std::string bytes = group_->receive(from);
    MessageReader message(bytes);
    const auto kind = static_cast<AnswerKind>(message.number<std::uint8_t>());
    if (kind == AnswerKind::kReply) return read_reply(message);
    on_answer(kind, message);
  }
}

Figures DistributedPolicy::on_all_ranks(CommandKind kind, const Context& context,
                                        const Write& write, const Local& local,
                                        const OnReply& on_reply) {
  const std::uint64_t number = send_command(kind, write);
  const CallContext here(context, [this] { return group_->lost(); });
  const Reply own = reply_to([&] { local(here.context()); });
  group_->throw_if_lost();
  if (leaves_others_waiting(kind, own.status)) {
    group_->fail(own.why);
    throw Failure(own.status, own.why);
  }
  if (own.status != KRL_OK) group_->cancel(number);
  FirstError error;
  error.add(0, {}, own);
  Figures figures = here.figures();
  for (int r = 1; r < group_->size(); ++r) {
    const Reply reply = receive_reply(r, {});
    error.add(r, group_->name(r), reply);
    merge_figures(figures, reply.figures);
    if (on_reply && reply.status == KRL_OK) on_reply(r, reply);
  }
  error.throw_if_any();
  return figures;
}

PolicyInfo DistributedPolicy::describe() {
  group_->throw_if_lost();
  PolicyInfo info = local_->describe();
  info.description += ", " + std::to_string(group_->size()) + " ranks";
  return info;
}

// The same on all ranks: vocabulary and weights follow from the texts and the seed.
void DistributedPolicy::fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) {
  on_all_ranks(
      CommandKind::kFit, context,
      [&](MessageWriter& message, int) {
        message.number(seed);
        message.number(static_cast<std::uint64_t>(texts.size()));
        for (const krl_str text : texts) message.text(view(text));
      },
      [&](const Context& here) { local_->fit(texts, seed, here); });
}

void DistributedPolicy::sample(const Requests& requests, const SampleSink& sink,
                               const Context& context) {
  const auto shares = share_requests(requests, group_->size());
  const auto share_of = [&](int rank) -> const RankShare& {
    return shares[static_cast<std::size_t>(rank)];
  };
  const std::uint64_t number =
      send_command(CommandKind::kSample, [&](MessageWriter& message, int rank) {
        message.number(static_cast<std::uint64_t>(share_of(rank).size()));
        for (const std::size_t i : share_of(rank)) write_request(message, requests[i]);
      });

  std::mutex mutex;
  std::deque<PartSink> parts;
  for (const RankShare& share : shares) parts.emplace_back(sink, mutex, share);
  std::vector<Reply> replies(shares.size());
  std::atomic<bool> failed{false};
  const auto end_early = [&] {
    failed = true;
    group_->cancel(number);
  };
  {
    std::vector<std::jthread> receivers;
    for (int r = 1; r < group_->size(); ++r) {
      receivers.emplace_back([&, r] {
        const auto rank = static_cast<std::size_t>(r);
        Reply& reply = replies[rank];
        reply = receive_answers(r, number, parts[rank]);
        if (reply.status != KRL_OK) end_early();
      });
    }
    const CallContext here(context, [&] { return failed || group_->lost(); });
    const RequestPart part(requests, share_of(0));
    replies[0] =
        reply_to([&] { local_->sample(part.requests(), parts[0].sink(), here.context()); });
    if (replies[0].status != KRL_OK) end_early();
  }
  throw_first_error(replies);
}

void DistributedPolicy::sample_stream(const RequestSource& source, const SampleSink& sink,
                                      const Context& context) {
  const std::uint64_t number = send_command(CommandKind::kSampleStream, {});
  StreamBroker broker(*group_, source, sink);
  std::vector<Reply> replies(static_cast<std::size_t>(group_->size()));
  {
    std::vector<std::jthread> receivers;
    for (int r = 1; r < group_->size(); ++r) {
      receivers.emplace_back([&, r] {
        Reply& reply = replies[static_cast<std::size_t>(r)];
        reply = receive_answers(r, number, broker.answers(r));
        if (reply.status != KRL_OK) broker.stop();
      });
    }
    const CallContext here(context, [&] { return broker.stopped() || group_->lost(); });
    replies[0] = reply_to([&] {
      local_->sample_stream(broker.own_source(), broker.answers(0).sink(), here.context());
    });
    if (replies[0].status != KRL_OK) {
      broker.stop();
      group_->cancel(number);
    }
    reply_to([&] { broker.end_others(); });  // a rank that is lost is found below
  }
  throw_first_error(replies);
}

Reply DistributedPolicy::receive_answers(int from, std::uint64_t number, AnswerSink& sink) {
  Reply refused, received;
  const auto on_answer = [&](AnswerKind kind, MessageReader& message) {
    if (refused.status != KRL_OK) return;
    refused = reply_to([&] { pass_on(kind, message, sink); });
    if (refused.status != KRL_OK) group_->cancel(number);
  };
  const Reply way = reply_to([&] { received = receive_reply(from, on_answer); });
  if (refused.status != KRL_OK) return refused;
  return way.status != KRL_OK ? way : received;
}

void DistributedPolicy::throw_first_error(const std::vector<Reply>& replies) const {
  group_->throw_if_lost();
  FirstError error;
  for (int r = 0; r < group_->size(); ++r) {
    error.add(r, group_->name(r), replies[static_cast<std::size_t>(r)]);
  }
  error.throw_if_any();
}

void DistributedPolicy::tokenize(const Messages& messages, std::string_view answer,
                                 const SampleSink& sink, const Context& context) {
  local_->tokenize(messages, answer, sink, context);
}

// Before they are shared out, so that an error names an example as the host numbers it.
void DistributedPolicy::check_here(const Examples& examples, const LossOptions* loss) {
  const PolicyInfo info = local_->describe();
  if (info.needs_corpus) return;  // the call itself reports the error
  ModelConfig limits;
  limits.context = info.context_tokens;
  limits.vocabulary = info.vocabulary;
  check_examples(examples, limits, loss);
}

std::vector<RankShare> DistributedPolicy::shares_of(const Examples& examples) const {
  return share_examples(example_lengths(examples), group_->size());
}

template <class Sink>
void DistributedPolicy::put_rows(CommandKind kind, const Examples& examples, const Sink& sink,
                                 const Context& context,
                                 const std::function<void(MessageWriter&)>& write,
                                 const RowsOf<Sink>& rows_of) {
  check_here(examples, nullptr);
  const auto shares = shares_of(examples);
  RowCollector<Sink> own(shares[0].size());
  Rows rows(examples.size());
  on_all_ranks(
      kind, context,
      [&](MessageWriter& message, int rank) {
        write(message);
        write_examples(message, examples, shares[static_cast<std::size_t>(rank)]);
      },
      [&](const Context& here) {
        const ExamplePart part(examples, shares[0]);
        rows_of(part.examples(), own.sink(), here);
      },
      [&](int rank, const Reply& reply) {
        place_rows(reply.rows, shares[static_cast<std::size_t>(rank)], rows);
      });
  place_rows(own.rows(), shares[0], rows);
  for (std::size_t i = 0; i < rows.size(); ++i) sink.put(i, rows[i]);
}

void DistributedPolicy::logprobs(double temperature, const Examples& examples,
                                 const LogprobSink& sink, const Context& context) {
  put_rows<LogprobSink>(
      CommandKind::kLogprobs, examples, sink, context,
      [&](MessageWriter& message) { message.number(temperature); },
      [&](const Examples& part, const LogprobSink& rows, const Context& here) {
        local_->logprobs(temperature, part, rows, here);
      });
}

void DistributedPolicy::values(const Examples& examples, const CriticSink& sink,
                               const Context& context) {
  put_rows<CriticSink>(
      CommandKind::kValues, examples, sink, context, [](MessageWriter&) {},
      [&](const Examples& part, const CriticSink& rows, const Context& here) {
        local_->values(part, rows, here);
      });
}

void DistributedPolicy::forward_backward(const Loss& loss, const Examples& examples,
                                         const Context& context) {
  const LossOptions options = policies::parse_loss(loss);
  check_here(examples, &options);
  const auto shares = shares_of(examples);
  try {
    const Figures figures = on_all_ranks(
        CommandKind::kForwardBackward, context,
        [&](MessageWriter& message, int rank) {
          write_value(message, value_of<LossValue>(*loss.c()));
          write_examples(message, examples, shares[static_cast<std::size_t>(rank)]);
        },
        [&](const Context& here) {
          const ExamplePart part(examples, shares[0]);
          local_->forward_backward(loss, part.examples(), here);
        });
    for (const auto& [name, value] : figures) context.metric(name, value);
  } catch (const Failure&) {
    // Some ranks have added their part, others not.
    if (!group_->lost()) drop_gradient(context);
    throw;
  }
}

void DistributedPolicy::drop_gradient(const Context& context) {
  on_all_ranks(CommandKind::kDropGradient, context, {},
               [&](const Context&) { local_->drop_gradient(); });
}

void DistributedPolicy::optimizer_step(const krl_optimizer& optimizer, const Context& context) {
  const Figures figures = on_all_ranks(
      CommandKind::kOptimizerStep, context,
      [&](MessageWriter& message, int) {
        write_value(message, value_of<OptimizerValue>(optimizer));
      },
      [&](const Context& here) { local_->optimizer_step(optimizer, here); });
  for (const auto& [name, value] : figures) context.metric(name, value);
}

void DistributedPolicy::save(std::string_view directory, const Context& context) {
  on_all_ranks(CommandKind::kSave, context, {},
               [&](const Context& here) { local_->save(directory, here); });
}

void DistributedPolicy::load(std::string_view directory, const Context& context) {
  on_all_ranks(CommandKind::kLoad, context, {}, [&](const Context& here) {
    if (!offer_directory(*group_, directory)) {
      throw Failure(KRL_INTERNAL,
                    "a file of " + std::string(directory) +
                        " could not be read to its end, for a rank that needs a copy");
    }
    local_->load(directory, here);
  });
}

void DistributedPolicy::export_weights(std::string_view directory, std::string_view format,
                                       const Context& context) {
  local_->export_weights(directory, format, context);
}

}  // namespace krl::libtorch
