#include "http/client/exchange.hpp"

#include <boost/beast/http/error.hpp>

namespace krl::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kReadBytes = std::size_t{16} << 10;  // at once; a record of TLS
constexpr std::size_t kSmallBody = std::size_t{64} << 10;  // is sent in one piece with its head
constexpr unsigned kMaxInterim = 16;                       // answers with a status of 1xx

bool is_interim(unsigned status) { return status >= 100 && status < 200 && status != 101; }

}  // namespace

void Exchange::send(std::string head, std::string_view body) {
  limits_.enter(Phase::kSend, options_.timeouts.send);
  if (body.size() <= kSmallBody) {
    head += body;
    body = {};
  }
  send_error_ = transport_.write(head, limits_, yield_);
  if (!send_error_) send_error_ = transport_.write(body, limits_, yield_);
  limits_.enter(Phase::kFirstByte, options_.timeouts.first_byte);
}

std::unique_ptr<AnswerReader> Exchange::read_head(bool has_body, const OnBody* on_body) {
  for (unsigned interim = 0; interim <= kMaxInterim; ++interim) {
    auto reader = std::make_unique<AnswerReader>(options_, on_body);
    reader->skip(!has_body);
    while (!reader->is_header_done()) {
      if (read_more(*reader)) continue;
      if (!has_answer_) return nullptr;
      throw Trouble{Cause::kBroken, limits_.phase(), "closed in the middle of the answer's head",
                    receive_error_};
    }
    if (!is_interim(reader->answer.status)) return reader;
    limits_.enter(Phase::kFirstByte, options_.timeouts.first_byte);
  }
  throw Trouble{Cause::kBroken, limits_.phase(), "it sent only 1xx responses"};
}

void Exchange::read_body(AnswerReader& reader) {
  if (reader.is_done()) return;
  if (reader.content_length().value_or(0) > options_.max_body) {
    refuse(beast_http::error::body_limit);
  }
  while (!reader.is_done()) {
    if (read_more(reader)) continue;
    error_code error;
    if (!receive_error_) reader.put_eof(error);  // the right end of an answer without a length
    if (!receive_error_ && !error) return;
    throw Trouble{Cause::kBroken, limits_.phase(), "closed in the middle of the answer",
                  receive_error_};
  }
}

bool Exchange::read_more(AnswerReader& reader) {
  error_code error = beast_http::error::need_more;
  if (buffer_.size() > 0) buffer_.consume(reader.put(buffer_.cdata(), error));
  if (!error) return true;
  if (error != beast_http::error::need_more) refuse(error);
  // A part that is never complete, such as a chunk's head without an end, must not fill the memory.
  if (buffer_.size() > options_.max_head) refuse(beast_http::error::header_limit);
  return receive();
}

bool Exchange::receive() {
  const auto room = buffer_.prepare(kReadBytes);
  const std::size_t n = transport_.read_some(static_cast<char*>(room.data()), room.size(),
                                             receive_error_, limits_, yield_);
  buffer_.commit(n);
  if (n > 0 && limits_.phase() != Phase::kBody) {
    has_answer_ = true;
    limits_.enter(Phase::kBody, options_.timeouts.idle);
  }
  return n > 0;
}

void Exchange::refuse(const error_code& error) const {
  if (error == beast_http::error::body_limit) {
    throw Trouble{
        Cause::kTooLarge, limits_.phase(),
        "the answer's body has more than " + std::to_string(options_.max_body) + " bytes"};
  }
  if (error == beast_http::error::header_limit) {
    throw Trouble{
        Cause::kTooLarge, limits_.phase(),
        "the answer's head has more than " + std::to_string(options_.max_head) + " bytes"};
  }
  throw Trouble{Cause::kBroken, limits_.phase(), "the answer is not HTTP: " + error.message()};
}

bool Exchange::leaves_connection_usable(const AnswerReader& reader) const {
  return reader.is_done() && reader.keep_alive() && !send_error_ && buffer_.size() == 0;
}

std::string_view Exchange::rest() const {
  return {static_cast<const char*>(buffer_.cdata().data()), buffer_.size()};
}

Trouble Exchange::closed_early() const {
  return {Cause::kBroken, send_error_ ? Phase::kSend : Phase::kFirstByte,
          "closed before an answer came", send_error_ ? send_error_ : receive_error_};
}

}  // namespace krl::http
