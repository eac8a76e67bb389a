#include "distributed/directory_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <kernelrl/values.hpp>
#include <map>

#include "distributed/message.hpp"
#include "storage/file.hpp"

namespace krl::libtorch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{64} << 20;
// Files up to this size are compared by what is in them, larger ones by their size.
constexpr std::uintmax_t kCompared = 1 << 20;

struct FileMark {
  std::uint64_t size = 0;
  std::string text;  // of a small file
  bool operator==(const FileMark&) const = default;
};
using Listing = std::map<std::string, FileMark>;

Listing listing_of(const fs::path& directory) {
  Listing listing;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (!entry.is_regular_file(error)) continue;
    FileMark& mark = listing[entry.path().filename().string()];
    mark.size = entry.file_size(error);
    if (mark.size <= kCompared) mark.text = read_file(entry.path());
  }
  return listing;
}

std::string offer_message(const fs::path& directory, const Listing& listing) {
  MessageWriter message;
  message.text(directory.string());
  message.number(static_cast<std::uint64_t>(listing.size()));
  for (const auto& [name, mark] : listing) {
    message.text(name);
    message.number(mark.size);
    message.text(mark.text);
  }
  return std::move(message).take();
}

// Sends as many bytes as were announced, whatever happens. Whether they are those of the file.
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

fs::path temporary_directory() {
  std::string path = (fs::temp_directory_path() / "kernelrl-checkpoint-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    throw Failure(KRL_INTERNAL, "no temporary directory like " + path +
                                    " can be made; set TMPDIR to a folder that can be written");
  }
  return path;
}

}  // namespace

bool offer_directory(RankGroup& group, int to, const fs::path& directory) {
  const Listing listing = listing_of(directory);
  group.send(to, offer_message(fs::absolute(directory), listing));
  if (group.receive(to) == "seen") return true;
  bool sent = true;
  for (const auto& [name, mark] : listing) {
    sent = send_file(group, to, directory / name, mark.size) && sent;
  }
  return sent;
}

OfferedDirectory::OfferedDirectory(RankGroup& group) {
  const std::string offer = group.receive(0);
  MessageReader message(offer);
  path_ = message.text();
  Listing listing;
  for (std::size_t n = message.count(sizeof(std::uint64_t)); n > 0; --n) {
    const std::string name = message.text();
    FileMark& mark = listing[name];
    mark.size = message.number<std::uint64_t>();
    mark.text = message.text();
  }
  message.expect_end();
  if (listing_of(path_) == listing) {
    group.send(0, "seen");
    return;
  }
  group.send(0, "send");
  path_ = temporary_directory();
  is_copy_ = true;
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

OfferedDirectory::~OfferedDirectory() {
  std::error_code ignored;
  if (is_copy_) fs::remove_all(path_, ignored);
}

}  // namespace krl::libtorch
