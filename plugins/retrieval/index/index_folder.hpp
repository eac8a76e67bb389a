// An index on disk: a folder with
//   manifest.json          the format's version, the encoder's fingerprint, sizes and hashes
//   documents.jsonl        the documents (document.hpp)
//   vectors.safetensors    `vectors`, F32, documents × dimension
// It is complete or not there, whatever was killed. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "plugins/policies/storage/safetensors.hpp"
#include "plugins/retrieval/index/document.hpp"

namespace krl::retrieval {

// Identifies the encoder that made the vectors of an index.
struct EncoderIdentity {
  std::string fingerprint;  // SentenceModel's
  std::string folder;       // its folder at that time; only for messages
};

struct StoredIndex {
  std::filesystem::path folder;
  EncoderIdentity encoder;
  std::int64_t dimension = 0;
  std::vector<Document> documents;
  policies::Safetensors file;  // keeps the vectors

  // documents.size() × dimension.
  std::span<const float> vectors() const;
};

// Writes an index next to `folder` and puts it in its place when all of it is on disk, also in
// place of an older index; anything else in its place is left there and refused. Throws
// krl::Failure: KRL_FAILED_PRECONDITION for that, KRL_RESOURCE_EXHAUSTED if the disk is full,
// KRL_INVALID_ARGUMENT if two documents have the same id. REQUIRES: documents.size() × dimension
// vectors.
void write_index(const std::filesystem::path& folder, const EncoderIdentity& encoder,
                 const std::vector<Document>& documents, std::span<const float> vectors,
                 std::int64_t dimension);

// Reads an index and checks it against its hashes. Throws krl::Failure: KRL_NOT_FOUND if there is
// none; KRL_INVALID_ARGUMENT that names the file and the error. Nothing is trusted.
StoredIndex read_index(const std::filesystem::path& folder);

// Throws krl::Failure (KRL_FAILED_PRECONDITION) unless the index was built with the encoder of this
// fingerprint, with what to do about it.
void require_encoder(const StoredIndex& index, const EncoderIdentity& encoder);

}  // namespace krl::retrieval
