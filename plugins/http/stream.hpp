// A bidirectional byte stream on a connection that no longer uses HTTP; created by Client::upgrade.
// Used by one coroutine at a time, on the client's io_context.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "plugins/http/patience.hpp"
#include "plugins/http/yield.hpp"

namespace krl::http {

class Transport;

class Stream {
 public:
  // `early`: what has come already; `place`: of what a failure speaks.
  Stream(boost::asio::io_context& io, std::unique_ptr<Transport> transport, std::string early,
         std::string place);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Sends `input` and then the end of input, and hands `received` what comes meanwhile, until the
  // other side ends the stream or `received` says false; the connection is closed then. An input
  // that is not wanted is not a failure, nor is an end by a reset. Throws Failure.
  void exchange(std::string_view input, const std::function<bool(std::string_view)>& received,
                const Patience& patience, Yield yield);

 private:
  boost::asio::io_context* io_;
  std::unique_ptr<Transport> transport_;
  std::string early_, place_;
};

}  // namespace krl::http
