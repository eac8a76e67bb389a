// Sends one request until it is answered or cannot be: failover, back-off, fields that a server
// refuses, answers in one piece or as a stream. Used only on the loop's thread.
#pragma once

#include <atomic>
#include <set>

#include "plugins/policies/openai/refusals.hpp"
#include "plugins/policies/openai/server_pool.hpp"
#include "plugins/policies/openai/verdict.hpp"

namespace krl::openai {

struct Answered {
  Reply reply;                // each choice has ended; there may be fewer than were asked for
  std::uint64_t version = 0;  // version of the weights
  std::string server;         // its name
};

// The terms of a question: who asks, and for how long.
struct Terms {
  std::uint64_t conversation = 0;  // see ServerPool
  Patience patience;
  std::atomic<std::uint64_t>* retries = nullptr;  // counts them; may be null
};

class Asking {
 public:
  // Keeps references.
  Asking(boost::asio::io_context& io, ServerPool& pool, const Settings& settings,
         ServerPool::Note note)
      : io_(io), pool_(pool), settings_(settings), note_(std::move(note)) {}

  // Asks for the samples of `ask`, whose model is filled in. The part of a stream that arrived
  // before it broke is an answer too, with KRL_STOP_ABORTED. Throws krl::Failure:
  //   KRL_FAILED_PRECONDITION  every question would fail: the key, the model, the address
  //   KRL_INVALID_ARGUMENT     the server refuses this one
  //   KRL_CANCELLED, KRL_DEADLINE_EXCEEDED
  //   KRL_RESOURCE_EXHAUSTED   an answer beyond all limits
  //   KRL_UNAVAILABLE          anything else, after all tries
  Answered ask(Ask ask, const Terms& terms, Yield yield);

  // The log-probabilities of the tokens of ask.prompt from `first` on; errors as ask().
  // REQUIRES: the dialect can score.
  std::vector<float> score(Ask ask, std::size_t first, const Terms& terms, Yield yield);

  // The log-probability of `token` after ask.prompt. REQUIRES: the dialect has encode_token.
  float score_token(Ask ask, TokenId token, TokenId forced, const Terms& terms, Yield yield);

 private:
  using Exchange = std::function<Verdict(Server&)>;
  using Read = std::function<void(const JsonNode& answer)>;
  void repeat(const Exchange& exchange, const Terms& terms, Yield yield);
  Verdict ask_once(Server& server, const Ask& ask, Reply& reply, const Patience& patience,
                   Yield yield);
  Verdict exchange(Server& server, const Encoded& encoded, const Read& read,
                   const Patience& patience, Yield yield);
  Verdict stream(Server& server, const Encoded& encoded, const Ask& ask, Reply& reply,
                 const Patience& patience, Yield yield);
  void note_end(const Server& server, const Choice& choice);
  Verdict refused(const Server& server, const Encoded& encoded, const http::Answer& answer);
  Encoded prepared(Encoded encoded) const;

  boost::asio::io_context& io_;
  ServerPool& pool_;
  const Settings& settings_;
  ServerPool::Note note_;
  Refusals refusals_;
  std::set<std::string> noted_ends_;
};

}  // namespace krl::openai
