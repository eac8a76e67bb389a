// What a server gives its clients, the wrong ones too.
#include "http/server/server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>

#include "http/base/event_stream.hpp"
#include "tests/unit/http/client_fixture.hpp"
#include "tests/unit/http/test_certificate.hpp"
#include "tests/wait_while.hpp"

namespace krl::http::testing {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using krl::test::wait_while;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using CallPointer = std::shared_ptr<ServerCall>;

class ServerTest : public ClientFixture {
 protected:
  void serve(Server::Handler handler, ServerOptions options = {}) {
    server_.emplace(std::move(options), std::move(handler));
    connect_to("http://127.0.0.1:" + std::to_string(server_->port()));
  }
  static void echo(const CallPointer& call) {
    call->answer({200, {{"Content-Type", "text/plain"}}, call->request().body});
  }

  tcp::socket raw() {
    tcp::socket socket(io_);
    socket.connect({asio::ip::make_address("127.0.0.1"), server_->port()});
    return socket;
  }
  // All that comes for `text` until the server closes.
  std::string raw_answer(const std::string& text) {
    tcp::socket socket = raw();
    boost::system::error_code ignored;
    asio::write(socket, asio::buffer(text), ignored);
    return rest_of(socket);
  }
  static std::string rest_of(tcp::socket& socket) {
    std::string all;
    boost::system::error_code end;
    asio::read(socket, asio::dynamic_buffer(all), end);
    return all;
  }

