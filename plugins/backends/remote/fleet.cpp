#include "plugins/backends/remote/fleet.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "http/client/backoff.hpp"
#include "plugins/backends/remote/rendezvous.hpp"

namespace krl::remote {
namespace {

constexpr std::chrono::milliseconds kMoment = http::kCancelPoll;
constexpr std::chrono::seconds kLook{15};    // for what a member says of itself
constexpr std::chrono::seconds kAtStart{5};  // a fleet that is down is told of soon
constexpr http::Retries kPauses{0, std::chrono::milliseconds(500), std::chrono::seconds(15)};
constexpr std::size_t kMostDigests = 10000;

// Evaluations that a member is given before others take what it is preferred for, for each that it
// runs at a time, when all places are taken; and those that a fleet is given in all. In a simulation
// with recorded times no place is idle then, and 53 % (64 members with one place) to 91 % (16 with
// eight) of the requests are judged where they are preferred. If a member with a free place does not
// go before, 9 % of the places of members with one each are idle.
constexpr std::uint32_t kMostForEachPlace = 3;
constexpr std::uint32_t kAskedForEachPlace = 2;

void pause(boost::asio::io_context& io, Yield yield) {
  boost::asio::steady_timer(io, kMoment).async_wait(yield);
}

void check(const Patience& patience) {
  if (patience.cancelled && patience.cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
  if (Clock::now() >= patience.deadline)
    throw Failure(KRL_DEADLINE_EXCEEDED, "no server was free before the call's deadline");
}

}  // namespace

Fleet::Fleet(boost::asio::io_context& io, const Settings& settings, Note note)
    : io_(io), settings_(settings), note_(std::move(note)) {
  take_members(settings.servers);
  if (!settings.members.empty())
    list_.emplace(io, http::parse_url(settings.members), settings.http);
}

// ---- who they are -------------------------------------------------------------------------------

void Fleet::start(const std::function<bool()>& cancelled, Yield yield) {
  const Patience patience = Patience::of(settings_.patience, cancelled);
  if (list_) {
    read_members(yield);
    follows_ = true;
    http::start(
        io_, [this](Yield own) { follow_members(own); },
        [this](const std::exception_ptr&) { follows_ = false; });
  }
  const std::vector<MemberPointer> first = members_;
  http::side_by_side(
      io_, first.size(), [&](std::size_t i, Yield own) { get_to_know(*first[i], patience, own); },
      yield);
  for (const MemberPointer& member : first) {
    if (!member->misfit.empty()) throw Failure(KRL_FAILED_PRECONDITION, member->misfit);
  }
  acquire_until(Clock::now() + std::min<Duration>(settings_.patience, kAtStart), 0, {},
                Patience{Clock::time_point::max(), cancelled}, yield);
}

void Fleet::close(Yield yield) {
  closing_ = true;
  while (follows_) pause(io_, yield);
}

ServerInfo Fleet::info() const {
  ServerInfo info = *info_;
  info.concurrency = 0;
  for (const MemberPointer& member : members_)
    info.concurrency += member->info ? kAskedForEachPlace * member->info->concurrency : 0;
  info.concurrency = std::max(1U, info.concurrency);
  return info;
}

void Fleet::get_to_know(Member& member, const Patience& patience, Yield yield) {
  std::optional<Failure> failure;
  try {
    const auto limit = std::min(patience.deadline, Clock::now() + kLook);
    const ServerInfo info = member.ask_info({limit, patience.cancelled}, yield);
    member.misfit.clear();
    check_alike(member, info);
    if (!info_) {
      info_ = info;
      info_of_ = member.name();
    }
    member.info = info;
  } catch (const Failure& thrown) {
    failure = thrown;
  }
  if (!failure) return succeeded(member);
  if (failure->code() == KRL_CANCELLED) return;
  if (failure->code() == KRL_FAILED_PRECONDITION) member.misfit = failure->what();
  failed(member, failure->what());
}

void Fleet::check_alike(const Member& member, const ServerInfo& info) {
  if (!info_) return;
  if (info.identity != info_->identity) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "the servers do not judge alike: " + info_of_ + " judges by " +
                      info_->judges_by() + ", " + member.name() + " by " + info.judges_by() +
                      "; one backend needs servers of one kind, with the same options");
  }
  const bool draws_own = info.seeds == "random" || info_->seeds == "random";
  if (info_of_ != member.name() && draws_own && !std::exchange(told_of_seeds_, true))
    note_(info_of_ + " and " + member.name() +
          " draw different inputs: start both with the same --seed");
}

void Fleet::read_members(Yield yield) {
  std::string trouble;
  try {
    const auto closing = [this] { return closing_; };
    http::Request request;
    request.method = "GET";
    const http::Answer answer = list_->ask(request, Patience::of(kLook, closing), yield);
    if (!answer.good()) throw Failure(KRL_UNAVAILABLE, "status " + std::to_string(answer.status));
    take_members(members_of(answer.body));
  } catch (const Failure& failure) {
    trouble = list_->base().text() + ": " + failure.what();
  }
  if (!trouble.empty() && trouble != list_trouble_) note_(trouble);
  list_trouble_ = std::move(trouble);
}

