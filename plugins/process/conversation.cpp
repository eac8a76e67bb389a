#include "plugins/process/conversation.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <kernelrl/broken_pipe_guard.hpp>
#include <kernelrl/values.hpp>

#include "plugins/process/message_stream.hpp"

namespace krl::process {
namespace {

constexpr std::size_t kMostComplaints = 1 << 20, kShownComplaint = 1000;

struct Pipe {
  Descriptor read, write;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      throw Failure(KRL_UNAVAILABLE, std::string("cannot create a pipe: ") + std::strerror(errno));
    }
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

}  // namespace

Conversation::Conversation(Command command, Encoding encoding)
    : encoding_(encoding),
      complaints_(MemoryFile::create("krl-stderr")),
      start_(std::chrono::steady_clock::now()) {
  Pipe to_child, to_us;
  command.descriptors.emplace_back(to_child.read.get(), 0);
  command.descriptors.emplace_back(to_us.write.get(), 1);
  command.descriptors.emplace_back(complaints_.descriptor(), 2);
  process_.emplace(command);
  requests_ = std::move(to_child.write);
  answers_ = std::move(to_us.read);
}

bool Conversation::send(const nlohmann::json& request) {
  const BrokenPipeGuard guard;
  return write_message(requests_.get(), request, encoding_);
}

bool Conversation::has_answer(std::chrono::milliseconds limit) {
  pollfd ready{answers_.get(), POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(limit.count())) > 0;
}

Ending Conversation::end(std::chrono::milliseconds limit) {
  requests_.reset();
  const auto since_start = std::chrono::steady_clock::now() - start_;
  return process_->wait(std::chrono::ceil<std::chrono::milliseconds>(since_start) + limit);
}

std::string Conversation::complaint() const {
  std::string text = complaints_.read_end(kShownComplaint);
  if (complaints_.size() > kShownComplaint) text = "…" + text;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string Conversation::take_complaints() {
  std::string text = complaints_.read_end(kMostComplaints);
  if (complaints_.size() > kMostComplaints) text = "… (the beginning is left out)\n" + text;
  complaints_.clear();
  return text;
}

std::optional<nlohmann::json> Conversation::receive(std::chrono::milliseconds limit,
                                                    std::uint32_t most_bytes) {
  if (over_) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  auto answer = read_message(answers_.get(), limit, most_bytes, encoding_);
  over_ = !answer;
  timed_out_ = over_ && std::chrono::steady_clock::now() - start >= limit;
  return answer;
}

std::optional<nlohmann::json> Conversation::ask(const nlohmann::json& request,
                                                std::chrono::milliseconds limit,
                                                std::uint32_t most_bytes) {
  return send(request) ? receive(limit, most_bytes) : std::nullopt;
}

}  // namespace krl::process
