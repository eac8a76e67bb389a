// The local policy of several ranks, on rank 0: appears to the host as one policy, and has the
// other ranks (follower.hpp) execute their part of every call. Samples are distributed by request,
// examples by tokens; a step's normaliser covers all its examples, so the ranks' gradients add up.
//
// As with one rank, one call at a time, except that tokenize() may overlap sample_stream(). An
// error in forward_backward() drops the gradient so far on all ranks. When a rank is lost, every
// call fails with KRL_INTERNAL and its name.
#pragma once

#include <functional>
#include <memory>

#include "plugins/policies/libtorch/distributed/answer_sink.hpp"
#include "plugins/policies/libtorch/distributed/command.hpp"
#include "plugins/policies/libtorch/distributed/rank_group.hpp"
#include "plugins/policies/libtorch/distributed/sharing.hpp"
#include "plugins/policies/libtorch/engine/rank_policy.hpp"
#include "plugins/policies/losses/loss.hpp"

namespace krl::libtorch {

using policies::LossOptions;

class DistributedPolicy final : public TrainablePolicy {
 public:
  // `local` is this rank's own policy, which has the group as its ShardExchange. REQUIRES: rank 0.
  DistributedPolicy(std::unique_ptr<RankGroup> group, std::unique_ptr<RankPolicy> local);
  // Lets the other ranks end.
  ~DistributedPolicy() override;

  PolicyInfo describe() override;
  void fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) override;
  void sample(const Requests& requests, const SampleSink& sink, const Context& context) override;
  void sample_stream(const RequestSource& source, const SampleSink& sink,
                     const Context& context) override;
  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context& context) override;
  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& context) override;
  void values(const Examples& examples, const CriticSink& sink, const Context& context) override;
  void forward_backward(const Loss& loss, const Examples& examples,
                        const Context& context) override;
  void optimizer_step(const krl_optimizer& optimizer, const Context& context) override;
  void save(std::string_view directory, const Context& context) override;
  void load(std::string_view directory, const Context& context) override;
  void export_weights(std::string_view directory, std::string_view format,
                      const Context& context) override;

 private:
  using Write = std::function<void(MessageWriter&, int rank)>;
  using Local = std::function<void(const Context&)>;
  using OnReply = std::function<void(int rank, const Reply&)>;
  using OnAnswer = std::function<void(AnswerKind, MessageReader&)>;
  template <class Sink>
  using RowsOf = std::function<void(const Examples& part, const Sink&, const Context&)>;

  // Sends the command to the other ranks, runs `local` here, and waits for all replies. The first
  // error, this rank's before others', is thrown at the end, and at once where this rank's leaves
  // the others waiting: the group is then lost. Gives the figures of all ranks.
  Figures on_all_ranks(CommandKind kind, const Context& context, const Write& write,
                       const Local& local, const OnReply& on_reply = {});
  // Puts the results of `rows_of` for the examples, on all ranks. `write`: writes the command's
  // text before them. `Sink` is LogprobSink or CriticSink.
  template <class Sink>
  void put_rows(CommandKind kind, const Examples& examples, const Sink& sink,
                const Context& context, const std::function<void(MessageWriter&)>& write,
                const RowsOf<Sink>& rows_of);
  std::uint64_t send_command(CommandKind kind, const Write& write);
  // Reads what rank `from` answers up to its reply, which is returned.
  Reply receive_reply(int from, const OnAnswer& on_answer);
  // Receives a reply with each answer passed on to `sink`; an exception of the sink becomes the
  // reply's error, and cancels command number `number`.
  Reply receive_answers(int from, std::uint64_t number, AnswerSink& sink);
  void throw_first_error(const std::vector<Reply>& replies) const;
  void check_here(const Examples& examples, const LossOptions* loss);
  std::vector<RankShare> shares_of(const Examples& examples) const;
  void drop_gradient(const Context& context);

  std::unique_ptr<RankGroup> group_;
  std::unique_ptr<RankPolicy> local_;  // uses the group
  std::uint64_t commands_ = 0;
};

}  // namespace krl::libtorch
