// The dataset `index`: the documents of an index that `kernelrl index build` has made, and those
// that are nearest to a task. Options and little else; the engine does the work.
#include <dlfcn.h>

#include <filesystem>
#include <kernelrl/sdk.hpp>
#include <memory>
#include <string>

#include "plugins/retrieval/plugin/engine.hpp"

namespace krl::retrieval {
namespace {

std::filesystem::path engine_file() {
  static const char here = 0;  // an address inside this plugin
  Dl_info info{};
  if (::dladdr(&here, &info) == 0 || info.dli_fname == nullptr)
    throw Failure(KRL_INTERNAL, "the plugin 'index' cannot find its own file");
  const auto plugins = std::filesystem::absolute(info.dli_fname).parent_path();
  return plugins.parent_path() / "engines" / kEngineFile;
}

[[noreturn]] void refuse(const std::filesystem::path& file) {
  const char* const why = ::dlerror();
  throw Failure(KRL_FAILED_PRECONDITION,
                "cannot open the engine of the dataset 'index', " + file.string() + ": " +
                    (why != nullptr ? why : "unknown error") +
                    "; install libtorch with scripts/setup.sh and build again");
}

CreateIndex load_engine() {
  const std::filesystem::path file = engine_file();
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) refuse(file);
  void* symbol = ::dlsym(library, kCreateIndexSymbol);
  if (symbol == nullptr) refuse(file);
  return reinterpret_cast<CreateIndex>(symbol);
}

class Index final : public SearchableDataset {
 public:
  std::string path, encoder;
  double similar = IndexOptions{}.similar;
  std::int64_t threads = IndexOptions{}.threads;

  static constexpr auto config = krl::config(
      opt("path", &Index::path, "the folder of an index, as `kernelrl index build` writes it")
          .path()
          .required(),
      opt("encoder", &Index::encoder,
          "the folder of the text encoder that the index was built with")
          .path()
          .required(),
      opt("similar", &Index::similar,
          "cosine from which a document is a near duplicate of a task's text; above 1: never")
          .range(0, 2),
      opt("threads", &Index::threads, "threads of a search").range(1, 1024));

  void start(const Config&, const Context&) override {
    index_.reset(load_engine()({path, encoder, similar, threads}));
  }

  std::uint64_t size() override { return index_->size(); }
  void read(std::uint64_t index, const DatasetSink& sink, const Context& context) override {
    index_->read(index, sink, context);
  }
  void find(const DocumentQuery& query, const FoundSink& sink, const Context& context) override {
    index_->find(query, sink, context);
  }

 private:
  std::unique_ptr<SearchableDataset> index_;
};

}  // namespace
}  // namespace krl::retrieval

KRL_PLUGIN("index", "0.1.0",
           krl::dataset<krl::retrieval::Index>("index",
                                               "Documents that are searched for each task"))
