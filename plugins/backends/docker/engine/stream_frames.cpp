#include "plugins/backends/docker/engine/stream_frames.hpp"

#include <algorithm>

namespace krl::docker {
namespace {

constexpr unsigned char kStandardOutput = 1, kStandardError = 2;

}  // namespace

bool StreamFrames::feed(std::string_view bytes) {
  while (!bytes.empty() && !too_much_ && !malformed_) {
    if (left_ > 0) {
      const std::size_t n = std::min<std::size_t>(left_, bytes.size());
      append(bytes.substr(0, n));
      bytes.remove_prefix(n);
      left_ -= static_cast<std::uint32_t>(n);
      continue;
    }
    head_[head_filled_++] = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (head_filled_ == kHeadBytes) begin_frame();
  }
  return !too_much_ && !malformed_;
}

void StreamFrames::begin_frame() {
  head_filled_ = 0;
  left_ = std::uint32_t{head_[4]} << 24 | std::uint32_t{head_[5]} << 16 |
          std::uint32_t{head_[6]} << 8 | std::uint32_t{head_[7]};
  const bool known = head_[0] == kStandardOutput || head_[0] == kStandardError;
  malformed_ = !known || head_[1] != 0 || head_[2] != 0 || head_[3] != 0;
}

void StreamFrames::append(std::string_view content) {
  const bool is_out = head_[0] == kStandardOutput;
  std::string& text = is_out ? out : err;
  const std::size_t room = (is_out ? limits_.out_bytes : limits_.err_bytes) - text.size();
  text.append(content.substr(0, room));
  too_much_ = is_out && content.size() > room;
}

}  // namespace krl::docker
