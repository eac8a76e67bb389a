// The output of a container's process as Docker sends it: standard output and standard error in one
// stream, in frames of an 8-byte head (1 or 2, three zeros, the size in big-endian order) and
// as many bytes. Pure; one object per stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace krl::docker {

struct OutputLimits {
  std::size_t out_bytes = std::size_t{64} << 20;  // more is too much
  std::size_t err_bytes = std::size_t{64} << 10;  // limit; later output is dropped
};

class StreamFrames {
 public:
  explicit StreamFrames(const OutputLimits& limits) : limits_(limits) {}

  // Takes the next bytes, cut anywhere. False once standard output has more bytes than it may have,
  // or the stream has no frames (see malformed()); the rest is then of no interest.
  bool feed(std::string_view bytes);

  bool too_much() const { return too_much_; }
  bool malformed() const { return malformed_; }
  std::string out, err;

 private:
  static constexpr std::size_t kHeadBytes = 8;

  void begin_frame();
  void append(std::string_view content);

  const OutputLimits limits_;
  std::array<unsigned char, kHeadBytes> head_{};
  std::size_t head_filled_ = 0;
  std::uint32_t left_ = 0;  // bytes of the current frame that are still to come
  bool too_much_ = false, malformed_ = false;
};

}  // namespace krl::docker
