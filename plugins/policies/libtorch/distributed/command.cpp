#include "plugins/policies/libtorch/distributed/command.hpp"

#include <new>

namespace krl::libtorch {

void write_header(MessageWriter& message, const CommandHeader& header) {
  message.number(static_cast<std::uint8_t>(header.kind));
  message.number(header.number);
}

CommandHeader read_header(MessageReader& message) {
  const auto kind = message.number<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(CommandKind::kClose)) {
    throw Failure(KRL_INTERNAL, "rank 0 sent a command that is unknown here, number " +
                                    std::to_string(kind) + "; do all ranks run the same version?");
  }
  return {static_cast<CommandKind>(kind), message.number<std::uint64_t>()};
}

std::string reply_message(const Reply& reply) {
  MessageWriter message;
  message.number(static_cast<std::uint8_t>(AnswerKind::kReply));
  message.number(reply.status);
  message.text(reply.why);
  message.number(static_cast<std::uint64_t>(reply.figures.size()));
  for (const auto& [name, value] : reply.figures) {
    message.text(name);
    message.number(value);
  }
  message.number(static_cast<std::uint64_t>(reply.rows.size()));
  for (const std::vector<float>& row : reply.rows) message.array(Span<float>(row));
  return std::move(message).take();
}

Reply read_reply(MessageReader& message) {
  Reply reply;
  reply.status = message.number<krl_status>();
  reply.why = message.text();
  for (std::size_t n = message.count(sizeof(double)); n > 0; --n) {
    std::string name = message.text();
    reply.figures[std::move(name)] = message.number<double>();
  }
  for (std::size_t n = message.count(sizeof(std::uint64_t)); n > 0; --n) {
    reply.rows.push_back(message.array<float>());
  }
  message.expect_end();
  return reply;
}

bool leaves_others_waiting(CommandKind kind, krl_status status) {
  const bool together = kind == CommandKind::kOptimizerStep || kind == CommandKind::kSave;
  return together && status != KRL_OK && status != KRL_FAILED_PRECONDITION &&
         status != KRL_INVALID_ARGUMENT;
}

Reply reply_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Failure& e) {
    return {e.code(), e.what(), {}};
  } catch (const std::bad_alloc&) {
    return {KRL_RESOURCE_EXHAUSTED, "out of memory", {}};
  } catch (const std::exception& e) {
    return {KRL_INTERNAL, e.what(), {}};
  }
}

}  // namespace krl::libtorch
