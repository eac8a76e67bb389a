#include "plugins/datasets/templates/names.hpp"

#include <algorithm>
#include <sstream>

namespace krl::templates {
namespace {

using Words = std::vector<std::string>;

Words words(const char* text) {
  std::istringstream stream(text);
  Words list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

// None of these may be a local name of a variant, a word of C++ or CUDA, or a function of <math.h>.
const Words kInputs = words(R"(
  x a b u p q z aa bb xx xs vs in0 in1 in2 inp src src0 src1 lhs rhs data data0 data1 input inputs left0 right0 first
  second arg0 arg1 value0 values vals vec vec0 vec1 mat mat0 mat1 matrix vector0 array arr arr0 arr1 buf buf0 buf1 buffer
  source sources samples sample0 points pixels image img signal0 wave series seq tokens feats features weights weight
  coeffs params embeds embedding hidden states state0 acts activations logits0 scores0 grads grad0 errors deltas masses
  heights widths depths speeds prices rates counts0 keys0 entries cells fields field0 grid0 frames frame0 audio temps
  energy power0 mass density flow flux phase0 probs priors queries memory table lookup column0 rows0 lines items0 terms
  xa xb ya ma mb va vb wa wb ta tb lx rx ux px qx x1 x2 x3 a1 a2 b1 b2 u1 u2 v2 h1 h2 w1 w2 s1 s2 t1 t2)");

const Words kOutputs = words(R"(
  y o c z out outp output outputs out0 out1 dst dst0 dest res res0 result results target0 ret sink store answer y1 y2 yy ys
  yo zz zs final0 total0 sums means norms maxes mins peaks reduced merged mixed blended scaled shifted clipped masked
  filtered smoothed sorted0 moved copied flipped turned0 rotated gathered packed folded joined combined product0 dots
  outs outv outm ov om oy cy cz rr res1 ans dstbuf outbuf resbuf written after next0 updated fresh computed)");

const Words kLengths = words(R"(
  n N len size0 count num length total elems items npts nelem nelems numel nn sz cnt len0 width0 extent amount
  quantity points0 entries0 numbers steps0 slots capacity limit0 nval nvals nx span0 nlen nsize n0 n1)");

struct AxisNames {
  std::string rows, cols;
};
std::vector<AxisNames> pairs(const char* text) {
  const Words list = words(text);
  std::vector<AxisNames> names;
  for (std::size_t i = 0; i < list.size(); i += 2) names.push_back({list[i], list[i + 1]});
  return names;
}
const std::vector<AxisNames> kShapes = pairs(R"(
  rows cols  m n  R C  h w  nr nc  M N  batch dim  nrows ncols  height width  H W  num_rows num_cols  n_rows n_cols
  batch hidden  tokens dim  nb nd  bs dim  blocks lanes0  seqs channels  lines columns  outer inner  groups width
  samples features  n0 n1  dim0 dim1  d0 d1  size0 size1  ny nx  rows0 cols0  tall wide  len_r len_c  queries keys
  steps units  points dims  batch_size row_len)");

const Words kInner = words(R"(
  K k inner kk depth shared0 common mid reduce0 links L Q P depth0 taps hidden0 half0 pieces buckets bins0 nk dk kdim)");

const Words kScalars = words(R"(
  alpha s beta factor scale w0 gain coef slope ratio weight0 mult bias0 offset eps0 lambda0 mu sigma tau theta rate
  strength amount0 shift c0f k0f temperature decay momentum step0 lr0 damping level alpha0 scale0 mul add0 value1)");

const Words kPrefixes = words("d_ in_ my_ the_ g_ p_ raw_ tmp_ cur_ new_ old_ full_ flat_ batch_");
const Words kSuffixes =
    words("_vec _buf _in _data _dev _arr _mat _all _gpu _set _part _list _f32 _ptr");

const Words& pool_of(NameKind kind) {
  if (kind == NameKind::kInput) return kInputs;
  if (kind == NameKind::kOutput) return kOutputs;
  if (kind == NameKind::kScalar) return kScalars;
  return kind == NameKind::kInner ? kInner : kLengths;
}

// A name of the pool; one in four tensors is composed of two words.
std::string draw(NameKind kind, Random* random) {
  const std::string& word = random->pick(pool_of(kind));
  const bool tensor = kind == NameKind::kInput || kind == NameKind::kOutput;
  if (!tensor || !random->chance(0.25)) return word;
  return random->chance(0.5) ? random->pick(kPrefixes) + word : word + random->pick(kSuffixes);
}

// Takes names one by one and refuses those in use.
class Draft {
 public:
  Draft(Random* random, const std::set<std::string>& taken) : random_(random), taken_(taken) {}

  void keep(const std::string& role, const std::string& name) { names_[role] = name; }

  void add(const std::string& role, NameKind kind) {
    if (names_.count(role) > 0) return;
    std::string name = draw(kind, random_);
    while (used(name)) name = draw(kind, random_);
    names_[role] = name;
  }

  void add_shape(const std::string& rows, const std::string& cols) {
    const AxisNames* pair = &random_->pick(kShapes);
    while (used(pair->rows) || used(pair->cols)) pair = &random_->pick(kShapes);
    names_[rows] = pair->rows;
    names_[cols] = pair->cols;
  }

  Names take() { return std::move(names_); }

 private:
  bool used(const std::string& name) const {
    return taken_.count(name) > 0 ||
           std::any_of(names_.begin(), names_.end(),
                       [&](const auto& entry) { return entry.second == name; });
  }

  Random* random_;
  const std::set<std::string>& taken_;
  Names names_;
};

}  // namespace

Names canonical_names(const Operation& operation) {
  Names names;
  for (const AxisRole& axis : operation.axes) names[axis.role] = axis.name;
  for (const TensorRole& tensor : operation.inputs) names[tensor.role] = tensor.name;
  for (const TensorRole& tensor : operation.outputs) names[tensor.role] = tensor.name;
  for (const ScalarRole& scalar : operation.scalars) names[scalar.role] = scalar.name;
  return names;
}

Names random_names(const Operation& operation, Random* random, const std::set<std::string>& taken) {
  Draft draft(random, taken);
  for (const AxisRole& axis : operation.axes)
    if (axis.kind == NameKind::kFixed) draft.keep(axis.role, axis.name);
  const auto role_of = [&](NameKind kind) {
    const auto match = [&](const AxisRole& axis) { return axis.kind == kind; };
    const auto axis = std::find_if(operation.axes.begin(), operation.axes.end(), match);
    return axis == operation.axes.end() ? std::string() : axis->role;
  };
  if (!role_of(NameKind::kRows).empty())
    draft.add_shape(role_of(NameKind::kRows), role_of(NameKind::kColumns));
  for (const AxisRole& axis : operation.axes) draft.add(axis.role, axis.kind);
  for (const TensorRole& tensor : operation.inputs) draft.add(tensor.role, NameKind::kInput);
  for (const TensorRole& tensor : operation.outputs) draft.add(tensor.role, NameKind::kOutput);
  for (const ScalarRole& scalar : operation.scalars) draft.add(scalar.role, NameKind::kScalar);
  return draft.take();
}

std::vector<std::string> pool_names() {
  Words all;
  for (const Words* list : {&kInputs, &kOutputs, &kLengths, &kInner, &kScalars}) {
    all.insert(all.end(), list->begin(), list->end());
  }
  for (const AxisNames& pair : kShapes) all.insert(all.end(), {pair.rows, pair.cols});
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace krl::templates