void Fleet::take_members(const std::vector<std::string>& urls) {
  std::vector<MemberPointer> members;
  for (const std::string& url : urls) {
    const std::string name = http::parse_url(url).text();
    const auto is_it = [&](const MemberPointer& member) { return member->name() == name; };
    if (std::any_of(members.begin(), members.end(), is_it)) continue;
    const auto known = std::find_if(members_.begin(), members_.end(), is_it);
    members.push_back(known != members_.end() ? *known
                                              : std::make_shared<Member>(io_, url, settings_.http));
    if (known == members_.end() && info_) note_(name + " has joined");
  }
  for (const MemberPointer& member : members_) {
    if (std::find(members.begin(), members.end(), member) == members.end())
      note_(member->name() + " has left");
  }
  members_ = std::move(members);
}

void Fleet::follow_members(Yield yield) {
  auto next = Clock::now() + settings_.members_every;
  while (!closing_) {
    pause(io_, yield);
    if (Clock::now() < next) continue;
    read_members(yield);
    next = Clock::now() + settings_.members_every;
  }
}

// ---- which is to judge --------------------------------------------------------------------------

bool Fleet::can_judge(const Member& member, const Excluded& excluded) const {
  return member.paused_until <= Clock::now() && excluded.count(&member) == 0;
}

// A member with a free place goes first, then one that is not full; of equals, the one preferred by
// the content. Among full ones it is the idlest.
MemberPointer Fleet::best(std::uint64_t content, const Excluded& excluded) const {
  const auto rank = [&](const Member& member) {
    const std::uint32_t places = member.info ? member.info->concurrency : 1;
    const double load = static_cast<double>(member.in_flight) / places;
    const int room = load < 1 ? 2 : load < kMostForEachPlace ? 1 : 0;
    return std::pair(room, room > 0 ? static_cast<double>(weight(content, member.name())) : -load);
  };
  MemberPointer best;
  for (const MemberPointer& member : members_) {
    if (can_judge(*member, excluded) && (best == nullptr || rank(*member) > rank(*best)))
      best = member;
  }
  return best;
}

MemberPointer Fleet::acquire(std::uint64_t content, const Excluded& excluded,
                             const Patience& patience, Yield yield) {
  return acquire_until(Clock::now() + settings_.patience, content, excluded, patience, yield);
}

MemberPointer Fleet::acquire_until(Clock::time_point give_up, std::uint64_t content,
                                   const Excluded& excluded, const Patience& patience,
                                   Yield yield) {
  while (true) {
    check(patience);
    if (const MemberPointer member = best(content, excluded)) {
      if (member->info) return member;
      get_to_know(*member, patience, yield);
      continue;
    }
    const auto is_excluded = [&](const auto& member) { return excluded.count(member.get()) != 0; };
    const bool all_excluded =
        !excluded.empty() && std::all_of(members_.begin(), members_.end(), is_excluded);
    if (all_excluded || Clock::now() >= give_up) throw Failure(KRL_UNAVAILABLE, troubles());
    pause(io_, yield);
  }
}

MemberPointer Fleet::spare(std::uint64_t content, const Member& first) const {
  MemberPointer member = best(content, {&first});
  const bool is_free =
      member != nullptr && member->info && member->in_flight < member->info->concurrency;
  return is_free ? member : nullptr;
}

void Fleet::succeeded(Member& member) {
  if (!member.trouble.empty()) note_(member.name() + " has recovered");
  member.trouble.clear();
  member.failures = 0;
  member.paused_until = {};
}

void Fleet::failed(Member& member, const std::string& why) {
  member.info.reset();
  if (Clock::now() < member.paused_until) return;  // others in flight failed with it
  if (member.trouble.empty()) note_(why + "; the server is left alone for a while");
  member.trouble = why;
  member.paused_until = Clock::now() + http::backoff(kPauses, ++member.failures, 1);
}

void Fleet::is_busy(Member& member, Duration time, const std::string& why) {
  member.trouble = why;
  member.paused_until = Clock::now() + time;
}

std::string Fleet::troubles() const {
  std::string all = list_trouble_;
  for (const MemberPointer& member : members_)
    all += (all.empty() || member->trouble.empty() ? "" : "; ") + member->trouble;
  if (members_.empty()) all += (all.empty() ? "" : "; ") + std::string("there is no server");
  return "no server judges: " + all;
}

// ---- tasks --------------------------------------------------------------------------------------

std::string Fleet::digest_of(const std::string& definition) const {
  const auto found = digests_.find(definition);
  return found == digests_.end() ? std::string() : found->second;
}

void Fleet::keep_digest(const std::string& definition, const std::string& digest) {
  if (digests_.size() >= kMostDigests) digests_.clear();
  digests_[definition] = digest;
}

}  // namespace krl::remote
