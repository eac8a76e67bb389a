// Distributes requests over ranks as they arrive, on rank 0: each goes to the rank with the fewest
// in progress; requests with the same prompt go to the same rank together where possible, so that
// the prompt is processed once. The answer to a request depends only on its seed, not on the rank.
//
// The host's source and sink are used under one lock, by whichever thread has work: rank 0's
// generation, or a receiver of another rank's answers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <kernelrl/policy.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugins/policies/libtorch/distributed/answer_sink.hpp"
#include "plugins/policies/libtorch/distributed/rank_group.hpp"

namespace krl::libtorch {

class StreamBroker {
 public:
  // All of them outlive the broker, and the requests of `source` too.
  StreamBroker(RankGroup& group, const RequestSource& source, const SampleSink& sink);

  // The requests for rank 0's generation.
  RequestSource own_source() const { return RequestSource(&source_c_); }
  // Takes the answers of `rank`, whose numbers count that rank's requests. Passes on the host's
  // exceptions.
  AnswerSink& answers(int rank) { return answers_[static_cast<std::size_t>(rank)]; }

  // Ends the call early: own_source() throws KRL_CANCELLED from then on.
  void stop();
  bool stopped() const { return stopped_; }

  // Tells the other ranks that nothing more comes. Once, at the end.
  void end_others();

 private:
  struct Assigned {
    std::uint32_t number;  // index in the host's call
    std::size_t under_way;
  };
  struct Rank {
    std::vector<Assigned> requests;
    std::size_t under_way = 0;  // samples of all of them
  };
  class Answers final : public AnswerSink {
   public:
    Answers(StreamBroker& broker, int rank) : broker_(broker), rank_(rank) {}
    void put(krl_sample sample) override { broker_.answered(rank_, sample); }
    void fail(std::uint32_t request, krl_status status, std::string_view why) override {
      broker_.failed(rank_, request, status, why);
    }

   private:
    StreamBroker& broker_;
    const int rank_;
  };

  static krl_status next(const krl_request_source* c, std::int32_t wait, const krl_request** out);

  const krl_request* take(bool wait);
  void answered(int rank, krl_sample sample);
  void failed(int rank, std::uint32_t request, krl_status status, std::string_view why);
  void take_all_there_are();
  void assign(const Request& request);
  int rank_for(const std::string& prompt) const;
  bool others_idle() const;

  RankGroup& group_;
  const RequestSource& host_source_;
  const SampleSink& host_sink_;
  krl_request_source source_c_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  std::deque<Answers> answers_;         // one for each rank
  std::deque<const krl_request*> own_;  // assigned to rank 0, not yet taken
  std::uint32_t taken_ = 0;             // requests taken from the host
  std::string last_prompt_;
  int last_rank_ = 0;
  std::atomic<bool> stopped_{false};
};

// Messages of rank 0 during a call: one more request, or the end of all.
enum class StreamMessage : std::uint8_t { kRequest, kEnd };

}  // namespace krl::libtorch
