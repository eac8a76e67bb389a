#include "http/server/web_socket.hpp"

#include <boost/asio/post.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>

#include "http/server/connection.hpp"

namespace krl::http {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;

constexpr std::size_t kMostUntaken = std::size_t{16} << 20;
constexpr std::chrono::seconds kFarewell{1};  // in which a client says that it has heard the end

class BeastWebSocket final : public WebSocket, public std::enable_shared_from_this<BeastWebSocket> {
 public:
  explicit BeastWebSocket(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)), socket_(connection_->stream()) {
    socket_.set_option(websocket::stream_base::timeout{connection_->all().options.request,
                                                       connection_->all().options.idle, true});
    socket_.read_message_max(connection_->all().options.max_body);
    socket_.text(true);
  }

  void accept(const boost::beast::http::request_header<>& header,
              std::function<void(std::shared_ptr<WebSocket>)> opened) {
    request_.base() = header;
    socket_.async_accept(
        request_, [self = shared_from_this(), opened = std::move(opened)](const error_code& error) {
          if (error) return self->connection_->close();
          opened(self);
        });
  }

  void listen(Events events) override {
    run([this, events = std::move(events)] {
      events_ = events;
      connection_->when_draining([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self && self->events_.draining) self->events_.draining();
      });
      read();
    });
  }

  void send(std::string text) override {
    run([this, text = std::move(text)] {
      if (is_closed_ || closes_) return;
      unsent_bytes_ += text.size();
      if (unsent_bytes_ > kMostUntaken) return end();
      unsent_.push_back(text);
      if (!is_writing_) write();
    });
  }

  void close() override {
    run([this] {
      if (std::exchange(closes_, true)) return;
      if (!is_writing_) end_politely();
    });
  }

 private:
  void run(std::function<void()> work) {
    asio::post(socket_.get_executor(),
               [self = shared_from_this(), work = std::move(work)] { work(); });
  }

  void read() {
    socket_.async_read(connection_->buffer(),
                       [self = shared_from_this()](const error_code& error, std::size_t) {
                         if (error) return self->end();
                         auto& buffer = self->connection_->buffer();
                         std::string text = boost::beast::buffers_to_string(buffer.data());
                         buffer.consume(buffer.size());
                         self->events_.message(std::move(text));
                         if (!self->is_closed_) self->read();
                       });
  }

  void write() {
    is_writing_ = true;
    connection_->expect_progress(true);
    socket_.async_write(asio::buffer(unsent_.front()),
                        [self = shared_from_this()](const error_code& error, std::size_t) {
                          self->connection_->expect_progress(false);
                          self->is_writing_ = false;
                          if (error) return self->end();
                          self->unsent_bytes_ -= self->unsent_.front().size();
                          self->unsent_.pop_front();
                          if (!self->unsent_.empty()) return self->write();
                          if (self->closes_) self->end_politely();
                        });
  }

  void end_politely() {
    if (is_closed_) return;
    socket_.set_option(
        websocket::stream_base::timeout{kFarewell, websocket::stream_base::none(), false});
    socket_.async_close(websocket::close_code::normal,
                        [self = shared_from_this()](const error_code&) { self->end(); });
  }

  void end() {
    if (std::exchange(is_closed_, true)) return;
    connection_->close();
    if (const auto closed = std::exchange(events_, {}).closed) closed();
  }

  const std::shared_ptr<Connection> connection_;
  websocket::stream<ServerStream&, false> socket_;
  boost::beast::http::request<boost::beast::http::empty_body> request_;
  Events events_;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool is_writing_ = false, closes_ = false, is_closed_ = false;
};

}  // namespace

void open_web_socket(std::shared_ptr<Connection> connection,
                     boost::beast::http::request_header<> request,
                     std::function<void(std::shared_ptr<WebSocket>)> opened) {
  std::make_shared<BeastWebSocket>(std::move(connection))->accept(request, std::move(opened));
}

}  // namespace krl::http
