// A child process that answers requests, one after the other, with messages (message_stream.hpp) on
// its standard input and output; its standard error is kept. The child ends when its input does,
// and is killed on destruction. Used by one thread at a time.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plugins/process/message_stream.hpp"
#include "plugins/process/subprocess.hpp"

namespace krl::process {

class Conversation {
 public:
  // `command`: descriptors 0 and 1 are added to it. Throws Failure(KRL_UNAVAILABLE).
  explicit Conversation(Command command, Encoding encoding = Encoding::kCbor);

  // False if the child is gone.
  bool send(const nlohmann::json& request);
  // Returns no value if the child ended, if it sends more than `most_bytes`, or after `limit`;
  // never a value after that, because a late message does not answer a later question.
  std::optional<nlohmann::json> receive(std::chrono::milliseconds limit,
                                        std::uint32_t most_bytes = kMaxMessageBytes);
  std::optional<nlohmann::json> ask(const nlohmann::json& request, std::chrono::milliseconds limit,
                                    std::uint32_t most_bytes = kMaxMessageBytes);

  // Waits until the child sends something or has ended: false if neither within `limit`.
  bool has_answer(std::chrono::milliseconds limit);

  // Ends the child's input, and so the child; kills it if it still runs after `limit`.
  Ending end(std::chrono::milliseconds limit);

  // After no value came: did time run out, or has the child ended?
  bool timed_out() const { return timed_out_; }

  Subprocess& process() { return *process_; }
  // Returns the end of the child's standard error, for a message; empty if there is none.
  std::string complaint() const;
  // Returns what came since the last call, its last MiB if it is more.
  std::string take_complaints();

 private:
  const Encoding encoding_;
  MemoryFile complaints_;
  Descriptor requests_, answers_;
  bool over_ = false, timed_out_ = false;
  const std::chrono::steady_clock::time_point start_;
  std::optional<Subprocess> process_;
};

}  // namespace krl::process
