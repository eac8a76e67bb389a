#include "http/server/connection.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <charconv>

#include "http/server/target.hpp"
#include "http/server/web_socket.hpp"

namespace krl::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kMostUnsent = std::size_t{1} << 20;  // by an event stream
constexpr std::chrono::seconds kLinger{2};  // in which a client may read why it was refused

Answer refusal(unsigned status, std::string_view code, std::string_view message) {
  std::string body = R"({"error":{"code":")";
  body.append(code).append(R"(","message":")").append(message).append("\"}}");
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

bool is_safe(std::string_view text) { return text.find_first_of("\r\n") == std::string::npos; }

// The status line and the headers. `length`: none of an answer in chunks or up to the end.
std::string head_text(const Answer& answer, bool keep, std::optional<std::size_t> length,
                      bool has_chunks) {
  const auto reason = beast::http::obsolete_reason(static_cast<beast::http::status>(answer.status));
  std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " ";
  text.append(reason.data(), reason.size()).append("\r\n");
  for (const Header& header : answer.headers) {
    if (is_safe(header.name) && is_safe(header.value))
      text.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  if (length) text.append("Content-Length: ").append(std::to_string(*length)).append("\r\n");
  if (has_chunks) text += "Transfer-Encoding: chunked\r\n";
  text += keep ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return text;
}

std::string chunk_of(std::string_view text) {
  char size[17];
  const auto end = std::to_chars(std::begin(size), std::end(size), text.size(), 16).ptr;
  std::string chunk(size, end);
  return chunk.append("\r\n").append(text).append("\r\n");
}

std::string peer_of(const ServerStream::Socket& socket) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? std::string() : endpoint.address().to_string();
}

}  // namespace

std::vector<std::shared_ptr<Connection>> Connections::living() {
  std::vector<std::shared_ptr<Connection>> living;
  const std::lock_guard lock(mutex);
  for (const auto& weak : list) {
    if (auto connection = weak.lock()) living.push_back(std::move(connection));
  }
  return living;
}

void Connections::look(Clock::time_point now) {
  for (const auto& connection : living()) {
    if (connection->is_late(now)) connection->end_late();
  }
}

void Connections::for_each(void (Connection::*act)()) {
  for (const auto& connection : living()) ((*connection).*act)();
}

Connection::Connection(ServerStream::Socket socket, asio::ssl::context* tls,
                       std::shared_ptr<Connections> all)
    : stream_(std::move(socket), tls), all_(std::move(all)), peer_(peer_of(stream_.socket())) {
  expire_after(all_->options.request);
  ++all_->open;
}

Connection::~Connection() {
  const std::lock_guard lock(all_->mutex);
  if (place_) all_->list.erase(*place_);
  if (!is_closed_) --all_->open;
}

void Connection::begin(bool has_room) {
  {
    const std::lock_guard lock(all_->mutex);
    place_ = all_->list.insert(all_->list.end(), weak_from_this());
  }
  stream_.async_handshake([self = shared_from_this(), has_room](const error_code& error) {
    if (error) return self->leave();
    if (has_room) return self->wait_for_bytes();
    self->keep_ = false;
    self->state_ = State::kHandled;
    self->answer(refusal(503, "unavailable", "too many connections; try again later"));
  });
}

void Connection::run(std::function<void()> work) {
  asio::dispatch(stream_.get_executor(),
                 [self = shared_from_this(), work = std::move(work)] { work(); });
}

// Not at once even on the strand: calls of other threads come before, in the order of the callers.
void Connection::run_in_order(std::function<void()> work) {
  asio::post(stream_.get_executor(),
             [self = shared_from_this(), work = std::move(work)] { work(); });
}

void Connection::expire_after(Clock::duration limit) {
  const Clock::time_point end =
      limit == Clock::duration::max() ? Clock::time_point::max() : Clock::now() + limit;
  deadline_ = end.time_since_epoch().count();
}

