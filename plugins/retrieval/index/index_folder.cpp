#include "plugins/retrieval/index/index_folder.hpp"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <kernelrl/temporary_folder.hpp>
#include <unordered_set>

#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"
#include "plugins/policies/storage/mapped_file.hpp"
#include "plugins/policies/tokenizer/json_node.hpp"

namespace krl::retrieval {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";
constexpr const char* kDocuments = "documents.jsonl";
constexpr const char* kVectors = "vectors.safetensors";
constexpr const char* kFormat = "kernelrl index";
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMost = std::int64_t{1} << 40;

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw Failure(error == ENOSPC || error == EDQUOT ? KRL_RESOURCE_EXHAUSTED : KRL_INTERNAL,
                what + " " + path.string() + ": " + std::strerror(error));
}

std::string file_hash(const fs::path& path) {
  return files::sha256_hex(policies::MappedFile(path).bytes());
}

void check_ids(const std::vector<Document>& documents) {
  std::unordered_set<std::string_view> ids;
  for (const Document& document : documents) {
    if (!ids.insert(document.id).second) {
      invalid_argument("two documents of the index have the id '" + document.id + "'");
    }
  }
}

bool rename_with(const fs::path& from, const fs::path& to, unsigned flags) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0;
}

// Puts the new folder in its place; an older index is then where the new one was.
void put_in_place(const fs::path& fresh, const fs::path& folder) {
  if (rename_with(fresh, folder, RENAME_NOREPLACE)) return;
  if (errno == EINVAL && !fs::exists(folder) && rename_with(fresh, folder, 0)) return;
  if (errno != EEXIST && errno != EINVAL) fail("cannot write the index", folder, errno);
  if (!fs::exists(folder / kManifest) && !fs::is_empty(folder)) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "cannot write the index " + folder.string() +
                      ": there is something that is not an index; name another folder");
  }
  // Not every file system supports this; then the user has to remove the old index.
  if (!rename_with(fresh, folder, RENAME_EXCHANGE)) fail("cannot replace", folder, errno);
}

void write_manifest(const fs::path& folder, const EncoderIdentity& encoder, std::size_t documents,
                    std::int64_t dimension) {
  const nlohmann::ordered_json manifest = {
      {"format", kFormat},
      {"version", kVersion},
      {"encoder", {{"fingerprint", encoder.fingerprint}, {"folder", encoder.folder}}},
      {"dimension", dimension},
      {"documents", documents},
      {"documents_sha256", file_hash(folder / kDocuments)},
      {"vectors_sha256", file_hash(folder / kVectors)}};
  files::write_file(folder / kManifest, {manifest.dump(2) + "\n"});
}

void check_hash(const policies::JsonNode& manifest, const char* key, const fs::path& file) {
  if (manifest.get(key).text() == file_hash(file)) return;
  invalid_argument(file.string() + ": is not the file that " + kManifest +
                   " describes: it was changed or cut off; build the index again");
}

}  // namespace

std::span<const float> StoredIndex::vectors() const {
  const policies::TensorView& view = file.tensors().at("vectors");
  return {reinterpret_cast<const float*>(view.bytes.data()), view.bytes.size() / sizeof(float)};
}

void write_index(const fs::path& folder, const EncoderIdentity& encoder,
                 const std::vector<Document>& documents, std::span<const float> vectors,
                 std::int64_t dimension) {
  check_ids(documents);
  fs::path target = fs::absolute(folder).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "index/"
  fs::create_directories(target.parent_path());
  const TemporaryFolder fresh(target);
  fs::permissions(fresh.path(), fs::perms(0755));
  files::write_file(fresh.path() / kDocuments, {documents_to_json_lines(documents)});
  const std::string_view bytes(reinterpret_cast<const char*>(vectors.data()), vectors.size_bytes());
  policies::write_safetensors(
      fresh.path() / kVectors,
      {{"vectors", {"F32", {static_cast<std::int64_t>(documents.size()), dimension}, bytes}}});
  write_manifest(fresh.path(), encoder, documents.size(), dimension);
  files::sync_directory(fresh.path());
  put_in_place(fresh.path(), target);
  files::sync_directory(target.parent_path());
}

StoredIndex read_index(const fs::path& folder) {
  const fs::path path = folder / kManifest;
  if (!fs::exists(path)) {
    throw Failure(KRL_NOT_FOUND, folder.string() + ": there is no index (no " + kManifest +
                                     "); build one with `kernelrl index build`");
  }
  const nlohmann::json document = policies::parse_json(files::read_file(path), path.string());
  const policies::JsonNode manifest(document, path.string());
  const policies::JsonNode format = manifest.get("format"), version = manifest.get("version"),
                           encoder = manifest.get("encoder");
  if (format.text() != kFormat) format.refuse(std::string("must be '") + kFormat + "'");
  if (version.integer(kMost) != kVersion) {
    version.refuse("must be " + std::to_string(kVersion) + "; build the index again");
  }
  StoredIndex index{folder,
                    {encoder.get("fingerprint").text(), encoder.get("folder").text()},
                    manifest.get("dimension").integer(kMost),
                    {},
                    {}};
  check_hash(manifest, "documents_sha256", folder / kDocuments);
  check_hash(manifest, "vectors_sha256", folder / kVectors);
  index.documents = documents_from_json_lines(policies::MappedFile(folder / kDocuments).bytes(),
                                              (folder / kDocuments).string());
  const std::int64_t count = manifest.get("documents").integer(kMost);
  if (static_cast<std::int64_t>(index.documents.size()) != count) {
    manifest.get("documents").refuse("the file has " + std::to_string(index.documents.size()));
  }
  index.file = policies::Safetensors::read(folder / kVectors);
  const auto& vectors = index.file.get("vectors", "F32", {count, index.dimension});
  if (reinterpret_cast<std::uintptr_t>(vectors.bytes.data()) % alignof(float) != 0) {
    invalid_argument((folder / kVectors).string() + ": the vectors are not aligned");
  }
  const std::span<const float> all = index.vectors();
  if (!std::all_of(all.begin(), all.end(), [](float value) { return std::isfinite(value); })) {
    invalid_argument((folder / kVectors).string() + ": a vector has a value that is not finite");
  }
  return index;
}

void require_encoder(const StoredIndex& index, const EncoderIdentity& encoder) {
  if (index.encoder.fingerprint == encoder.fingerprint) return;
  constexpr std::size_t kShown = 12;
  throw Failure(KRL_FAILED_PRECONDITION,
                "the index " + index.folder.string() + " was built with another encoder: " +
                    index.encoder.folder + " (" + index.encoder.fingerprint.substr(0, kShown) +
                    "), not " + encoder.folder + " (" + encoder.fingerprint.substr(0, kShown) +
                    "); name the encoder that it was built with, or build it again");
}

}  // namespace krl::retrieval
