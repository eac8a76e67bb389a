#include "core/plan/layers.hpp"

#include <algorithm>
#include <optional>

#include "core/plan/lists.hpp"
#include "core/plan/overrides.hpp"
#include "core/plan/text_file.hpp"
#include "core/plan/toml_reader.hpp"

namespace krl {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxFiles = 64;  // of one plan; also ends includes that double at each level

class LayerReader {
 public:
  LayerReader(std::vector<Problem>& problems, std::vector<std::string>& notes)
      : problems_(problems), notes_(notes) {}

  // Lays `file` on the document, after its includes. `asked_by` is the include that names it. False
  // if a file could not be read.
  bool read(const fs::path& file, const Origin& asked_by) {
    auto text = read_text_file(file);
    if (!text) return report(asked_by, text.error());
    std::error_code ignored;
    const fs::path canonical = fs::weakly_canonical(file, ignored);
    if (std::find(open_files_.begin(), open_files_.end(), canonical) != open_files_.end()) {
      return report(asked_by, "'" + file.string() + "' includes itself",
                    "remove one include of the circle");
    }
    auto source = std::make_shared<Source>();
    source->name = file.string();
    source->folder = fs::absolute(file, ignored).lexically_normal().parent_path();
    source->text = std::move(*text);
    source->order = files_++;
    auto own = read_toml(source);
    if (!own) {
      problems_.push_back(std::move(own.error()));
      return false;
    }
    own->origin = {source, 0, 0, 1};

    open_files_.push_back(canonical);
    const bool complete = read_includes(*own);
    open_files_.pop_back();
    own->erase("include");
    lay(document_, *own, nullptr, notes_);
    return complete;
  }

  Node document() && { return std::move(document_); }

 private:
  bool read_includes(const Node& layer) {
    const Node* includes = layer.find("include");
    if (includes == nullptr) return true;
    if (!includes->is_array()) {
      return report(includes->origin,
                    "'include' must be an array of paths, not " + std::string(includes->kind()),
                    "write include = [\"file.toml\"]");
    }
    const fs::path folder = fs::path(layer.origin.source->name).parent_path();
    bool complete = true;
    for (const Node& include : includes->elements()) {
      if (include.text() == nullptr) {
        complete = report(include.origin, "an include must be a path (a string), not " +
                                              std::string(include.kind()));
      } else if (files_ >= kMaxFiles) {
        return report(include.origin, "a plan has at most " + std::to_string(kMaxFiles) + " files");
      } else if (!read((folder / *include.text()).lexically_normal(), include.origin)) {
        complete = false;
      }
    }
    return complete;
  }

  bool report(const Origin& at, std::string message, std::string hint = {}) {
    problems_.push_back({at, std::move(message), std::move(hint)});
    return false;
  }

  Node document_ = Node::table({});
  std::vector<fs::path> open_files_;  // canonical, from the plan inwards
  std::size_t files_ = 0;
  std::vector<Problem>& problems_;
  std::vector<std::string>& notes_;
};

}  // namespace

std::optional<Node> read_layers(const fs::path& file, const std::vector<std::string>& overrides,
                                std::vector<Problem>& problems, std::vector<std::string>& notes) {
  auto named = std::make_shared<Source>();
  named->name = file.string();
  LayerReader reader(problems, notes);
  if (!reader.read(file, Origin{std::move(named), 0, 0, 1})) return std::nullopt;
  Node document = std::move(reader).document();
  apply_overrides(document, overrides, problems, notes);
  return document;
}

}  // namespace krl
