// The interface between the plugin and its engine, a separate shared library that links
// libtorch: the plugin opens it when a dataset is created, so that describing the plugin stays
// cheap. Both are built together.
#pragma once

#include <cstdint>
#include <kernelrl/dataset.hpp>
#include <string>

namespace krl::retrieval {

struct IndexOptions {
  std::string path;     // the folder of an index
  std::string encoder;  // the folder of the encoder that it was built with
  double similar = 0.9;
  std::int64_t threads = 1;
};

// The engine's one export: a dataset that the caller owns and deletes before the library could be
// unloaded (it never is). Throws krl::Failure: KRL_FAILED_PRECONDITION if the index or the encoder
// is not there, KRL_INVALID_ARGUMENT if one of them is wrong or they do not belong together.
using CreateIndex = SearchableDataset* (*)(const IndexOptions&);
inline constexpr const char* kCreateIndexSymbol = "kernelrl_create_index";
inline constexpr const char* kEngineFile = "libkernelrl_retrieval_engine.so";

}  // namespace krl::retrieval
