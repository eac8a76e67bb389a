#include "plugins/policies/openai/reply_stream.hpp"

#include <kernelrl/values.hpp>

#include "plugins/policies/openai/verdict.hpp"

namespace krl::openai {

void ReplyStream::feed(std::string_view bytes) {
  events_.feed(bytes, [&](const http::Event& event) {
    if (event.data == "[DONE]") return;
    const Json piece = policies::parse_json(event.data, "an event");
    if (const auto status = status_of_error(piece)) {
      error_ = http::Answer{.status = *status, .body = event.data};
      throw Failure(KRL_UNAVAILABLE, "the server ends its stream: " + piece["error"].dump());
    }
    dialect_.read(JsonNode(piece, "an event"), ask_, reply_);
  });
}

bool ReplyStream::finish() {
  openai::finish(reply_);
  return !reply_.choices.empty();
}

void finish(Reply& reply) {
  std::erase_if(reply.choices, [](const auto& entry) {
    return !entry.second.stop_reason && entry.second.is_empty();
  });
  for (auto& [index, choice] : reply.choices) {
    if (choice.stop_reason) continue;
    choice.stop_reason = KRL_STOP_ABORTED;
    choice.end_word = "no reason";
  }
}

}  // namespace krl::openai
