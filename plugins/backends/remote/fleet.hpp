// The servers that judge alike: who they are, and which is to judge next. A request has a member
// that it prefers by its content, so that whoever asks for the same finds the result there; others
// take it when that one is down or has more than its share. A member that fails is left alone for a
// while, longer each time, and has to say again what it is before it judges.
//
// Used on the loop's thread, except for the constructor.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plugins/backends/remote/latencies.hpp"
#include "plugins/backends/remote/member.hpp"

namespace krl::remote {

class Fleet {
 public:
  using Note = std::function<void(const std::string&)>;
  using Excluded = std::unordered_set<const Member*>;

  // `note` is told, on the loop's thread, of members that come, go, fail and recover.
  Fleet(boost::asio::io_context& io, const Settings& settings, Note note);

  // Asks all members what they are, and returns once one can judge. Throws krl::Failure: none could
  // within the settings' patience; or two do not judge alike, which names them.
  void start(const std::function<bool()>& cancelled, Yield yield);
  // Ends what start() has begun. To be called before the destructor.
  void close(Yield yield);

  // Describes all members; the concurrency is that of those that were found.
  ServerInfo info() const;

  // The member that is to judge this, which knows what it is. Waits while none is there, or all are
  // busy. Throws krl::Failure: KRL_UNAVAILABLE if none has answered for the settings' patience, or
  // all are excluded.
  MemberPointer acquire(std::uint64_t content, const Excluded& excluded, const Patience& patience,
                        Yield yield);
  // Another member, with a free place, for a request that is late at `first`; null if there is none.
  MemberPointer spare(std::uint64_t content, const Member& first) const;

  void succeeded(Member& member);
  // It broke: the next request would fail there as well.
  void failed(Member& member, const std::string& why);
  // It has too much to do.
  void is_busy(Member& member, Duration time, const std::string& why);

  // The digest by which members know a task; empty if none was told yet.
  std::string digest_of(const std::string& definition) const;
  void keep_digest(const std::string& definition, const std::string& digest);

  Latencies latencies;

 private:
  MemberPointer acquire_until(Clock::time_point give_up, std::uint64_t content,
                              const Excluded& excluded, const Patience& patience, Yield yield);
  bool can_judge(const Member& member, const Excluded& excluded) const;
  MemberPointer best(std::uint64_t content, const Excluded& excluded) const;
  void get_to_know(Member& member, const Patience& patience, Yield yield);
  void check_alike(const Member& member, const ServerInfo& info);
  void read_members(Yield yield);
  void take_members(const std::vector<std::string>& urls);
  void follow_members(Yield yield);
  std::string troubles() const;

  boost::asio::io_context& io_;
  const Settings& settings_;
  const Note note_;
  std::vector<MemberPointer> members_;
  std::optional<http::Client> list_;  // the list of members, if there is one
  std::string list_trouble_;          // why the latest look at it failed; else empty
  std::optional<ServerInfo> info_;    // by the first member that was asked
  std::string info_of_;               // that member's name
  std::unordered_map<std::string, std::string> digests_;  // keyed by the tasks' definitions
  bool closing_ = false, follows_ = false, told_of_seeds_ = false;
};

}  // namespace krl::remote
