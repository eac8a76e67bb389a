#include "plugins/policies/libtorch/distributed/directory_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <kernelrl/values.hpp>
#include <map>

#include "plugins/files/digest.hpp"
#include "plugins/policies/libtorch/distributed/message.hpp"

namespace krl::libtorch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{64} << 20;  // bytes sent at once
constexpr std::size_t kPiece = 1 << 20;                // bytes hashed at once
// A rank's answers to an offer.
constexpr const char *kSeen = "seen", *kSend = "send", *kFailed = "failed";

struct FileMark {
  std::uint64_t size = 0;
  std::string digest = {};  // empty: it cannot be read
};
using Listing = std::map<std::string, FileMark>;

// The digest of its pieces' digests; empty if it cannot be read to its end.
std::string digest_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string pieces, piece(kPiece, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    pieces += files::sha256_hex({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  return file.eof() && !file.bad() ? files::sha256_hex(pieces) : std::string();
}

// Names and sizes.
Listing listing_of(const fs::path& directory) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator at(directory, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code of_file;
    if (!at->is_regular_file(of_file)) continue;
    const std::uintmax_t size = at->file_size(of_file);
    listing[at->path().filename().string()].size = of_file ? 0 : size;
  }
  return listing;
}

// True if `directory` holds the offered files.
bool is_same(const fs::path& directory, const Listing& offered) {
  const Listing found = listing_of(directory);
  const bool fits = std::equal(found.begin(), found.end(), offered.begin(), offered.end(),
                               [](const auto& a, const auto& b) {
                                 return a.first == b.first && a.second.size == b.second.size;
                               });
  return fits && std::all_of(offered.begin(), offered.end(), [&](const auto& file) {
           const auto& [name, mark] = file;
           return !mark.digest.empty() && digest_of(directory / name) == mark.digest;
         });
}

std::string offer_message(const fs::path& directory, const Listing& listing) {
  MessageWriter message;
  message.text(directory.string());
  message.number(static_cast<std::uint64_t>(listing.size()));
  for (const auto& [name, mark] : listing) {
    message.text(name);
    message.number(mark.size);
    message.text(mark.digest);
  }
  return std::move(message).take();
}

// Sends as many bytes as were announced, even after an error. Returns true if they are those of the
// file.
bool send_file(RankGroup& group, int to, const fs::path& path, std::uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  std::string chunk;
  for (std::uint64_t sent = 0; sent < size; sent += chunk.size()) {
    chunk.assign(std::min<std::uint64_t>(kChunk, size - sent), '\0');
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    group.send(to, chunk);
  }
  return !file.fail();
}

// Takes the whole file, even where it cannot be written, as rank 0 sends on. Whether it was
// written.
bool receive_file(RankGroup& group, const fs::path& path, std::uint64_t size) {
  std::ofstream file(path, std::ios::binary);
  for (std::uint64_t received = 0; received < size;) {
    const std::string chunk = group.receive(0);
    file.write(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    received += chunk.size();
  }
  file.close();
  return !file.fail();
}

}  // namespace

bool offer_directory(RankGroup& group, const fs::path& directory) {
  Listing listing = listing_of(directory);
  for (auto& [name, mark] : listing) mark.digest = digest_of(directory / name);
  std::error_code error;
  const std::string offer = offer_message(fs::absolute(directory, error), listing);
  for (int r = 1; r < group.size(); ++r) group.send(r, offer);
  bool readable = true;
  for (int r = 1; r < group.size(); ++r) {
    if (group.receive(r) != kSend) continue;
    for (const auto& [name, mark] : listing) {
      const bool sent = send_file(group, r, directory / name, mark.size);
      readable = readable && sent && !mark.digest.empty();
    }
  }
  return readable;
}

OfferedDirectory::OfferedDirectory(RankGroup& group) {
  const std::string offer = group.receive(0);
  Listing listing;
  try {
    MessageReader message(offer);
    path_ = message.text();
    for (std::size_t n = message.count(sizeof(std::uint64_t)); n > 0; --n) {
      FileMark& mark = listing[message.text()];
      mark.size = message.number<std::uint64_t>();
      mark.digest = message.text();
    }
    message.expect_end();
    if (!is_same(path_, listing)) path_ = copy_.emplace("kernelrl-checkpoint").path();
  } catch (...) {
    group.send(0, kFailed);  // rank 0 waits for it
    throw;
  }
  group.send(0, copy_ ? kSend : kSeen);
  if (!copy_) return;
  for (const auto& [name, mark] : listing) {
    complete_ = receive_file(group, path_ / name, mark.size) && complete_;
  }
}

const fs::path& OfferedDirectory::path() const {
  if (complete_) return path_;
  throw Failure(KRL_RESOURCE_EXHAUSTED,
                "the copy of rank 0's checkpoint cannot be written to " + path_.string() +
                    "; make room there, or set TMPDIR to a folder with room");
}

}  // namespace krl::libtorch