  asio::io_context io_;
  std::optional<Server> server_;
};

TEST_F(ServerTest, AnswersWhatItIsAsked) {
  serve([](const CallPointer& call) {
    const IncomingRequest& request = call->request();
    call->answer({201,
                  {{"X-Seen", std::string(request.header("x-sent"))}},
                  request.method + " " + request.path + " " + request.query("a") + " " +
                      request.body + " " + request.peer});
  });
  Request request = post("/v1/a%20b?a=1%262&b", "text");
  request.headers = {{"X-Sent", "seen"}};
  const Answer answer = ask(request);
  EXPECT_EQ(answer.status, 201u);
  EXPECT_EQ(answer.header("X-Seen"), "seen");
  EXPECT_EQ(answer.body, "POST /v1/a b 1&2 text 127.0.0.1");
}

TEST_F(ServerTest, ConnectionsServeManyRequestsAlsoSentAtOnce) {
  serve(echo);
  EXPECT_EQ(
      raw_answer("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1"
                 "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n2"
                 "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\n3"),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
      "Connection: keep-alive\r\n\r\n1"
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
      "Connection: keep-alive\r\n\r\n2"
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
      "Connection: close\r\n\r\n3");
  EXPECT_EQ(server_->counts().accepted, 1u);
}

TEST_F(ServerTest, ACallThatIsForgottenIsAnError) {
  serve([](const CallPointer&) {});
  EXPECT_EQ(ask(get("/")).status, 500u);
}

TEST_F(ServerTest, OnlyTheFirstAnswerCounts) {
  serve([](const CallPointer& call) {
    call->answer({200, {}, "first"});
    call->answer({200, {}, "second"});
    call->begin_events();
  });
  EXPECT_EQ(ask(get("/")).body, "first");
  EXPECT_EQ(ask(get("/")).body, "first");
}

TEST_F(ServerTest, AnswersMayComeFromAnyThreadAndLate) {
  std::promise<CallPointer> came;
  serve([&](const CallPointer& call) { came.set_value(call); });
  std::thread other([&] { came.get_future().get()->answer({200, {}, "late"}); });
  EXPECT_EQ(ask(get("/")).body, "late");
  other.join();
}

TEST_F(ServerTest, AHeadHasNoBody) {
  serve([](const CallPointer& call) { call->answer({200, {}, "body"}); });
  EXPECT_EQ(raw_answer("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n");
}

TEST_F(ServerTest, ABodyMayHaveToBeInvited) {
  serve(echo);
  tcp::socket socket = raw();
  asio::write(socket,
              asio::buffer(std::string("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                                       "Expect: 100-continue\r\nConnection: close\r\n\r\n")));
  std::string invitation(25, ' ');
  asio::read(socket, asio::buffer(invitation));
  EXPECT_EQ(invitation, "HTTP/1.1 100 Continue\r\n\r\n");
  asio::write(socket, asio::buffer(std::string("ab")));
  EXPECT_THAT(rest_of(socket), HasSubstr("\r\n\r\nab"));
}

TEST_F(ServerTest, RefusesWhatIsTooLargeBeforeItHasCome) {
  ServerOptions options;
  options.max_body = 10;
  options.max_head = 200;
  serve(echo, options);
  EXPECT_THAT(raw_answer("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(raw_answer("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "b\r\n01234567890\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(raw_answer("GET / HTTP/1.1\r\nHost: " + std::string(300, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_EQ(ask(post("/", "0123456789")).body, "0123456789");
}

TEST_F(ServerTest, RefusesWhatIsNoRequest) {
  serve(echo);
  for (const char* text : {"hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET\r\n\r\n",
                           "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                           "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    EXPECT_THAT(raw_answer(text), StartsWith("HTTP/1.1 400 ")) << text;
  }
}

TEST_F(ServerTest, HeadersOfAnswersCannotEndTheHead) {
  serve([](const CallPointer& call) {
    call->answer({200, {{"X-Ok", "a"}, {"X-Bad", "a\r\nX-Injected: b"}}, ""});
  });
  const Answer answer = ask(get("/"));
  EXPECT_EQ(answer.header("X-Ok"), "a");
  EXPECT_EQ(answer.header("X-Injected"), "");
}

TEST_F(ServerTest, SlowRequestsAreRefused) {
  ServerOptions options;
  options.request = std::chrono::seconds(0);
  serve(echo, options);
  for (const char* text : {"POST / HT", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nnine"})
    EXPECT_THAT(raw_answer(text), StartsWith("HTTP/1.1 408 ")) << text;
  wait_while([&] { return server_->counts().connections > 0; });
}

TEST_F(ServerTest, IdleClientsAreDisconnected) {
  ServerOptions options;
  options.idle = std::chrono::seconds(0);
  serve(echo, options);
  EXPECT_EQ(raw_answer(""), "");
  wait_while([&] { return server_->counts().connections > 0; });
}

TEST_F(ServerTest, HearsOfAClientThatLeaves) {
  std::promise<void> gone;
  std::promise<CallPointer> came;
  serve([&](const CallPointer& call) {
    call->when_gone([&] { gone.set_value(); });
    came.set_value(call);
  });
  {
    tcp::socket socket = raw();
    asio::write(socket, asio::buffer(std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
    came.get_future().wait();
  }
  gone.get_future().wait();
}

TEST_F(ServerTest, AnAnsweredCallDoesNotHearOfTheClientsLeaving) {
  std::atomic<bool> gone = false;
  serve([&](const CallPointer& call) {
    call->when_gone([&] { gone = true; });
    call->answer({200, {}, ""});
  });
  ask(get("/"));
  client_.reset();
  wait_while([&] { return server_->counts().connections > 0; });
  EXPECT_FALSE(gone);
}

TEST_F(ServerTest, AClientThatHasSaidAllStillGetsTheRestOfItsAnswer) {
  std::atomic<bool> gone = false;
  const std::string body(std::size_t{64} << 20, 'a');
  serve([&](const CallPointer& call) {
    call->when_gone([&] { gone = true; });
    call->answer({200, {}, body});
  });
  tcp::socket socket = raw();
  asio::write(socket, asio::buffer(std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
  char first = 0;
  asio::read(socket, asio::buffer(&first, 1));
  socket.shutdown(tcp::socket::shutdown_send);
  EXPECT_TRUE(rest_of(socket).ends_with("\r\n\r\n" + body));
  EXPECT_FALSE(gone);
}

TEST_F(ServerTest, EventsComeAsTheyAreSent) {
  std::promise<CallPointer> came;
  serve([&](const CallPointer& call) {
    call->begin_events();
    call->send_event(event_text("first", "1"));
    came.set_value(call);
  });
  EventStream events;
  std::string seen;
  const CallPointer* sent = nullptr;
  CallPointer call;
  loop_.run([&](Yield yield) {
    const auto on_event = [&](const Event& event) {
      seen += event.type + "=" + event.data + " ";
      if (sent != nullptr) return;
      call = came.get_future().get();
      sent = &call;
      call->send_event(event_text("second", "2"));
      call->end_events();
    };
    client_->stream(
        get("/"), [&](std::string_view bytes) { events.feed(bytes, on_event); }, patient(), yield);
  });
  EXPECT_EQ(seen, "first=1 second=2 ");
}

TEST_F(ServerTest, AClientOfOldGetsEventsWithoutChunks) {
  serve([](const CallPointer& call) {
    call->begin_events();
    call->send_event("data: 1\n\n");
    call->end_events();
  });
  EXPECT_EQ(raw_answer("GET / HTTP/1.0\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
            "Connection: close\r\n\r\ndata: 1\n\n");
}

TEST_F(ServerTest, MoreConnectionsThanThereIsRoomForAreTold) {
  ServerOptions options;
  options.max_connections = 1;
  serve(echo, options);
  tcp::socket first = raw();
  wait_while([&] { return server_->counts().connections < 1; });
  EXPECT_THAT(raw_answer("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(server_->counts().refused, 1u);
}

TEST_F(ServerTest, DrainingAnswersWhatIsUnderWay) {
  std::promise<CallPointer> came;
  serve([&](const CallPointer& call) { came.set_value(call); });
  auto answer = std::async(std::launch::async, [&] { return ask(get("/")); });
  const CallPointer call = came.get_future().get();
  tcp::socket idle = raw();
  wait_while([&] { return server_->counts().connections < 2; });
  auto drained =
      std::async(std::launch::async, [&] { return server_->drain(std::chrono::seconds(30)); });
  EXPECT_EQ(rest_of(idle), "");
  boost::system::error_code refused;
  tcp::socket late(io_);
  wait_while([&] {
    late = tcp::socket(io_);
    late.connect({asio::ip::make_address("127.0.0.1"), server_->port()}, refused);
    return !refused;
  });
  call->answer({200, {}, "done"});
  EXPECT_EQ(answer.get().body, "done");
  client_.reset();
  EXPECT_TRUE(drained.get());
}

class WebSockets : public ServerTest {
 protected:
  using Socket = websocket::stream<tcp::socket>;

  Socket open(const std::string& path = "/ws") {
    Socket socket(raw());
    socket.handshake("127.0.0.1", path);
    return socket;
  }
  static std::string read(Socket& socket) {
    boost::beast::flat_buffer buffer;
    socket.read(buffer);
    return boost::beast::buffers_to_string(buffer.data());
  }
  static void echo_messages(const CallPointer& call) {
    call->accept_web_socket([](std::shared_ptr<WebSocket> socket) {
      const std::weak_ptr<WebSocket> weak = socket;
      socket->listen({[weak](std::string text) {
                        const auto socket = weak.lock();
                        text == "bye" ? socket->close() : socket->send("echo " + text);
                      },
                      {},
                      {}});
    });
  }
};

TEST_F(WebSockets, CarryMessagesBothWays) {
  serve(echo_messages);
  Socket socket = open();
  for (const char* text : {"one", "two"}) socket.write(asio::buffer(std::string(text)));
  EXPECT_EQ(read(socket), "echo one");
  EXPECT_EQ(read(socket), "echo two");
  socket.write(asio::buffer(std::string("bye")));
  EXPECT_THROW(read(socket), boost::system::system_error);
  wait_while([&] { return server_->counts().connections > 0; });
}

TEST_F(WebSockets, TellOfAClientThatLeaves) {
  std::promise<void> closed;
  serve([&](const CallPointer& call) {
    call->accept_web_socket([&](const std::shared_ptr<WebSocket>& socket) {
      socket->listen({[](const std::string&) {}, [&] { closed.set_value(); }, {}});
    });
  });
  { const Socket socket = open(); }
  closed.get_future().wait();
}

TEST_F(WebSockets, RefuseMessagesThatAreTooLarge) {
  ServerOptions options;
  options.max_body = 100;
  serve(echo_messages, options);
  Socket socket = open();
  socket.write(asio::buffer(std::string(101, 'x')));
  EXPECT_THROW(read(socket), boost::system::system_error);
}

TEST_F(WebSockets, AnOrdinaryRequestIsToldSo) {
  serve(echo_messages);
  EXPECT_EQ(ask(get("/ws")).status, 426u);
}

class ServesTls : public ServerTest {
 protected:
  ServesTls() {
    std::filesystem::create_directory(folder_);
    const Certificate certificate = make_certificate(authority_, {"127.0.0.1"});
    write("ca.pem", authority_.certificate);
    write("certificate.pem", certificate.certificate);
    write("key.pem", certificate.key);
  }
  ~ServesTls() override { std::filesystem::remove_all(folder_); }
  void write(const char* name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("krl-tls-" + std::to_string(::getpid()));
  const Certificate authority_ = make_authority();
};

TEST_F(ServesTls, AndGoesOnAfterClientsWithout) {
  ServerOptions options;
  options.certificate_file = folder_ / "certificate.pem";
  options.key_file = folder_ / "key.pem";
  serve(echo, options);
  Options trusting = plain();
  trusting.ca_file = folder_ / "ca.pem";
  connect_to("https://127.0.0.1:" + std::to_string(server_->port()), trusting);
  EXPECT_EQ(ask(post("/", "secret")).body, "secret");
  // Without TLS there is no answer, and the server goes on.
  EXPECT_EQ(raw_answer("GET / HTTP/1.1\r\nHost: x\r\n\r\n").find("HTTP/1.1"), std::string::npos);
  EXPECT_EQ(ask(post("/", "again")).body, "again");
}

TEST(ServerOptionsTest, WhatCannotBeServedIsToldAtTheStart) {
  const auto refusal = [](ServerOptions options) {
    try {
      const Server server(std::move(options), [](const CallPointer&) {});
    } catch (const krl::Failure& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  ServerOptions options;
  options.address = "nowhere";
  EXPECT_EQ(refusal(options), "'nowhere' is not an address such as 127.0.0.1");
  const Server first({}, [](const CallPointer&) {});
  options = {};
  options.port = first.port();
  EXPECT_THAT(refusal(options), HasSubstr("Address already in use"));
  options = {};
  options.certificate_file = options.key_file = "/absent.pem";
  EXPECT_THAT(refusal(options), HasSubstr("/absent.pem"));
}

}  // namespace
}  // namespace krl::http::testing
