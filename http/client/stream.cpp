#include "http/client/stream.hpp"

#include <array>

#include "http/base/loop.hpp"
#include "http/client/transport.hpp"

namespace krl::http {
namespace {

constexpr Duration kNoLimit = Duration::max();

}  // namespace

Stream::Stream(boost::asio::io_context& io, std::unique_ptr<Transport> transport, std::string early,
               std::string place)
    : io_(&io),
      transport_(std::move(transport)),
      early_(std::move(early)),
      place_(std::move(place)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

void Stream::exchange(std::string_view input, const std::function<bool(std::string_view)>& received,
                      const Patience& patience, Yield yield) {
  const Watch watch(*io_);
  const auto send = [&](Yield sender) {
    try {
      Limits limits(watch, patience);
      limits.enter(Phase::kSend, kNoLimit);
      transport_->write(input, limits, sender);
      transport_->end_writing();
    } catch (const Trouble&) {  // the reader's as well
    }
  };
  const auto receive = [&](Yield receiver) {
    const struct Close {
      Transport& transport;
      ~Close() { transport.stop(); }
    } close{*transport_};
    Limits limits(watch, patience);
    limits.enter(Phase::kBody, kNoLimit);
    bool more = early_.empty() || received(early_);
    std::array<char, std::size_t{16} << 10> part;
    while (more) {
      std::error_code error;
      const std::size_t n =
          transport_->read_some(part.data(), part.size(), error, limits, receiver);
      if (error && error != std::errc::connection_reset) {
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
