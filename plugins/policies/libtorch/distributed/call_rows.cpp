#include "plugins/policies/libtorch/distributed/call_rows.hpp"

#include <limits>

namespace krl::libtorch {
namespace {

constexpr std::int64_t kNoDeadline = std::numeric_limits<std::int64_t>::max();

}  // namespace

RequestPart::RequestPart(const Requests& requests, const RankShare& share) {
  for (const std::size_t i : share) rows_.push_back(requests[i].c());
}

void write_request(MessageWriter& message, const Request& request) {
  auto value = value_of<RequestValue>(*request.c());
  value.deadline_ns = value.deadline_ns == 0 ? kNoDeadline : value.deadline_ns - monotonic_ns();
  write_value(message, value);
}

const krl_request* ReceivedRequests::add(MessageReader& message) {
  auto value = read_value<RequestValue>(message);
  value.deadline_ns = value.deadline_ns == kNoDeadline ? 0 : monotonic_ns() + value.deadline_ns;
  return received_.add(std::move(value));
}

ExamplePart::ExamplePart(const Examples& examples, const RankShare& share) {
  for (const std::size_t i : share) rows_.push_back(examples[i].c());
}

void write_examples(MessageWriter& message, const Examples& examples, const RankShare& share) {
  message.number(static_cast<std::uint64_t>(share.size()));
  for (const std::size_t i : share) write_value(message, value_of<ExampleValue>(*examples[i].c()));
}

ReceivedExamples::ReceivedExamples(MessageReader& message) {
  for (std::size_t n = message.count(sizeof(std::uint64_t)); n > 0; --n)
    received_.add(read_value<ExampleValue>(message));
}

}  // namespace krl::libtorch
