// Commands of rank 0 to the other ranks, and their replies. A command starts with its kind and its
// number, followed by its content; every command gets one reply, preceded by the answers to the
// requests of kSample and kSampleStream. Plain data.
#pragma once

#include <exception>
#include <optional>

#include "plugins/policies/libtorch/distributed/call_context.hpp"
#include "plugins/policies/libtorch/distributed/message.hpp"

namespace krl::libtorch {

enum class CommandKind : std::uint8_t {
  kFit,           // seed, texts
  kSample,        // requests
  kSampleStream,  // nothing; requests follow (stream_broker.hpp), and answers come as for kSample
  kLogprobs,      // temperature, examples; the reply has their logprobs
  kValues,        // examples; the reply has their values
  kForwardBackward,  // loss, examples; the reply has figures
  kDropGradient,
  kOptimizerStep,  // the optimiser's settings; all ranks step together
  kSave,           // all ranks send rank 0 the parts that it lacks
  kLoad,           // a checkpoint (directory_copy.hpp)
  kClose,          // the last
};

struct CommandHeader {
  CommandKind kind;
  std::uint64_t number;  // counted from 1
};

void write_header(MessageWriter& message, const CommandHeader& header);
CommandHeader read_header(MessageReader& message);

// The reply of a rank when it is done with a command.
struct Reply {
  krl_status status = KRL_OK;
  std::string why;  // reason of a status other than KRL_OK
  Figures figures;
  std::vector<std::vector<float>> rows = {};  // one for each example, where they were asked for
};

// The message starts with this byte: a reply ends the answers to a command.
enum class AnswerKind : std::uint8_t { kSample, kFailedRequest, kReply };

std::string reply_message(const Reply& reply);
// After the byte of its kind.
Reply read_reply(MessageReader& message);

// True if a rank whose part of the command ends like this leaves the others waiting, as they wait
// for one another in a step and in a save. All ranks find an error in the call itself before that;
// any other error happened to this rank alone.
bool leaves_others_waiting(CommandKind kind, krl_status status);

// Returns the status and the message of an exception, as the SDK reports them to the host.
Reply reply_of(const std::exception_ptr& error);

}  // namespace krl::libtorch
