#include "service/report/packed.hpp"

#include <openssl/evp.h>
#include <zlib.h>

#include <stdexcept>

namespace krl::service {
namespace {

constexpr int kGzip = 15 + 16;  // windowBits of a whole window, with gzip's header
constexpr int kMemoryLevel = 8;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // far more than a browser shows

std::string compressed(std::string_view text) {
  if (text.size() > kMostBytes) throw std::length_error("a part of a report is over 1 GiB");
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);  // has room for all
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
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
