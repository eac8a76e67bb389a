#include "core/plan/layers.hpp"

#include <algorithm>
#include <optional>

#include "core/plan/merge.hpp"
#include "core/plan/overrides.hpp"
#include "core/plan/text_file.hpp"
#include "core/plan/toml_reader.hpp"

namespace krl {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxFiles = 64;  // of one plan; also ends includes that double at each level

class LayerReader {
 public:
  explicit LayerReader(std::vector<Problem>& problems) : problems_(problems) {}

  // Reads `file` and its includes. `asked_by` is the include that names it.
  std::optional<Node> read(const fs::path& file, const Origin& asked_by) {
    auto text = read_text_file(file);
    if (!text) {
      report(asked_by, text.error());
      return std::nullopt;
    }
    std::error_code ignored;
    const fs::path canonical = fs::weakly_canonical(file, ignored);
    if (std::find(open_files_.begin(), open_files_.end(), canonical) != open_files_.end()) {
      report(asked_by, "'" + file.string() + "' includes itself",
             "remove one include of the circle");
      return std::nullopt;
    }
    auto source = std::make_shared<Source>();
    source->name = file.string();
    source->folder = fs::absolute(file, ignored).lexically_normal().parent_path();
    source->text = std::move(*text);
    source->order = files_++;
    auto own = read_toml(source);
    if (!own) {
      problems_.push_back(std::move(own.error()));
      return std::nullopt;
    }
    own->origin = {source, 0, 0, 1};

    open_files_.push_back(canonical);
    auto layers = read_includes(*own);
    open_files_.pop_back();
    if (!layers) return std::nullopt;
    own->erase("include");
    merge(*layers, *own);
    return layers;
  }

 private:
  std::optional<Node> read_includes(const Node& document) {
    Node merged = Node::table(document.origin);
    const Node* includes = document.find("include");
    if (includes == nullptr) return merged;
    if (!includes->is_array()) {
      report(includes->origin,
             "'include' must be an array of paths, not " + std::string(includes->kind()),
             "write include = [\"file.toml\"]");
      return std::nullopt;
    }
    const fs::path folder = fs::path(document.origin.source->name).parent_path();
    bool complete = true;
    for (const Node& include : includes->elements()) {
      if (include.text() == nullptr) {
        report(include.origin,
               "an include must be a path (a string), not " + std::string(include.kind()));
      } else if (files_ >= kMaxFiles) {
        report(include.origin, "a plan has at most " + std::to_string(kMaxFiles) + " files");
        return std::nullopt;
      } else if (auto layer = read((folder / *include.text()).lexically_normal(), include.origin)) {
        merge(merged, *layer);
        continue;
      }
      complete = false;
    }
    return complete ? std::optional(std::move(merged)) : std::nullopt;
  }

  void report(const Origin& at, std::string message, std::string hint = {}) {
    problems_.push_back({at, std::move(message), std::move(hint)});
  }

  std::vector<fs::path> open_files_;  // canonical, from the plan inwards
  std::size_t files_ = 0;
  std::vector<Problem>& problems_;
};

}  // namespace

std::optional<Node> read_layers(const fs::path& file, const std::vector<std::string>& overrides,
                                std::vector<Problem>& problems) {
  auto named = std::make_shared<Source>();
  named->name = file.string();
  LayerReader reader(problems);
  auto document = reader.read(file, Origin{std::move(named), 0, 0, 1});
  if (document) apply_overrides(*document, overrides, problems);
  return document;
}

}  // namespace krl
