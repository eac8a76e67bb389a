#include "core/episode/rollout_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace krl::core {
namespace {

namespace asio = boost::asio;

// Stack of one episode's coroutine; templates and JSON are built on it.
constexpr std::size_t kStackBytes = 256 * 1024;

// Leaves the sampler with the episode, however that ends: the others would wait for it.
class Membership {
 public:
  explicit Membership(Sampler& sampler) : sampler_(sampler) {}
  ~Membership() { sampler_.leave(); }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  Sampler& sampler_;
};

// An episode let an exception out: a defect here or in a library below.
Status status_of(const std::exception_ptr& thrown) {
  if (thrown == nullptr) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return failure(Code::kInternal,
                   fmt::format("an episode ended with an exception: {}", e.what()));
  } catch (...) {
    return failure(Code::kInternal, "an episode ended with an unknown exception");
  }
}

}  // namespace

RolloutEngine::RolloutEngine(RolloutContext context)
    : context_(std::move(context)), work_(io_.get_executor()), thread_([this] { io_.run(); }) {}

RolloutEngine::~RolloutEngine() {
  asio::post(io_, [this] {
    if (rollout_) rollout_->keep(failure(Code::kCancelled, "cancelled"));
  });
  work_.reset();
  thread_.join();
}

void RolloutEngine::submit(std::vector<Group> groups, std::vector<Group> spares) {
  {
    const std::lock_guard lock(mutex_);
    in_play_ += groups.size();
  }
  asio::post(io_, [this, player = player_, groups = std::move(groups), spares = std::move(spares)] {
    spares_.insert(spares_.end(), spares.begin(), spares.end());
    wanted_ += groups.size();
    start(groups, player);
  });
}

void RolloutEngine::start(const std::vector<Group>& groups,
                          const std::shared_ptr<const Player>& player) {
  const auto members = static_cast<std::size_t>(context_.settings.group_size);
  if (!rollout_)
    rollout_.emplace(context_, io_, *player, groups.size() * members, meter_, sampling_);
  std::vector<std::shared_ptr<GroupPlay>> plays;
  for (const Group& group : groups) {
    plays.push_back(std::make_shared<GroupPlay>(*rollout_, player, group));
    if (rollout_->status) rollout_->keep(plays.back()->prepare());
  }
  rollout_->groups += plays.size();
  rollout_->episodes += static_cast<int>(plays.size() * members);
  for (std::size_t i = 0; i < plays.size() * members; ++i) rollout_->sampler->join();
  for (const auto& play : plays)
    for (std::size_t member = 0; member < members; ++member) spawn(play, member);
}

void RolloutEngine::spawn(const std::shared_ptr<GroupPlay>& play, std::size_t member) {
  asio::spawn(
      io_, std::allocator_arg, CoroutineStack(kStackBytes),
      [this, play, member, order = order_++](Yield yield) {
        const Membership membership(*rollout_->sampler);
        rollout_->keep(play->play(member, order, yield));
      },
      [this, play](const std::exception_ptr& thrown) {
        rollout_->keep(status_of(thrown));
        if (play->ended()) asio::post(io_, [this, play] { finish(*play); });
      });
}

void RolloutEngine::finish(GroupPlay& play) {
  PlayedGroup played = std::move(play.played());
  if (context_.teaches && context_.teaches(played)) ++teaching_;
  all_lost_ = all_lost_ && is_lost(played.episodes);
  const auto player = play.player();
  const std::vector<Group> next = --rollout_->groups == 0 ? end_rollout() : std::vector<Group>();
  {
    const std::lock_guard lock(mutex_);
    over_.push_back(std::move(played));
    in_play_ = in_play_ - 1 + next.size();
  }
  changed_.notify_one();
  if (!next.empty()) start(next, player);
}

// Returns the spares to be played now.
std::vector<Group> RolloutEngine::end_rollout() {
  rollout_->policy_threads.join();  // a call may go on after its last answer
  const bool goes_on = rollout_->status && !all_lost_;
  {
    const std::lock_guard lock(mutex_);
    if (status_) status_ = rollout_->status;
  }
  rollout_.reset();
  std::vector<Group> next;
  for (; goes_on && !spares_.empty() && teaching_ + next.size() < wanted_; spares_.pop_front())
    next.push_back(spares_.front());
  if (next.empty()) {
    spares_.clear();
    wanted_ = teaching_ = 0;
    all_lost_ = true;
  }
  return next;
}

Result<std::optional<PlayedGroup>> RolloutEngine::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !over_.empty() || in_play_ == 0; });
  if (!status_) return failure(status_.error());
  if (over_.empty()) return std::nullopt;
  PlayedGroup first = std::move(over_.front());
  over_.pop_front();
  return first;
}

Result<RolloutResult> RolloutEngine::take_all() {
  std::vector<PlayedGroup> groups;
  for (;;) {
    KRL_ASSIGN(std::optional<PlayedGroup> group, take());
    if (!group) break;
    groups.push_back(*std::move(group));
  }
  std::ranges::sort(groups, {}, &PlayedGroup::id);
  RolloutResult result{{}, meter_.take(), std::exchange(sampling_, {}), {}, {}};
  std::optional<Error> refused;
  for (PlayedGroup& group : groups) {
    result.episodes.insert(result.episodes.end(), std::make_move_iterator(group.episodes.begin()),
                           std::make_move_iterator(group.episodes.end()));
    result.retrieval.add(group.retrieval);
    if (!result.lost) result.lost = std::move(group.lost);
    if (!refused) refused = std::move(group.refused);
  }
  if (!result.lost) result.lost = std::move(refused);
  return result;
}

Result<RolloutResult> play_groups(const RolloutContext& context, const Player& player,
                                  std::vector<Group> groups) {
  RolloutEngine engine(context);
  engine.publish(player);
  engine.submit(std::move(groups));
  return engine.take_all();
}

}  // namespace krl::core
