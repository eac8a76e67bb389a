#include "plugins/policies/libtorch/distributed/rank_group.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ATen/ATen.h>
#include <kernelrl/values.hpp>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include <kernelrl/broken_pipe_guard.hpp>
#include "plugins/policies/libtorch/distributed/gloo_backend.hpp"
#include "plugins/policies/libtorch/distributed/rank_liveness.hpp"
#include "plugins/policies/libtorch/distributed/tensor_backend.hpp"

namespace krl::libtorch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The group's own liveness ends a wait long before.
constexpr std::chrono::hours kForever{24 * 365};
constexpr int kMessageTag = 1, kTensorTag = 2;
constexpr std::size_t kMostErrorText = 200;
constexpr milliseconds kLookAgain{20}, kTimeToRefuse{5000};
// Between two looks whether something is done: short at first, as most is done soon.
constexpr std::chrono::microseconds kShortestPause{10}, kLongestPause{500};

std::string this_process() {
  char host[256] = "unknown";
  ::gethostname(host, sizeof host - 1);
  return "host " + std::string(host) + ", process " + std::to_string(::getpid());
}

// The address of this machine from which it reaches `host`; of the loopback interface if none does.
std::string own_address(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  std::string address = "127.0.0.1";
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return address;
  }
  const int probe = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char text[NI_MAXHOST];
  // Connecting a datagram socket sends nothing: it only chooses the way.
  if (probe >= 0 && ::connect(probe, found->ai_addr, found->ai_addrlen) == 0 &&
      ::getsockname(probe, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
      ::getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) == 0) {
    address = text;
  }
  if (probe >= 0) ::close(probe);
  ::freeaddrinfo(found);
  return address;
}

std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, std::min(text.find('\n'), kMostErrorText));
}

c10::intrusive_ptr<c10d::Store> connect_store(const RankEnvironment& environment,
                                              milliseconds timeout, bool serve) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(environment.port);
  options.isServer = serve;
  options.waitWorkers = false;
  options.timeout = timeout;
  const std::string place = environment.address + ":" + std::to_string(environment.port);
  try {
    return c10::make_intrusive<c10d::TCPStore>(environment.address, options);
  } catch (const std::exception& error) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  serve ? "rank 0 cannot listen at " + place +
                              ", as MASTER_ADDR and MASTER_PORT say: " + first_line(error)
                        : "rank 0 does not answer at " + place +
                              "; has it started, and can this machine reach it? (" +
                              first_line(error) + ")");
  }
}

class StoreBoard final : public RankBoard {
 public:
  explicit StoreBoard(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}
  void set(const std::string& name, const std::string& text) override { store_->set(name, text); }
  std::string get(const std::string& name) override { return store_->get_to_str(name); }

 private:
  const c10::intrusive_ptr<c10d::Store> store_;
};

std::string rank_key(int rank) { return "rank/" + std::to_string(rank); }
std::string refused_key(int rank) { return "refused/" + std::to_string(rank); }

// The first line in which two texts differ.
std::string difference(const std::string& theirs, const std::string& own) {
  std::istringstream a(theirs), b(own);
  std::string their_line, own_line;
  while (their_line == own_line && (a || b)) {
    if (!std::getline(a, their_line)) their_line = "nothing";
    if (!std::getline(b, own_line)) own_line = "nothing";
  }
  return their_line + ", not " + own_line;
}

// Waits until rank `rank` has come, and returns its announcement: its place, and its options.
std::string place_of(c10d::Store& store, int rank, int size, milliseconds timeout,
                     Clock::time_point deadline) {
  while (!store.check({rank_key(rank)})) {
    if (Clock::now() > deadline) {
      throw Failure(KRL_FAILED_PRECONDITION,
                    "rank " + std::to_string(rank) + " of " + std::to_string(size) +
                        " did not connect within " + std::to_string(timeout.count() / 1000) +
                        " s; start one process a rank, by kernelrl launch, torchrun or srun");
    }
    std::this_thread::sleep_for(kLookAgain);
  }
  return store.get_to_str(rank_key(rank));
}

// The store ends with rank 0, which leaves the others the time to find in it what rank 0 has found.
void leave_time_to_refuse(c10d::Store& store, const RankEnvironment& environment) {
  store.set(refused_key(environment.rank), "");
  if (environment.rank != 0) return;
  const auto deadline = Clock::now() + kTimeToRefuse;
  for (int r = 1; r < environment.size; ++r) {
    while (!store.check({refused_key(r)}) && Clock::now() < deadline) {
      std::this_thread::sleep_for(kLookAgain);
    }
  }
}

