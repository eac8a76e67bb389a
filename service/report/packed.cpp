#include "service/report/packed.hpp"

#include <openssl/evp.h>
#include <zlib.h>

#include <stdexcept>

namespace krl::service {
namespace {

constexpr int kGzip = 15 + 16;  // windowBits of a whole window, with gzip's header
constexpr int kMemoryLevel = 8;

std::string compressed(std::string_view text) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int end = ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (end != Z_STREAM_END) throw std::length_error("a text of over 4 GiB cannot be compressed");
  return out;
}

}  // namespace

std::string packed(std::string_view text) {
  const std::string bytes = compressed(text);
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that it writes
  const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

}  // namespace krl::service
