// A list as the boundary's functions take it: structs, and an array of pointers to them.
#pragma once

#include <cstddef>
#include <vector>

namespace krl {

// Movable, not copyable: the pointers lead to the structs.
template <class C>
class Rows {
 public:
  // One struct for each of `values`, made by `view_of_one`; it usually borrows from the value.
  template <class Values, class View>
  Rows(const Values& values, const View& view_of_one) {
    rows_.reserve(values.size());
    for (const auto& value : values) rows_.push_back(view_of_one(value));
    for (const C& row : rows_) pointers_.push_back(&row);
  }
  Rows(Rows&&) noexcept = default;
  Rows& operator=(Rows&&) noexcept = default;

  const C* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::vector<C> rows_;
  std::vector<const C*> pointers_;
};

}  // namespace krl