// The names of all ranks, once all have come.
std::vector<std::string> meet(c10d::Store& store, const RankEnvironment& environment,
                              const std::string& options, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  store.set(rank_key(environment.rank), this_process() + "\n" + options);
  std::vector<std::string> names;
  std::string refusal;
  for (int r = 0; r < environment.size; ++r) {
    const std::string place = place_of(store, r, environment.size, timeout, deadline);
    const std::size_t line = place.find('\n');
    names.push_back("rank " + std::to_string(r) + " (" + place.substr(0, line) + ")");
    const std::string theirs = place.substr(line + 1);
    if (theirs == options || !refusal.empty()) continue;
    refusal = names.back() + " has different policy options from rank " +
              std::to_string(environment.rank) + " (" + difference(theirs, options) +
              "); give all ranks the same plan";
  }
  if (refusal.empty()) return names;
  leave_time_to_refuse(store, environment);
  throw Failure(KRL_FAILED_PRECONDITION, refusal);
}

}  // namespace

// The open connections between ranks, and the waits on them.
struct RankGroup::Connections {
  // A message's way, which `start` starts: ends with a Failure when the group is lost.
  template <class Start>
  void transfer(int peer, const Start& start) {
    const BrokenPipeGuard guard;
    bool done = false;
    try {
      const c10::intrusive_ptr<c10d::Work> work = start();
      done = wait_for(*work);
    } catch (const std::exception& error) {
      liveness->report_lost(peer, "its connection broke (" + first_line(error) + ")");
    }
    if (!done) throw_lost("the connection with another rank broke");
  }

  // False if the group was lost before.
  bool wait_for(c10d::Work& work) {
    struct Entry {
      Entry(Connections& of, c10d::Work* waited) : connections(of), work(waited) {
        const std::lock_guard lock(connections.mutex);
        connections.transfers.insert(work);
      }
      ~Entry() {
        const std::lock_guard lock(connections.mutex);
        connections.transfers.erase(work);
      }
      Connections& connections;
      c10d::Work* work;
    } const entry(*this, &work);
    if (liveness->lost()) work.abort();
    return work.wait(kForever);
  }

  // Waits for a collective operation of all ranks, which `start` starts.
  template <class Start>
  void collective(const Start& start) {
    const BrokenPipeGuard guard;
    try {
      const c10::intrusive_ptr<c10d::Work> work = start();
      auto pause = kShortestPause;
      while (!work->isCompleted() && !liveness->lost()) {
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, kLongestPause);
      }
      if (!liveness->lost()) work->wait();
    } catch (const std::exception& error) {
      throw_lost(first_line(error));
    }
    if (liveness->lost()) throw_lost({});
  }

  void sum(c10d::Backend& backend, const at::Tensor& tensor) {
    std::vector<at::Tensor> tensors = {tensor};
    c10d::AllreduceOptions options;
    options.timeout = kForever;
    collective([&] { return backend.allreduce(tensors, options); });
  }

  void broadcast(c10d::Backend& backend, const at::Tensor& tensor, int from) {
    std::vector<at::Tensor> tensors = {tensor};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    options.timeout = kForever;
    collective([&] { return backend.broadcast(tensors, options); });
  }

  // `otherwise`: the message if no rank turns out to be lost.
  [[noreturn]] void throw_lost(const std::string& otherwise) const {
    const std::string verdict = liveness->wait_for_verdict();
    throw Failure(KRL_INTERNAL, (verdict.empty() ? otherwise : verdict) +
                                    "; --resume continues from the newest checkpoint, on as many "
                                    "ranks as there are then");
  }

  void abort_transfers() {
    const std::lock_guard lock(mutex);
    for (c10d::Work* work : transfers) work->abort();
  }

  std::vector<std::string> names;
  c10::intrusive_ptr<c10d::Store> store;
  c10::intrusive_ptr<c10d::Backend> gloo;     // messages, and tensors on the CPU
  c10::intrusive_ptr<c10d::Backend> tensors;  // the sums and gathers of a step
  std::mutex mutex;
  std::set<c10d::Work*> transfers;  // transfers that are waited for
  std::optional<RankLiveness> liveness;
};

RankGroup::RankGroup(const RankEnvironment& environment, const RankTimeouts& timeouts,
                     const std::string& options, TensorBackend* tensors)
    : environment_(environment), connections_(std::make_unique<Connections>()) {
  const BrokenPipeGuard guard;  // also of the threads that connecting starts
  Connections& c = *connections_;
  c.store = connect_store(environment, timeouts.start, environment.rank == 0);
  try {
    c.names = meet(*c.store, environment, options, timeouts.start);
    c.liveness.emplace(
        std::make_unique<StoreBoard>(connect_store(environment, timeouts.start, false)),
        environment.rank, c.names, timeouts.lost, [&c] { c.abort_transfers(); });
    c.gloo = connect_gloo(c.store, environment.rank, environment.size,
                          own_address(environment.address, environment.port), timeouts.start);
    c.tensors =
        tensors != nullptr ? tensors->connect(c.store, environment.rank, environment.size) : c.gloo;
  } catch (const c10::Error& error) {
    throw Failure(KRL_FAILED_PRECONDITION, "the ranks cannot be connected: " + first_line(error));
  }
}

