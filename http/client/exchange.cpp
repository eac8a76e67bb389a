#include "http/client/exchange.hpp"

#include <array>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>

namespace krl::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kPartBytes = std::size_t{16} << 10;  // at once; a record of TLS
constexpr unsigned kMaxInterim = 16;                       // answers with a status of 1xx

class Exchange {
 public:
  Exchange(Transport& transport, const Options& options, Limits& limits, Yield yield)
      : transport_(transport),
        options_(options),
        limits_(limits),
        yield_(yield),
        buffer_(options.max_head + kPartBytes) {}

  std::variant<Exchanged, Trouble> run(const Message& message, const OnBody* on_body) {
    send(message);
    const bool is_connect = message.method() == beast_http::verb::connect;
    if (!read_head(is_connect || message.method() == beast_http::verb::head)) {
      return Trouble{Cause::kBroken, send_error_ ? Phase::kSend : Phase::kFirstByte,
                     "closed before an answer came", send_error_ ? send_error_ : receive_error_};
    }
    Answer answer{parser_->get().result_int(), {}, {}};
    for (const auto& field : parser_->get())
      answer.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    const bool is_upgraded = message.count(beast_http::field::upgrade) > 0 && answer.status == 200;
    if (is_connect || is_upgraded || answer.status == 101)
      return Exchanged{std::move(answer), false, boost::beast::buffers_to_string(buffer_.data())};
    read_body(answer, on_body);
    const bool is_usable = parser_->keep_alive() && !send_error_ && buffer_.size() == 0;
    return Exchanged{std::move(answer), is_usable, {}};
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

  // Skips heads with a status of 1xx, except 101. False: the connection was closed before a byte
  // of an answer came.
  bool read_head(bool skips_body) {
    for (unsigned interim = 0; interim <= kMaxInterim; ++interim) {
      parser_.emplace();
      parser_->header_limit(static_cast<std::uint32_t>(options_.max_head));
      parser_->body_limit(options_.max_body);
      parser_->skip(skips_body);
      limits_.enter(Phase::kFirstByte, options_.timeouts.first_byte);
      if (buffer_.size() == 0 && !receive_first()) {
        if (interim == 0) return false;
        refuse(receive_error_);
      }
      limits_.enter(Phase::kBody, options_.timeouts.idle);
      const error_code error = transport_.wait(limits_, yield_, [&](auto token) {
        beast_http::async_read_header(transport_, buffer_, *parser_, token);
      });
      if (error) refuse(error);
      const unsigned status = parser_->get().result_int();
      if (status < 100 || status > 199 || status == 101) return true;
    }
    throw Trouble{Cause::kBroken, limits_.phase(), "it sent only 1xx responses"};
  }

  bool receive_first() {
    std::size_t n = 0;
    receive_error_ = transport_.wait(limits_, yield_, [&](auto token) {
      n = transport_.async_read_some(buffer_.prepare(kPartBytes), token);
    });
    buffer_.commit(n);
    return n > 0;
  }

  void read_body(Answer& answer, const OnBody* on_body) {
    const bool is_streamed = on_body != nullptr && answer.good();
    std::array<char, kPartBytes> part;
    while (!parser_->is_done()) {
      auto& body = parser_->get().body();
      body.data = part.data();
      body.size = part.size();
      const error_code error = transport_.wait(limits_, yield_, [&](auto token) {
        beast_http::async_read_some(transport_, buffer_, *parser_, token);
      });
      const std::string_view come(part.data(), part.size() - body.size);
      if (!is_streamed) {
        answer.body += come;
      } else if (!come.empty()) {
        (*on_body)(come);
      }
      if (error && error != beast_http::error::need_buffer) refuse(error);
    }
  }

  [[noreturn]] void refuse(const error_code& error) const {
    using Error = beast_http::error;
    const bool is_cut = error == Error::partial_message || error == Error::end_of_stream;
    const bool is_https = error.category() == make_error_code(Error::partial_message).category();
    const std::string where = parser_->is_header_done() ? "the answer" : "the answer's head";
    Trouble trouble{Cause::kBroken, limits_.phase(), "closed in the middle of " + where,
                    is_cut ? error_code() : error};
    if (error == Error::body_limit) {
      trouble = {Cause::kTooLarge, limits_.phase(),
                 "the answer's body has more than " + std::to_string(options_.max_body) + " bytes"};
    } else if (error == Error::header_limit || error == Error::buffer_overflow) {
      trouble = {Cause::kTooLarge, limits_.phase(),
                 "the answer's head has more than " + std::to_string(options_.max_head) + " bytes"};
    } else if (is_https && !is_cut) {
      trouble = {Cause::kBroken, limits_.phase(), "the answer is not HTTP: " + error.message()};
    }
    throw trouble;
  }

  Transport& transport_;
  const Options& options_;
  Limits& limits_;
  Yield yield_;
  // Received and not yet read. Its limit ends what is never complete, such as a chunk's head
  // without an end.
  boost::beast::flat_buffer buffer_;
  std::optional<beast_http::response_parser<beast_http::buffer_body>> parser_;
  error_code send_error_, receive_error_;
};

}  // namespace

std::variant<Exchanged, Trouble> exchange(Transport& transport, const Message& message,
                                          const OnBody* on_body, const Options& options,
                                          Limits& limits, Yield yield) {
  return Exchange(transport, options, limits, yield).run(message, on_body);
}

}  // namespace krl::http
