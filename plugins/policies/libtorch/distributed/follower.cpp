#include "plugins/policies/libtorch/distributed/follower.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "plugins/policies/libtorch/distributed/answer_sink.hpp"
#include "plugins/policies/libtorch/distributed/call_rows.hpp"
#include "plugins/policies/libtorch/distributed/command.hpp"
#include "plugins/policies/libtorch/distributed/directory_copy.hpp"
#include "plugins/policies/libtorch/distributed/stream_broker.hpp"

namespace krl::libtorch {
namespace {

// Sends each answer to rank 0 as it comes.
class AnswersToRank0 final : public AnswerSink {
 public:
  explicit AnswersToRank0(RankGroup& group) : group_(group) {}

  void put(krl_sample sample) override {
    MessageWriter message;
    message.number(static_cast<std::uint8_t>(AnswerKind::kSample));
    write_value(message, value_of<SampleValue>(sample));
    group_.send(0, std::move(message).take());
  }
  void fail(std::uint32_t request, krl_status status, std::string_view why) override {
    MessageWriter message;
    message.number(static_cast<std::uint8_t>(AnswerKind::kFailedRequest));
    write_value(message, FailedRequest{request, status, std::string(why)});
    group_.send(0, std::move(message).take());
  }

 private:
  RankGroup& group_;
};

// The requests that rank 0 sends while earlier ones are being answered, received by a thread of
// its own. Answers go the other way at the same time.
class StreamedRequests {
 public:
  StreamedRequests(RankGroup& group, const Context& context)
      : group_(group), context_(context), c_{sizeof c_, 0, this, next}, receiver_([this] {
          receive();
        }) {}
  // Waits for rank 0's end of the stream.
  ~StreamedRequests() = default;

  RequestSource source() const { return RequestSource(&c_); }

