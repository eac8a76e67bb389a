// A connection of bytes both ways that no longer speaks HTTP; see Client::upgrade. Used by one
// coroutine at a time. Every function throws Failure, and the connection is closed then.
#pragma once

#include <boost/asio/spawn.hpp>
#include <functional>
#include <memory>
#include <string_view>

#include "plugins/http/patience.hpp"

namespace krl::http {

class Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Sends `input` and then the end of input, and hands `received` what comes meanwhile, until the
  // other side ends the stream or `received` says false. An input that is not wanted is no failure.
  void exchange(std::string_view input, const std::function<bool(std::string_view)>& received,
                const Patience& patience, boost::asio::yield_context yield);

  class Implementation;
  explicit Stream(std::unique_ptr<Implementation> implementation);

 private:
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace krl::http
