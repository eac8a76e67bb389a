// A policy that asks an OpenAI-compatible HTTP server for one answer after the other.
#include <boost/asio.hpp>
#include <kernelrl/sdk.hpp>
#include <nlohmann/json.hpp>

struct AsksAServer final : krl::Policy {
  std::string host = "127.0.0.1", model;
  std::int64_t port = 8080, timeout_s = 120;
  static constexpr auto config = krl::config(
      krl::opt("host", &AsksAServer::host, "where the server is"),
      krl::opt("port", &AsksAServer::port, "its port").range(1, 65535),
      krl::opt("model", &AsksAServer::model, "the model's name there"),
      krl::opt("timeout_s", &AsksAServer::timeout_s, "seconds an answer may take").at_least(1));
  krl::PolicyInfo preview() override { return describe(); }
  krl::PolicyInfo describe() override {
    krl::PolicyInfo info;
    info.has_tokens = false;
    return info;
  }
  std::string post(const std::string& body) const {  // gives the reply's body, or what went wrong
    boost::asio::ip::tcp::iostream wire;
    wire.expires_after(std::chrono::seconds(timeout_s));
    wire.connect(host, std::to_string(port));
    wire << "POST /v1/chat/completions HTTP/1.0\r\nContent-Type: "
            "application/json\r\nContent-Length: "
         << body.size() << "\r\n\r\n" + body << std::flush;
    if (!wire) return wire.error().message();
    const std::string reply(std::istreambuf_iterator<char>(wire), {});
    if (wire.error() != boost::asio::error::eof) return wire.error().message();
    return reply.substr(std::min(reply.find("\r\n\r\n") + 4, reply.size()));
  }
  void sample(const krl::Requests& requests, const krl::SampleSink& sink,
              const krl::Context& context) override {
    static constexpr const char* kRoles[] = {"system", "user", "assistant"};
    for (std::uint32_t r = 0; r < requests.size(); ++r) {
      const krl::Request q = requests[r];
      nlohmann::json body{{"model", model}, {"stop", q.stop()}, {"max_tokens", q.max_tokens()}};
      body.update({{"temperature", q.temperature()}, {"top_p", q.top_p()}, {"top_k", q.top_k()}});
      for (const auto m : q.messages())
        body["messages"] += {{"role", kRoles[m.role()]}, {"content", m.text()}};
      for (std::uint32_t k = 0; k < q.n_samples(); ++k) {
        context.throw_if_cancelled();
        body["seed"] = q.seed_of_sample(k);
        const std::string reply = post(body.dump());
        try {
          auto choice = nlohmann::json::parse(reply).at("choices").at(0);
          const std::string text = choice.at("message").at("content");
          const bool cut = choice["finish_reason"] == "length";
          sink.put(r, k, cut ? KRL_STOP_LENGTH : KRL_STOP_END, text);
        } catch (const nlohmann::json::exception&) {
          sink.fail(r, KRL_UNAVAILABLE, reply);
          break;
        }
      }
    }
  }
};
KRL_PLUGIN("asks_a_server", "1.0.0",
           krl::policy<AsksAServer>("example.asks_a_server", "Asks a server"))