 private:
  void receive() {
    try {
      while (true) {
        const std::string bytes = group_.receive(0);
        MessageReader message(bytes);
        if (message.number<std::uint8_t>() == static_cast<std::uint8_t>(StreamMessage::kEnd)) break;
        const std::lock_guard lock(mutex_);
        waiting_.push_back(received_.add(message));
        changed_.notify_all();
      }
    } catch (const Failure&) {
      // A rank is lost, as the next call on the group will report.
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  static krl_status next(const krl_request_source* c, std::int32_t wait, const krl_request** out) {
    auto& self = *static_cast<StreamedRequests*>(c->ctx);
    std::unique_lock lock(self.mutex_);
    while (wait != 0 && self.waiting_.empty() && !self.ended_) {
      if (self.context_.cancelled()) return KRL_CANCELLED;
      self.changed_.wait_for(lock, kLookAgain);
    }
    *out = nullptr;
    if (!self.waiting_.empty()) {
      *out = self.waiting_.front();
      self.waiting_.pop_front();
    }
    return KRL_OK;
  }

  // Interval of looking for a cancelled call.
  static constexpr std::chrono::milliseconds kLookAgain{100};

  RankGroup& group_;
  const Context& context_;
  krl_request_source c_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ReceivedRequests received_;
  std::deque<const krl_request*> waiting_;
  bool ended_ = false;
  std::jthread receiver_;  // uses all of the above
};

class Follower {
 public:
  Follower(RankGroup& group, RankPolicy& local, const Context& context)
      : group_(group), local_(local), context_(context) {}

  void serve() {
    CommandHeader header{};
    do {
      const std::string bytes = group_.receive(0);
      MessageReader message(bytes);
      header = read_header(message);
      Reply reply;
      try {
        carry_out(header, message, reply);
      } catch (...) {
        group_.throw_if_lost();
        reply = reply_of(std::current_exception());
        if (leaves_others_waiting(header.kind, reply.status)) {
          group_.fail(reply.why);
          throw;
        }
      }
      if (header.kind != CommandKind::kSampleStream) group_.send(0, reply_message(reply));
    } while (header.kind != CommandKind::kClose);
  }

 private:
  void carry_out(const CommandHeader& header, MessageReader& message, Reply& reply) {
    const CallContext call(context_, [this, number = header.number] {
      return group_.cancelled() >= number || group_.lost();
    });
    const Context context = call.context();
    switch (header.kind) {
      case CommandKind::kFit:
        return fit(message, context);
      case CommandKind::kSample:
        return sample(message, context);
      case CommandKind::kSampleStream:
        return sample_stream(context);
      case CommandKind::kLogprobs:
        return logprobs(message, context, reply);
      case CommandKind::kValues:
        return values(message, context, reply);
      case CommandKind::kForwardBackward:
        forward_backward(message, context);
        reply.figures = call.figures();
        return;
      case CommandKind::kDropGradient:
        return local_.drop_gradient();
      case CommandKind::kOptimizerStep:
        return optimizer_step(message, context);
      case CommandKind::kSave:
        return local_.join_save();
      case CommandKind::kLoad:
        return load(context);
      case CommandKind::kClose:
        return;
    }
  }

  void fit(MessageReader& message, const Context& context) {
    const auto seed = message.number<std::uint64_t>();
    const auto texts = read_value<std::vector<std::string>>(message);
    std::vector<krl_str> rows;
    for (const std::string& text : texts) rows.push_back(to_c(text));
    local_.fit(rows, seed, context);
  }

  // Also with no request at all: sampling marks the weights that the answers come from.
  void sample(MessageReader& message, const Context& context) {
    ReceivedRequests received;
    for (std::size_t n = message.count(sizeof(std::uint64_t)); n > 0; --n) received.add(message);
    const AnswersToRank0 answers(group_);
    local_.sample(received.requests(), answers.sink(), context);
  }

  // Replies itself: an error must reach rank 0 before it ends the stream.
  void sample_stream(const Context& context) {
    StreamedRequests requests(group_, context);
    const AnswersToRank0 answers(group_);
    Reply reply;
    try {
      local_.sample_stream(requests.source(), answers.sink(), context);
    } catch (...) {
      group_.throw_if_lost();
      reply = reply_of(std::current_exception());
    }
    group_.send(0, reply_message(reply));
  }

  void logprobs(MessageReader& message, const Context& context, Reply& reply) {
    const auto temperature = message.number<double>();
    reply.rows = rows_of<LogprobSink>(message, [&](const Examples& part, const LogprobSink& rows) {
      local_.logprobs(temperature, part, rows, context);
    });
  }

  void values(MessageReader& message, const Context& context, Reply& reply) {
    reply.rows = rows_of<CriticSink>(message, [&](const Examples& part, const CriticSink& rows) {
      local_.values(part, rows, context);
    });
  }

  // Returns the rows that `compute` puts for the examples of the message.
  template <class Sink, class Compute>
  static Rows rows_of(MessageReader& message, const Compute& compute) {
    const ReceivedExamples received(message);
    RowCollector<Sink> rows(received.examples().size());
    compute(received.examples(), rows.sink());
    return std::move(rows).take();
  }

  void forward_backward(MessageReader& message, const Context& context) {
    const auto loss = read_value<LossValue>(message);
    const ReceivedExamples received(message);
    const CView c_loss(loss);
    local_.forward_backward(Loss(c_loss.c()), received.examples(), context);
  }

  void optimizer_step(MessageReader& message, const Context& context) {
    const auto optimizer = read_value<OptimizerValue>(message);
    local_.optimizer_step(*CView(optimizer).c(), context);
  }

  void load(const Context& context) {
    const OfferedDirectory offered(group_);
    local_.load(offered.path().string(), context);
  }

  RankGroup& group_;
  RankPolicy& local_;
  const Context& context_;
};

}  // namespace

void FollowerPolicy::follow(const Context& context) { Follower(*group_, *local_, context).serve(); }

void FollowerPolicy::refuse() const {
  throw Failure(KRL_FAILED_PRECONDITION,
                "this process is rank " + std::to_string(group_->rank()) + " of " +
                    std::to_string(group_->size()) +
                    " and only serves rank 0; run what needs a policy of its own without RANK and "
                    "WORLD_SIZE, or without srun");
}

}  // namespace krl::libtorch