bool Connection::is_late(Clock::time_point now) const {
  return now.time_since_epoch().count() > deadline_;
}

void Connection::close() {
  run([this] { leave(); });
}

// The read that is cancelled is answered by refuse().
void Connection::end_late() {
  run([this] {
    if (!is_late(Clock::now())) return;
    if (state_ != State::kReading) return leave();
    expire_after(all_->options.untaken);
    stream_.socket().cancel();
  });
}

void Connection::drain() {
  run([this] {
    if (state_ == State::kIdle && buffer_.size() == 0) leave();
    if (state_ == State::kUpgraded && draining_) draining_();
  });
}

void Connection::when_draining(std::function<void()> draining) {
  run([this, draining = std::move(draining)] {
    draining_ = draining;
    if (all_->draining) draining_();
  });
}

void Connection::expect_progress(bool is_writing) {
  expire_after(is_writing ? Clock::duration(all_->options.untaken) : Clock::duration::max());
}

// ---- reading ------------------------------------------------------------------------------------

// Waits for the first bytes of the next request; while one is handled, for its client's leaving.
void Connection::wait_for_bytes() {
  if (state_ == State::kIdle) expire_after(all_->options.idle);
  if (waits_for_bytes_) return;
  waits_for_bytes_ = true;
  stream_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](const error_code& error, std::size_t n) {
                            self->waits_for_bytes_ = false;
                            self->take_bytes(error, n);
                          });
}

void Connection::take_bytes(const error_code& error, std::size_t n) {
  // A client that has said all may still take its answer: the end of the writing shows it.
  if (error && state_ == State::kAnswered && is_writing_) return;
  if (error) return leave();
  if (state_ == State::kClosing) return wait_for_bytes();  // a refused client still sends
  buffer_.commit(n);
  if (state_ == State::kIdle) read_head();
}

void Connection::read_head() {
  state_ = State::kReading;
  expire_after(all_->options.request);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(all_->options.max_head));
  parser_->body_limit(all_->options.max_body);
  beast::http::async_read_header(stream_, buffer_, *parser_,
                                 [self = shared_from_this()](const error_code& error, std::size_t) {
                                   if (error) return self->refuse(error);
                                   const auto expect =
                                       self->parser_->get()[beast::http::field::expect];
                                   if (beast::iequals(expect, "100-continue"))
                                     self->write("HTTP/1.1 100 Continue\r\n\r\n");
                                   self->read_body();
                                 });
}

void Connection::read_body() {
  beast::http::async_read(stream_, buffer_, *parser_,
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            error ? self->refuse(error) : self->handle();
                          });
}

