#include "http/client/exchange.hpp"

#include <boost/beast/core/buffer_traits.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>

namespace krl::http {
namespace {

namespace beast = boost::beast;
namespace beast_http = beast::http;
using boost::system::error_code;

constexpr std::size_t kPartBytes = std::size_t{16} << 10;  // at once; a record of TLS
constexpr unsigned kMaxInterim = 16;                       // answers with a status of 1xx

// A body that a parser hands over in parts. Its functions are those that Beast asks for.
struct HandedOver {
  using value_type = OnBody;
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(beast_http::header<is_request, Fields>&, OnBody& on_body) : on_body_(on_body) {}
    void init(const boost::optional<std::uint64_t>&, error_code& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      for (const auto part : beast::buffers_range_ref(buffers))
        on_body_({static_cast<const char*>(part.data()), part.size()});
      return beast::buffer_bytes(buffers);
    }
    void finish(error_code& error) { error = {}; }

   private:
    OnBody& on_body_;
  };
};

class Exchange {
 public:
  Exchange(Transport& transport, const Options& options, Limits& limits, Yield yield)
      : transport_(transport), options_(options), limits_(limits), yield_(yield) {}

  Exchanged run(const Message& message, const OnBody* on_body) {
    send(message);
    const bool is_connect = message.method() == beast_http::verb::connect;
    read_head(is_connect || message.method() == beast_http::verb::head);
    Answer answer{parser_->get().result_int(), {}, {}};
    for (const auto& field : parser_->get())
      answer.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    const bool is_upgraded = message.count(beast_http::field::upgrade) > 0 && answer.status == 200;
    if (is_connect || is_upgraded || answer.status == 101)
      return {std::move(answer), false, beast::buffers_to_string(buffer_.data())};
    const bool is_streamed = on_body != nullptr && answer.good();
    const OnBody keep = [&](std::string_view part) { answer.body += part; };
    read_body(is_streamed ? *on_body : keep);
    const bool is_usable = parser_->keep_alive() && !send_error_ && buffer_.size() == 0;
    return {std::move(answer), is_usable, {}};
  }

 private:
  void send(const Message& message) {
    limits_.enter(Phase::kSend, options_.timeouts.send);
    beast_http::request_serializer<Message::body_type> serializer(message);
    while (!serializer.is_done() && !send_error_) {
      send_error_ = transport_.wait(limits_, yield_, [&](auto token) {
        beast_http::async_write_some(transport_, serializer, token);
      });
    }
  }

  // Skips heads with a status of 1xx, except 101.
  void read_head(bool skips_body) {
    for (unsigned interim = 0; interim <= kMaxInterim; ++interim) {
      parser_.emplace();
      parser_->header_limit(static_cast<std::uint32_t>(options_.max_head));
      parser_->body_limit(options_.max_body);
      parser_->skip(skips_body);
      limits_.enter(Phase::kFirstByte, options_.timeouts.first_byte);
      while (!parser_->is_header_done()) {
        if (read_more()) continue;
        if (interim > 0 || parser_->got_some()) refuse(receive_error_);
        throw Trouble{Cause::kBroken, send_error_ ? Phase::kSend : Phase::kFirstByte,
                      "closed before an answer came", send_error_ ? send_error_ : receive_error_};
      }
      const unsigned status = parser_->get().result_int();
      if (status < 100 || status > 199 || status == 101) return;
    }
    throw Trouble{Cause::kBroken, Phase::kBody, "it sent only 1xx responses"};
  }

  void read_body(OnBody on_body) {
    parser_->get().body() = std::move(on_body);
    while (!parser_->is_done()) {
      if (read_more()) continue;
      error_code error = receive_error_;
      if (!error) parser_->put_eof(error);  // the right end of an answer without a length
      if (error) refuse(error);
    }
  }

  // Parses received bytes, and waits for more if they do not suffice. Returns false at the end.
  bool read_more() {
    error_code error = beast_http::error::need_more;
    if (buffer_.size() > 0) buffer_.consume(parser_->put(buffer_.data(), error));
    if (!error) return true;
    if (error != beast_http::error::need_more) refuse(error);
    // A part that is never complete, such as a chunk's head without an end, must not fill the
    // memory.
    if (buffer_.size() > options_.max_head) refuse(beast_http::error::header_limit);
    std::size_t n = 0;
    receive_error_ = transport_.wait(limits_, yield_, [&](auto token) {
      n = transport_.async_read_some(buffer_.prepare(kPartBytes), token);
    });
    if (receive_error_ == boost::asio::error::eof) receive_error_ = {};
    buffer_.commit(n);
    if (n > 0 && limits_.phase() != Phase::kBody)
      limits_.enter(Phase::kBody, options_.timeouts.idle);
    return n > 0;
  }

  [[noreturn]] void refuse(const error_code& error) const {
    using Error = beast_http::error;
    const bool is_of_http = error.category() == make_error_code(Error::need_more).category();
    const std::string where = parser_->is_header_done() ? "the answer" : "the answer's head";
    Trouble trouble{Cause::kBroken, Phase::kBody, "closed in the middle of " + where,
                    is_of_http ? error_code() : error};
    if (error == Error::body_limit) {
      trouble = {Cause::kTooLarge, Phase::kBody,
                 "the answer's body has more than " + std::to_string(options_.max_body) + " bytes"};
    } else if (error == Error::header_limit) {
      trouble = {Cause::kTooLarge, Phase::kBody,
                 "the answer's head has more than " + std::to_string(options_.max_head) + " bytes"};
    } else if (is_of_http && error != Error::partial_message) {
      trouble = {Cause::kBroken, Phase::kBody, "the answer is not HTTP: " + error.message()};
    }
    throw trouble;
  }

  Transport& transport_;
  const Options& options_;
  Limits& limits_;
  Yield yield_;
  beast::flat_buffer buffer_;  // received and not yet read
  std::optional<beast_http::response_parser<HandedOver>> parser_;
  error_code send_error_, receive_error_;
};

}  // namespace

Exchanged exchange(Transport& transport, const Message& message, const OnBody* on_body,
                   const Options& options, Limits& limits, Yield yield) {
  return Exchange(transport, options, limits, yield).run(message, on_body);
}

}  // namespace krl::http
