#include "http/client/addresses.hpp"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <mutex>
#include <thread>

namespace krl::http {

namespace asio = boost::asio;
using asio::ip::tcp;

Addresses::Found Addresses::ask_system(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return {{}, ::gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  Found found;
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    tcp::endpoint endpoint;
    if (a->ai_addrlen > endpoint.capacity()) continue;
    std::copy_n(reinterpret_cast<const char*>(a->ai_addr), a->ai_addrlen,
                reinterpret_cast<char*>(endpoint.data()));
    endpoint.resize(a->ai_addrlen);
    endpoint.port(port);
    found.endpoints.push_back(endpoint);
  }
  if (found.endpoints.empty()) found.error = "it has none";
  return found;
}

// Shared with the thread that looks up; `io` is null once no one waits for the result.
struct Addresses::LookUp {
  std::mutex mutex;
  asio::io_context* io = nullptr;

  // The loop's thread alone:
  bool done = false;
  Found found;
  Patience::Clock::time_point since;
  std::list<Signal*> waiting;

  bool serves() const {
    return !done || (found.error.empty() && Patience::Clock::now() < since + kFresh);
  }

  void end(Found result) {
    found = std::move(result);
    since = Patience::Clock::now();
    done = true;
    for (Signal* signal : waiting) signal->notify();
  }
};

Addresses::Addresses(asio::io_context& io, std::string host, std::uint16_t port)
    : io_(io), host_(std::move(host)), port_(port) {}

Addresses::~Addresses() {
  if (!look_up_) return;
  const std::lock_guard lock(look_up_->mutex);
  look_up_->io = nullptr;
}

void Addresses::look_up() {
  look_up_ = std::make_shared<LookUp>();
  look_up_->io = &io_;
  try {
    std::thread([shared = look_up_, host = host_, port = port_] {
      Found found = ask_system(host, port);
      const std::lock_guard lock(shared->mutex);
      if (shared->io == nullptr) return;
      asio::post(*shared->io,
                 [shared, found = std::move(found)]() mutable { shared->end(std::move(found)); });
    }).detach();
  } catch (const std::system_error& error) {  // no more threads
    look_up_.reset();
    throw Trouble{Cause::kAddress, Phase::kConnect,
                  "no address for " + host_ + " (" + error.what() + ")"};
  }
}

Addresses::Endpoints Addresses::find(Limits& limits, Yield yield) {
  boost::system::error_code is_name;
  const auto address = asio::ip::make_address(host_, is_name);
  if (!is_name) return {tcp::endpoint(address, port_)};

  if (!look_up_ || !look_up_->serves()) look_up();
  const std::shared_ptr<LookUp> shared = look_up_;
  if (!shared->done) {
    struct Place {
      std::list<Signal*>& list;
      std::list<Signal*>::iterator at;
      ~Place() { list.erase(at); }
    };
    Signal signal(io_);
    const Place place{shared->waiting, shared->waiting.insert(shared->waiting.end(), &signal)};
    signal.wait(limits, yield);
  }
  if (!shared->found.error.empty()) {
    throw Trouble{Cause::kAddress, limits.phase(),
                  "no address for " + host_ + " (" + shared->found.error + ")"};
  }
  return shared->found.endpoints;
}

}  // namespace krl::http
