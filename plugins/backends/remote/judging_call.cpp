#include "plugins/backends/remote/judging_call.hpp"

#include <boost/asio/steady_timer.hpp>
#include <ctime>
#include <list>

#include "http/client/backoff.hpp"

namespace krl::remote {
namespace {

constexpr std::chrono::seconds kBusy{1};  // where a server does not say for how long

bool is_busy(unsigned status) { return status == 429 || status == 503; }
bool may_work_elsewhere(unsigned status) { return status >= 500 || status == 408; }

}  // namespace

// One member asked.
struct JudgingCall::Try {
  MemberPointer member;
  Clock::time_point since;
  std::variant<std::monostate, http::Answer, Failure> outcome;

  bool is_over() const { return outcome.index() != 0; }
  bool settles() const {
    const auto* answer = std::get_if<http::Answer>(&outcome);
    return answer != nullptr && !is_busy(answer->status) && !may_work_elsewhere(answer->status);
  }
};

// Shared by the coroutines of the tries, which may outlive the call: the race is over then.
struct JudgingCall::Race {
  explicit Race(boost::asio::io_context& io) : change(io) {}

  std::list<Try> tries;
  boost::asio::steady_timer change;
  bool is_over = false;
};

Judged JudgingCall::judge(Yield yield) {
  while (true) {
    const MemberPointer member = fleet_.acquire(wanted_.content(), excluded_, patience_, yield);
    Try done = race(member, yield);
    if (std::optional<Judged> judged = result_of(done)) return *std::move(judged);
  }
}

// ---- asking -------------------------------------------------------------------------------------

void JudgingCall::begin(const std::shared_ptr<Race>& race, const MemberPointer& member) {
  Try& one = race->tries.emplace_back(Try{member, Clock::now(), {}});
  ++member->in_flight;
  // The caller's words are not asked once the race is over: they go with the call.
  const Patience patience{patience_.deadline, [race, cancelled = patience_.cancelled] {
                            return race->is_over || (cancelled && cancelled());
                          }};
  http::start(
      io_,
      [race, &one, patience, wanted = wanted_,
       digest = fleet_.digest_of(wanted_.definition())](Yield yield) {
        try {
          one.outcome = one.member->evaluate(wanted, digest, patience, yield);
        } catch (const Failure& failure) {
          one.outcome = failure;
        }
      },
      [race, &one](const std::exception_ptr& thrown) {
        if (thrown) one.outcome = Failure(KRL_INTERNAL, one.member->name() + ": cannot be asked");
        --one.member->in_flight;
        race->change.cancel();
      });
}

JudgingCall::Try JudgingCall::race(const MemberPointer& first, Yield yield) {
  const auto race = std::make_shared<Race>(io_);
  struct End {
    Race& race;
    ~End() { race.is_over = true; }
  } const end{*race};
  begin(race, first);
  const auto usual = fleet_.latencies.percentile95();
  auto late = Clock::time_point::max();
  if (usual && settings_.hedge > 0)
    late = Clock::now() + std::chrono::duration_cast<Duration>(*usual * settings_.hedge);
  while (true) {
    bool all_over = true;
    for (Try& one : race->tries) {
      if (one.settles()) return one;
      all_over = all_over && one.is_over();
    }
    if (all_over) {
      if (race->tries.size() > 1) result_of(race->tries.front());
      return race->tries.back();
    }
    if (Clock::now() >= late) {
      late = Clock::time_point::max();
      if (const MemberPointer second = fleet_.spare(wanted_.content(), *first)) begin(race, second);
      continue;
    }
    race->change.expires_at(late);
    boost::system::error_code cancelled;
    race->change.async_wait(yield[cancelled]);
  }
}

// ---- what came of it ----------------------------------------------------------------------------

// None: it is no verdict, and another member is to be asked.
std::optional<Judged> JudgingCall::verdict_of(Member& member, const http::Answer& answer,
                                              Clock::time_point since) {
  try {
    Judged judged = judged_of(answer.body);
    fleet_.succeeded(member);
    if (!judged.kept) fleet_.latencies.add(Clock::now() - since);
    if (!judged.digest.empty()) fleet_.keep_digest(wanted_.definition(), judged.digest);
    return judged;
  } catch (const Failure& failure) {
    member.trouble = member.name() + ": " + failure.what();
  }
  excluded_.insert(&member);
  return std::nullopt;
}

// None: another member is to be asked.
std::optional<Judged> JudgingCall::result_of(Try& done) {
  Member& member = *done.member;
  if (const auto* failure = std::get_if<Failure>(&done.outcome)) {
    if (failure->code() == KRL_CANCELLED || failure->code() == KRL_DEADLINE_EXCEEDED)
      throw *failure;
    fleet_.failed(member, failure->what());
    return std::nullopt;
  }
  const auto& answer = std::get<http::Answer>(done.outcome);
  if (answer.good()) return verdict_of(member, answer, done.since);
  if (is_busy(answer.status)) {
    const auto said = http::retry_after(answer.header("Retry-After"), std::time(nullptr));
    fleet_.is_busy(member, said.value_or(kBusy), member.complaint(answer));
  } else if (may_work_elsewhere(answer.status)) {
    member.trouble = member.complaint(answer);
    excluded_.insert(&member);
  } else {
    throw Failure(refusal_of(answer).code, member.complaint(answer));
  }
  return std::nullopt;
}

}  // namespace krl::remote
