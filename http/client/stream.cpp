#include "http/client/stream.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include "http/base/loop.hpp"
#include "http/client/transport.hpp"

namespace krl::http {

namespace asio = boost::asio;

void Stream::exchange(std::string_view input, const std::function<bool(std::string_view)>& received,
                      const Patience& patience, Yield yield) {
  const auto watch = std::make_shared<Watch>(*io_);
  const auto send = [&](Yield sender) {
    try {
      Limits limits(watch, patience);
      limits.enter(Phase::kSend, Duration::max());
      transport_->wait(limits, sender, [&](auto token) {
        asio::async_write(*transport_, asio::buffer(input), token);
      });
      transport_->end_writing();
    } catch (const Trouble&) {  // the reader's as well
    }
  };
  const auto receive = [&](Yield receiver) {
    const struct Close {
      Transport& transport;
      ~Close() { transport.close(); }
    } close{*transport_};
    Limits limits(watch, patience);
    limits.enter(Phase::kBody, Duration::max());
    bool more = early_.empty() || received(early_);
    std::array<char, std::size_t{16} << 10> part;
    while (more) {
      std::size_t n = 0;
      const auto error = transport_->wait(limits, receiver, [&](auto token) {
        n = transport_->async_read_some(asio::buffer(part), token);
      });
      if (error && error != asio::error::eof && error != asio::error::connection_reset &&
          error != asio::ssl::error::stream_truncated) {
        throw Trouble{Cause::kBroken, limits.phase(), "the stream broke: " + error.message(),
                      error};
      }
      more = n > 0 && received({part.data(), n});
    }
  };
  try {
    side_by_side(
        *io_, 2, [&](std::size_t i, Yield y) { i == 0 ? send(y) : receive(y); }, yield);
  } catch (const Trouble& trouble) {
    throw Failure(trouble.cause, trouble.phase, place_ + ": " + trouble.what, trouble.error);
  }
}

}  // namespace krl::http
