// A session with a service: its parameters, the heartbeat that keeps it alive, and its models and
// samplers. Created and destroyed by any thread; the other functions belong to the coroutines of
// its loop.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include "http/base/loop.hpp"
#include "plugins/policies/tinker/futures.hpp"
#include "plugins/policies/tinker/service_kind.hpp"

namespace krl::tinker {

struct ServiceOptions {
  std::string base_url;
  std::string api_key;  // may be empty
  std::string base_model;
  LoraConfig lora;
  http::Options http;
  http::Duration heartbeat = std::chrono::seconds(10);
};

// A model that learns. Every request that changes it carries the next of its numbers.
struct Model {
  std::string id;
  std::int64_t next_seq_id = 1;  // create_model was 0
};

// The source of answers: the weights of one moment.
struct Sampler {
  std::string sampling_session_id;
  std::uint64_t version = 0;  // version of the weights
  std::atomic<std::int64_t> next_seq_id{0};
};

class Session {
 public:
  // Connects: asks what kind of service it is and which models it has, and opens a session. Throws
  // Failure: KRL_INVALID_ARGUMENT if it does not have the base model, else as Futures does.
  Session(const ServiceOptions& options, const Patience& patience);
  // Ends the heartbeat; the service forgets the session by itself.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  http::Loop& loop() { return loop_; }
  Futures& futures() { return futures_; }
  const ServiceKind& kind() const { return kind_; }
  // Context of the model; 0 = the service does not tell.
  std::int64_t context() const { return context_; }
  std::string url() const { return client_.base().text(); }

  Model create_model(const Patience& patience, Yield yield);
  // Frees the service's memory.
  void unload_model(const Model& model, const Patience& patience, Yield yield);
  // A sampler with the weights that `model` has now.
  std::shared_ptr<Sampler> create_sampler(Model& model, std::uint64_t version,
                                          const Patience& patience, Yield yield);
  // Creates a sampler with the weights of the base model.
  std::shared_ptr<Sampler> create_base_sampler(const Patience& patience, Yield yield);
  // Deletes a "tinker://MODEL/weights/NAME"; false if the service cannot, or has it no more.
  bool delete_checkpoint(const std::string& path, const Patience& patience, Yield yield);

  // Asks for something new under a number or name of its own, which `submission` makes: where the
  // service knows no seq_id and an answer is lost, there may be two of it, and one is not used.
  template <class T>
  T create(const std::function<Submission()>& submission, const Patience& patience, Yield yield);

  // The error of the last heartbeat; empty if it succeeded.
  std::string heartbeat_trouble() const;
  // Exchanges that were tried again so far.
  std::uint64_t retries() const { return retries_; }

 private:
  void connect(const Patience& patience, Yield yield);
  void find_base_model(const Capabilities& capabilities);
  void beat(Yield yield);
  http::Options http_options(http::Duration keep_idle);

  const ServiceOptions options_;
  std::atomic<std::uint64_t> retries_ = 0;
  http::Loop loop_;
  http::Client client_, unkept_;
  Futures futures_;
  ServiceKind kind_;
  std::string id_;
  std::int64_t context_ = 0;
  std::int64_t next_model_ = 0, next_sampler_ = 0;

  boost::asio::steady_timer pulse_;
  std::atomic<bool> ends_ = false;
  std::promise<void> ended_;
  mutable std::mutex mutex_;
  std::string heartbeat_trouble_;
};

template <class T>
T Session::create(const std::function<Submission()>& submission, const Patience& patience,
                  Yield yield) {
  constexpr int kTries = 3;
  for (int attempt = 1;; ++attempt) {
    Submission made = submission();
    made.repeatable = kind_.knows_seq_ids;
    try {
      return futures_.submit_and_wait<T>(made, patience, yield);
    } catch (const http::Failure& failure) {
      if (made.repeatable || failure.code() != KRL_UNAVAILABLE || attempt == kTries) throw;
    } catch (const Refused& refused) {  // 409: there is one of that name
      if (refused.status() != 409 || attempt == kTries) throw;
    }
  }
}

}  // namespace krl::tinker