RankGroup::~RankGroup() {
  const bool was_lost = lost();
  connections_->liveness.reset();
  if (!was_lost) {
    if (connections_->tensors) connections_->tensors->shutdown();
    return;
  }
  // Threads of c10d may wait in these for a rank that is gone, and closing them would wait too.
  connections_->tensors->abort();
  connections_->tensors.release();
  connections_->gloo.release();
  connections_->store.release();
  connections_.release();
}

const std::string& RankGroup::name(int rank) const {
  return connections_->names.at(static_cast<std::size_t>(rank));
}

void RankGroup::send(int to, std::string_view message) {
  const auto transfer = [&](const void* data, std::size_t size) {
    std::vector<at::Tensor> tensors = {
        at::from_blob(const_cast<void*>(data), {static_cast<std::int64_t>(size)}, at::kByte)};
    connections_->transfer(to, [&] { return connections_->gloo->send(tensors, to, kMessageTag); });
  };
  const std::uint64_t size = message.size();
  transfer(&size, sizeof size);
  if (size > 0) transfer(message.data(), message.size());
}

std::string RankGroup::receive(int from) {
  const auto transfer = [&](void* data, std::size_t size) {
    std::vector<at::Tensor> tensors = {
        at::from_blob(data, {static_cast<std::int64_t>(size)}, at::kByte)};
    connections_->transfer(from,
                           [&] { return connections_->gloo->recv(tensors, from, kMessageTag); });
  };
  std::uint64_t size = 0;
  transfer(&size, sizeof size);
  std::string message(size, '\0');
  if (size > 0) transfer(message.data(), message.size());
  return message;
}

Slice RankGroup::slice(std::int64_t total) const { return slice_of_rank(total, rank(), size()); }

void RankGroup::reduce_scatter(const at::Tensor& flat) {
  c10d::Backend& tensors = *connections_->tensors;
  if (connections_->tensors == connections_->gloo) {  // gloo's reduce_scatter is this plus a copy
    connections_->sum(tensors, flat);
    return;
  }
  // c10d requires slices of one size: the few remaining elements are summed, and sent around,
  // separately.
  const std::int64_t each = flat.numel() / size(), rest = flat.numel() % size();
  if (each > 0) {
    at::Tensor whole = flat.narrow(0, 0, each * size());
    at::Tensor own = flat.narrow(0, each * rank(), each);
    c10d::ReduceScatterOptions options;
    options.timeout = kForever;
    connections_->collective([&] { return tensors._reduce_scatter_base(own, whole, options); });
  }
  if (rest > 0) connections_->sum(tensors, flat.narrow(0, each * size(), rest));
}

void RankGroup::all_gather(const at::Tensor& flat) {
  const std::int64_t each = flat.numel() / size(), rest = flat.numel() % size();
  c10d::Backend& tensors = *connections_->tensors;
  if (each > 0) {
    at::Tensor whole = flat.narrow(0, 0, each * size());
    at::Tensor own = flat.narrow(0, each * rank(), each);
    c10d::AllgatherOptions options;
    options.timeout = kForever;
    connections_->collective([&] { return tensors._allgather_base(whole, own, options); });
  }
  if (rest > 0) {
    connections_->broadcast(tensors, flat.narrow(0, each * size(), rest), size() - 1);
  }
}

double RankGroup::sum(double value) {
  const at::Tensor total = at::full({1}, value, at::kDouble);
  connections_->sum(*connections_->gloo, total);
  return total.item<double>();
}

at::Tensor RankGroup::gather_on_first(const at::Tensor& slice_of_this, std::int64_t total) {
  const auto part = slice_of_this.to(at::kCPU).contiguous();
  if (rank() != 0) {
    if (part.numel() == 0) return {};
    std::vector<at::Tensor> tensors = {part};
    connections_->transfer(0, [&] { return connections_->gloo->send(tensors, 0, kTensorTag); });
    return {};
  }
  const auto whole = at::empty({total}, part.options());
  for (int r = 0; r < size(); ++r) {
    const Slice place = slice_of_rank(total, r, size());
    std::vector<at::Tensor> tensors = {whole.narrow(0, place.begin, place.size())};
    if (r == 0) {
      tensors[0].copy_(part);
    } else if (place.size() > 0) {
      connections_->transfer(r, [&] { return connections_->gloo->recv(tensors, r, kTensorTag); });
    }
  }
  return whole;
}

bool RankGroup::lost() const { return connections_->liveness && connections_->liveness->lost(); }

void RankGroup::throw_if_lost() const {
  if (lost()) connections_->throw_lost({});
}

void RankGroup::fail(const std::string& why) { connections_->liveness->fail(why); }

void RankGroup::cancel(std::uint64_t command) { connections_->liveness->cancel(command); }

std::uint64_t RankGroup::cancelled() const { return connections_->liveness->cancelled(); }

}  // namespace krl::libtorch