void Connection::refuse(const error_code& error) {
  namespace http = beast::http;
  const bool is_slow = error == asio::error::operation_aborted && state_ == State::kReading;
  const bool left = error == http::error::end_of_stream || error == http::error::partial_message;
  const bool is_fault = error.category() == make_error_code(http::error::bad_method).category();
  if (left || (!is_fault && !is_slow)) return leave();
  keep_ = false;
  state_ = State::kHandled;
  if (is_slow) return answer(refusal(408, "unavailable", "the request took too long to come"));
  if (error == http::error::body_limit) {
    return answer(
        refusal(413, "too_large",
                "the body may have " + std::to_string(all_->options.max_body) + " bytes"));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return answer(refusal(431, "too_large", "the head of the request is too large"));
  answer(refusal(400, "invalid_argument", "not a request of HTTP: " + error.message()));
}

void Connection::handle() {
  auto message = parser_->release();
  parser_.reset();
  keep_ = message.keep_alive() && !all_->draining;
  has_chunks_ = message.version() >= 11;
  is_head_ = message.method() == beast::http::verb::head;
  is_gone_ = false;
  IncomingRequest request{std::string(message.method_string()),
                          std::string(message.target()),
                          {},
                          {},
                          std::move(message.body()),
                          peer_};
  request.path = decoded_path(request.target);
  for (const auto& field : message)
    request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  const bool is_upgrade = beast::websocket::is_upgrade(message) && buffer_.size() == 0;
  if (is_upgrade) upgrade_ = std::move(message.base());
  state_ = State::kHandled;
  expire_after(Clock::duration::max());
  // A WebSocket reads for itself.
  if (!is_upgrade && buffer_.size() == 0) wait_for_bytes();
  all_->handler(std::make_shared<ServerCall>(shared_from_this(), std::move(request)));
}

// ---- writing ------------------------------------------------------------------------------------

void Connection::answer(Answer answer) {
  run([this, answer = std::move(answer)] {
    if (state_ != State::kHandled) return;
    state_ = State::kAnswered;
    keep_ = keep_ && !all_->draining;
    std::string text = head_text(answer, keep_, answer.body.size(), false);
    if (!is_head_) text += answer.body;
    write(std::move(text));
  });
}

void Connection::when_gone(std::function<void()> gone) {
  run([this, gone = std::move(gone)] { is_gone_ ? gone() : void(gone_ = gone); });
}

void Connection::begin_events() {
  run_in_order([this] {
    if (state_ != State::kHandled) return;
    state_ = State::kStreaming;
    keep_ = keep_ && has_chunks_ && !all_->draining;
    const Answer answer{
        200, {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-cache"}}, {}};
    write(head_text(answer, keep_, std::nullopt, has_chunks_));
  });
}

void Connection::send_event(std::string text) {
  run_in_order([this, text = std::move(text)] {
    if (state_ != State::kStreaming || text.empty()) return;
    if (unsent_bytes_ > kMostUnsent) return leave();
    write(has_chunks_ ? chunk_of(text) : text);
  });
}

void Connection::end_events() {
  run_in_order([this] {
    if (state_ != State::kStreaming) return;
    state_ = State::kAnswered;
    write(has_chunks_ ? "0\r\n\r\n" : "");
  });
}

void Connection::write(std::string text) {
  if (is_gone_) return;
  unsent_bytes_ += text.size();
  unsent_.push_back(std::move(text));
  if (!is_writing_) write_next();
}

void Connection::write_next() {
  is_writing_ = true;
  expect_progress(true);
  asio::async_write(stream_, asio::buffer(unsent_.front()),
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      self->is_writing_ = false;
                      if (error) return self->leave();
                      self->unsent_bytes_ -= self->unsent_.front().size();
                      self->unsent_.pop_front();
                      if (!self->unsent_.empty()) return self->write_next();
                      if (self->state_ == State::kAnswered) return self->end_answer();
                      if (self->state_ != State::kReading) self->expect_progress(false);
                    });
}

void Connection::end_answer() {
  gone_ = nullptr;
  upgrade_.reset();
  if (!keep_ || all_->draining) {
    // A client that still sends would not see its answer if the connection were reset.
    state_ = State::kClosing;
    stream_.end_writing();
    expire_after(kLinger);
    return wait_for_bytes();
  }
  state_ = State::kIdle;
  buffer_.size() > 0 ? read_head() : wait_for_bytes();
}

void Connection::leave() {
  is_gone_ = true;
  if (!std::exchange(is_closed_, true)) --all_->open;
  state_ = State::kClosing;
  expire_after(Clock::duration::max());
  stream_.close();
  draining_ = nullptr;
  if (const auto gone = std::exchange(gone_, nullptr)) gone();
}

void Connection::accept_web_socket(std::function<void(std::shared_ptr<WebSocket>)> opened) {
  run([this, opened = std::move(opened)] {
    if (state_ != State::kHandled) return;
    if (!upgrade_) {
      return answer(refusal(426, "invalid_argument", "this address takes WebSockets only"));
    }
    state_ = State::kUpgraded;
    open_web_socket(shared_from_this(), *std::exchange(upgrade_, std::nullopt), opened);
  });
}

}  // namespace krl::http
