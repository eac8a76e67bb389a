#include "http/client/exchange.hpp"

#include <array>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace krl::http {
namespace {

namespace beast_http = boost::beast::http;

constexpr unsigned kMaxInterim = 16;  // answers with a status of 1xx

bool is_interim(unsigned status) { return status >= 100 && status < 200 && status != 101; }

}  // namespace

void Exchange::send(const Message& message) {
  limits_.enter(Phase::kSend, options_.timeouts.send);
  beast_http::request_serializer<Message::body_type> serializer(message);
  while (!serializer.is_done() && !send_error_) {
    send_error_ = transport_.wait(limits_, yield_, [&](auto token) {
      beast_http::async_write_some(transport_, serializer, token);
    });
  }
}

bool Exchange::read_head(bool has_body) {
  for (unsigned interim = 0; interim <= kMaxInterim; ++interim) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(options_.max_head));
    parser_->body_limit(options_.max_body);
    parser_->skip(!has_body);
    limits_.enter(Phase::kFirstByte, options_.timeouts.first_byte);
    if (buffer_.size() == 0 && !receive_first()) {
      if (interim == 0) return false;
      refuse(receive_error_);
    }
    limits_.enter(Phase::kBody, options_.timeouts.idle);
    const Error error = transport_.wait(limits_, yield_, [&](auto token) {
      beast_http::async_read_header(transport_, buffer_, *parser_, token);
    });
    if (error) refuse(error);
    if (!is_interim(parser_->get().result_int())) return true;
  }
  throw Trouble{Cause::kBroken, limits_.phase(), "it sent only 1xx responses"};
}

bool Exchange::receive_first() {
  std::size_t n = 0;
  receive_error_ = transport_.wait(limits_, yield_, [&](auto token) {
    n = transport_.async_read_some(buffer_.prepare(kReadBytes), token);
  });
  buffer_.commit(n);
  return n > 0;
}

Answer Exchange::answer() const {
  Answer answer{parser_->get().result_int(), {}, {}};
  for (const auto& field : parser_->get())
    answer.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  return answer;
}

void Exchange::read_body(Answer& answer, const OnBody* on_body) {
  const bool is_streamed = on_body != nullptr && answer.good();
  std::array<char, kReadBytes> part;
  while (!parser_->is_done()) {
    auto& body = parser_->get().body();
    body.data = part.data();
    body.size = part.size();
    const Error error = transport_.wait(limits_, yield_, [&](auto token) {
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

void Exchange::refuse(const Error& error) const {
  const auto too_large = [&](const std::string& part, std::size_t most) {
    throw Trouble{Cause::kTooLarge, limits_.phase(),
                  "the answer's " + part + " has more than " + std::to_string(most) + " bytes"};
  };
  if (error == beast_http::error::body_limit) too_large("body", options_.max_body);
  if (error == beast_http::error::header_limit || error == beast_http::error::buffer_overflow)
    too_large("head", options_.max_head);
  const bool is_cut =
      error == beast_http::error::partial_message || error == beast_http::error::end_of_stream;
  if (!is_cut &&
      error.category() == make_error_code(beast_http::error::partial_message).category()) {
    throw Trouble{Cause::kBroken, limits_.phase(), "the answer is not HTTP: " + error.message()};
  }
  throw Trouble{Cause::kBroken, limits_.phase(),
                parser_->is_header_done() ? "closed in the middle of the answer"
                                          : "closed in the middle of the answer's head",
                is_cut ? Error() : error};
}

bool Exchange::leaves_connection_usable() const {
  return parser_->is_done() && parser_->keep_alive() && !send_error_ && buffer_.size() == 0;
}

std::string_view Exchange::rest() const {
  return {static_cast<const char*>(buffer_.cdata().data()), buffer_.size()};
}

Trouble Exchange::closed_early() const {
  return {Cause::kBroken, send_error_ ? Phase::kSend : Phase::kFirstByte,
          "closed before an answer came", send_error_ ? send_error_ : receive_error_};
}

}  // namespace krl::http
