#include "plugins/policies/openai/asking.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

#include "http/client/backoff.hpp"
#include "plugins/policies/openai/reply_stream.hpp"
#include "plugins/policies/openai/waiting.hpp"

namespace krl::openai {
namespace {

// The names that this server has for the weights that sample.
void address(Ask& ask, const Server& server) {
  const bool is_a_model = server.found.dialect == &vllm_dialect() && !server.adapter.empty();
  ask.model = is_a_model ? server.adapter : server.found.model;
  ask.adapter = server.adapter;
}

// Rejects an answer of other weights than those that were asked.
Verdict check_weights(const Server& server, const Ask& ask, const Reply& reply) {
  if (!server.found.dialect->gives_tokens) return {};
  if (!reply.model.empty() && reply.model != ask.model) {
    return Verdict::never(KRL_UNAVAILABLE, server.name() + ": requested the model " + ask.model +
                                               ", it answers as " + reply.model);
  }
  const bool says_version = server.version > 0 && !reply.weight_version.empty();
  if (says_version && server.adapter.empty() &&
      reply.weight_version != std::to_string(server.version)) {
    return {Verdict::kElsewhere,  // it was restarted; it gets them again while it is paused
            KRL_OK,
            server.name() + ": its weights have the version '" + reply.weight_version + "', but " +
                std::to_string(server.version) + " was pushed",
            {}};
  }
  return {};
}

}  // namespace

void Asking::repeat(const Exchange& exchange, const Terms& terms, Yield yield) {
  for (unsigned tries = 0;;) {
    Verdict verdict;
    {
      const Lease lease = pool_.acquire(terms.conversation, terms.patience, yield);
      try {
        verdict = exchange(lease.server());
      } catch (const http::Failure& failure) {
        verdict = verdict_of(failure);
      }
      if (verdict.next == Verdict::kElsewhere) pool_.failed(lease.server(), verdict.why);
    }
    if (verdict.next == Verdict::kAnswered) return;
    if (verdict.next == Verdict::kNever) throw Failure(verdict.status, verdict.why);
    if (verdict.next == Verdict::kAtOnce) continue;
    if (++tries > settings_.retries) {
      throw Failure(KRL_UNAVAILABLE,
                    "failed after " + std::to_string(tries) + " tries: " + verdict.why);
    }
    if (terms.retries != nullptr) ++*terms.retries;
    if (verdict.next == Verdict::kElsewhere) continue;
    const auto pause = http::backoff(settings_.http.retries, tries, jitter());
    wait(io_, std::max(pause, verdict.wait.value_or(pause)), terms.patience, verdict.why, yield);
  }
}

Encoded Asking::prepared(Encoded encoded) const {
  refusals_.apply(encoded.body);
  encoded.refusals = refusals_.size();
  encoded.body.merge_patch(settings_.extra);
  return encoded;
}

Verdict Asking::refused(const Server& server, const Encoded& encoded, const http::Answer& answer) {
  std::string why = server.complaint("POST " + encoded.path, answer);
  if (answer.status == 404 && !server.adapter.empty()) {
    // Either the next adapter has just taken the place of ours, or the server was restarted.
    const bool is_old = encoded.body.value("model", server.adapter) != server.adapter;
    return {is_old ? Verdict::kAtOnce : Verdict::kElsewhere, KRL_OK, std::move(why), {}};
  }
  Verdict verdict = verdict_of(answer, std::move(why), std::time(nullptr));
  if (verdict.next != Verdict::kNever || verdict.status != KRL_INVALID_ARGUMENT) return verdict;
  if (encoded.refusals < refusals_.size()) {  // another answer said more, meanwhile
    return {Verdict::kAtOnce, KRL_OK, std::move(verdict.why), {}};
  }
  const std::string learned = refusals_.learn(*server.found.dialect, encoded.body, answer.body);
  if (learned.empty()) return verdict;
  note_(server.name() + ": " + learned);
  return {Verdict::kAtOnce, KRL_OK, std::move(verdict.why), {}};
}

Verdict Asking::ask_once(Server& server, const Ask& ask, Reply& reply, const Patience& patience,
                         Yield yield) {
  const Encoded encoded = prepared(server.found.dialect->encode(ask));
  const auto read = [&](const JsonNode& answer) {
    server.found.dialect->read(answer, ask, reply);
    finish(reply);
    if (reply.choices.empty()) answer.refuse("has no choices");
  };
  Verdict verdict = ask.stream ? stream(server, encoded, ask, reply, patience, yield)
                               : exchange(server, encoded, read, patience, yield);
  if (verdict.next != Verdict::kAnswered) return verdict;
  for (const auto& [number, choice] : reply.choices) note_end(server, choice);
  return check_weights(server, ask, reply);
}

// Names each word for an unfinished answer once: such answers are lost, and nobody would see why.
void Asking::note_end(const Server& server, const Choice& choice) {
  if (choice.end_word.empty() || !noted_ends_.insert(choice.end_word).second) return;
  note_(server.name() + " ends answers with " + choice.end_word +
        ", neither \"stop\" nor \"length\": they count as cut off before their end");
}

Verdict Asking::exchange(Server& server, const Encoded& encoded, const Read& read,
                         const Patience& patience, Yield yield) {
  http::Answer answer = server.post(encoded.path, encoded.body, patience, yield);
  if (!answer.good()) return refused(server, encoded, answer);
  try {
    const Json json = policies::parse_json(answer.body, "the answer");
    if (const auto status = status_of_error(json)) {
      answer.status = *status;
      return refused(server, encoded, answer);
    }
    read(JsonNode(json, "the answer"));
  } catch (const Failure& failure) {  // no other try would differ
    return Verdict::never(KRL_UNAVAILABLE, server.name() + ": " + failure.what());
  }
  return {};
}

Verdict Asking::stream(Server& server, const Encoded& encoded, const Ask& ask, Reply& reply,
                       const Patience& patience, Yield yield) {
  ReplyStream stream(*server.found.dialect, ask, reply);
  const auto on_body = [&stream](std::string_view bytes) { stream.feed(bytes); };
  Verdict broken;
  try {
    const http::Answer answer = server.stream(encoded.path, encoded.body, on_body, patience, yield);
    if (!answer.good()) return refused(server, encoded, answer);
    broken = {Verdict::kAgain, KRL_OK, server.name() + ": the stream ended before an answer", {}};
  } catch (const http::Failure& failure) {
    broken = verdict_of(failure);
    if (broken.next == Verdict::kNever) return broken;
  } catch (const Failure& failure) {
    broken = {Verdict::kAgain, KRL_OK, server.name() + ": " + failure.what(), {}};
  }
  if (stream.finish()) return {};
  return stream.error() ? refused(server, encoded, *stream.error()) : broken;
}

Answered Asking::ask(Ask ask, const Terms& terms, Yield yield) {
  Answered answered;
  const auto exchange = [&](Server& server) {
    address(ask, server);
    answered = {{}, server.version, server.name()};
    return ask_once(server, ask, answered.reply, terms.patience, yield);
  };
  repeat(exchange, terms, yield);
  return answered;
}

std::vector<float> Asking::score(Ask ask, std::size_t first, const Terms& terms, Yield yield) {
  std::vector<float> logprobs;
  repeat(
      [&](Server& server) {
        address(ask, server);
        const Dialect& dialect = *server.found.dialect;
        const auto read = [&](const JsonNode& answer) {
          logprobs = dialect.read_scoring(answer, ask, first);
        };
        return exchange(server, prepared(dialect.encode_scoring(ask)), read, terms.patience, yield);
      },
      terms, yield);
  return logprobs;
}

float Asking::score_token(Ask ask, TokenId token, TokenId forced, const Terms& terms, Yield yield) {
  constexpr std::int64_t kLikeliest = 1000;  // mostly it is among them; all would be megabytes
  std::optional<float> logprob;
  std::int64_t among = kLikeliest;
  const auto exchanged = [&](Server& server) {
    address(ask, server);
    const Dialect& dialect = *server.found.dialect;
    const auto read = [&](const JsonNode& answer) { logprob = dialect.read_token(answer, token); };
    const Encoded encoded = prepared(dialect.encode_token(ask, forced, among));
    Verdict verdict = exchange(server, encoded, read, terms.patience, yield);
    if (verdict.next != Verdict::kAnswered || logprob) return verdict;
    if (among == kLikeliest && server.found.vocabulary > kLikeliest) {
      among = server.found.vocabulary;
      return Verdict{Verdict::kAtOnce, KRL_OK, {}, {}};
    }
    return Verdict::never(
        KRL_UNAVAILABLE,
        server.name() + ": returned no log-probability for token " + std::to_string(token));
  };
  repeat(exchanged, terms, yield);
  return *logprob;
}

}  // namespace krl::openai
