// A bidirectional byte stream on a connection that no longer uses HTTP; created by Client::upgrade.
// Used by one coroutine at a time, on the client's io_context.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/base/loop.hpp"
#include "http/base/patience.hpp"

namespace krl::http {

class Transport;

class Stream {
 public:
  // `early`: bytes that have come already; `place`: the subject of failures.
  Stream(boost::asio::io_context& io, std::shared_ptr<Transport> transport, std::string early,
         std::string place)
      : io_(&io), transport_(transport), early_(std::move(early)), place_(std::move(place)) {}

  // Sends `input` and then the end of input, and passes incoming bytes to `received`, until the
  // other side ends the stream or `received` returns false; the connection is closed then. If the
  // other side does not read the input, or ends by a reset, that is no failure. Throws Failure.
  void exchange(std::string_view input, const std::function<bool(std::string_view)>& received,
                const Patience& patience, Yield yield);

 private:
  boost::asio::io_context* io_;
  std::shared_ptr<Transport> transport_;
  std::string early_, place_;
};

}  // namespace krl::http
