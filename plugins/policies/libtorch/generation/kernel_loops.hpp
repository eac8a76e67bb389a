// The loops behind Kernels. Compiled into each of kernels_portable.cpp and kernels_avx2.cpp with
// the flags of that file, hence the anonymous namespace; nothing else includes it.
//
// Arithmetic is on vectors of eight floats, which the compiler lowers to the instructions that the
// flags allow.
#pragma once

#include <cmath>
#include <cstring>

#include "plugins/policies/libtorch/generation/kernels.hpp"

namespace krl::libtorch {
namespace {

constexpr std::int64_t kWidth = 8;
using Vector = float __attribute__((vector_size(kWidth * sizeof(float))));
using Integers = std::int32_t __attribute__((vector_size(kWidth * sizeof(std::int32_t))));

inline Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void store(float* to, const Vector& v) { std::memcpy(to, &v, sizeof v); }
inline Vector broadcast(float x) { return Vector{x, x, x, x, x, x, x, x}; }

// The first n of eight floats, the others 0.
inline Vector load_part(const float* from, std::int64_t n) {
  if (n == kWidth) return load(from);
  Vector v{};
  std::memcpy(&v, from, static_cast<std::size_t>(n) * sizeof(float));
  return v;
}
inline void store_part(float* to, const Vector& v, std::int64_t n) {
  if (n == kWidth) return store(to, v);
  std::memcpy(to, &v, static_cast<std::size_t>(n) * sizeof(float));
}

// The sum of the lanes, always in the same order.
inline float sum(const Vector& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// e^x for x in -87..88 within 2 units in the last place; beyond that the value at the bound.
// x = k ln 2 + r with |r| <= ln 2 / 2, and e^r by the polynomial of Cephes' expf.
inline Vector exp(Vector x) {
  const Vector low = broadcast(-87.0f), high = broadcast(88.0f);
  x = x < low ? low : x;
  x = x > high ? high : x;
  const Vector shifter = broadcast(12582912.0f);  // 1.5 · 2²³: adding it rounds to an integer
  const Vector shifted = x * 1.44269504f + shifter;
  const Vector k = shifted - shifter;
  const Vector r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  Vector p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  Integers bits;  // bits of 2^k
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits - 0x4B400000 + 127) << 23;
  Vector scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

// Computes kRows × 16 results at out[row * stride]. Each is summed over the inputs one after the
// other, for any kRows.
template <int kRows>
void multiply_tile(const float* in, std::int64_t inputs, const float* panel, float* out,
                   std::int64_t stride, Store mode) {
  Vector low[kRows], high[kRows];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) low[row] = high[row] = Vector{};
  for (std::int64_t k = 0; k < inputs; ++k) {
    const Vector w0 = load(panel + k * PackedMatrix::kPanel);
    const Vector w1 = load(panel + k * PackedMatrix::kPanel + kWidth);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const Vector x = broadcast(in[row * inputs + k]);
      low[row] += x * w0;
      high[row] += x * w1;
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    float* to = out + row * stride;
    store(to, mode == Store::kAdd ? load(to) + low[row] : low[row]);
    store(to + kWidth, mode == Store::kAdd ? load(to + kWidth) + high[row] : high[row]);
  }
}

constexpr int kTileRows = 6;  // 12 sums, 2 weights and an input fill the 16 registers of AVX2

void multiply(const float* in, std::int64_t rows, const PackedMatrix& weights, float* out,
              Store mode) {
  using Tile = decltype(&multiply_tile<1>);
  static constexpr Tile kTiles[kTileRows + 1] = {
      nullptr,          multiply_tile<1>, multiply_tile<2>, multiply_tile<3>,
      multiply_tile<4>, multiply_tile<5>, multiply_tile<6>};
  constexpr std::int64_t kPanel = PackedMatrix::kPanel;
  const std::int64_t inputs = weights.inputs, outputs = weights.outputs;
  for (std::int64_t column = 0; column < outputs; column += kPanel) {
    const float* panel = weights.panels.data() + column * inputs;
    const std::int64_t columns = outputs - column < kPanel ? outputs - column : kPanel;
    for (std::int64_t row = 0; row < rows; row += kTileRows) {
      const std::int64_t count = rows - row < kTileRows ? rows - row : kTileRows;
      float* to = out + row * outputs + column;
      if (columns == kPanel) {
        kTiles[count](in + row * inputs, inputs, panel, to, outputs, mode);
        continue;
      }
      float sums[kTileRows * kPanel];
      kTiles[count](in + row * inputs, inputs, panel, sums, kPanel, Store::kSet);
      for (std::int64_t r = 0; r < count; ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
          float& result = to[r * outputs + c];
          result = sums[r * kPanel + c] + (mode == Store::kAdd ? result : 0.0f);
        }
      }
    }
  }
}

void rms_norm(const float* in, std::int64_t rows, std::int64_t width, const float* gain,
              float epsilon, float* out) {
  for (std::int64_t row = 0; row < rows; ++row, in += width, out += width) {
    Vector squares{};
    for (std::int64_t i = 0; i < width; i += kWidth) {
      const Vector x = load_part(in + i, width - i < kWidth ? width - i : kWidth);
      squares += x * x;
    }
    const float scale = 1.0f / std::sqrt(sum(squares) / static_cast<float>(width) + epsilon);
    for (std::int64_t i = 0; i < width; ++i) out[i] = in[i] * scale * gain[i];
  }
}

void swiglu(const float* gate_up, std::int64_t rows, std::int64_t width, float* out) {
  for (std::int64_t row = 0; row < rows; ++row, gate_up += 2 * width, out += width) {
    for (std::int64_t i = 0; i < width; i += kWidth) {
      const std::int64_t n = width - i < kWidth ? width - i : kWidth;
      const Vector gate = load_part(gate_up + i, n), up = load_part(gate_up + width + i, n);
      store_part(out + i, gate * up / (1.0f + exp(-gate)), n);
    }
  }
}

// Computes scores[p] = scale · query · keys of position p; returns the largest so far. Reads and
// writes whole vectors: the capacity is a multiple of their width, and the elements after `length`
// are not used.
float score(const float* query, std::int64_t head_size, const AttentionSpan& span, float scale,
            float largest, float* scores) {
  for (std::int64_t p = 0; p < span.length; p += kWidth) {
    Vector dot{};
    for (std::int64_t i = 0; i < head_size; ++i) {
      dot += query[i] * load(span.keys + i * span.capacity + p);
    }
    dot *= scale;
    store(scores + p, dot);
    const std::int64_t n = span.length - p < kWidth ? span.length - p : kWidth;
    for (std::int64_t lane = 0; lane < n; ++lane) {
      largest = scores[p + lane] > largest ? scores[p + lane] : largest;
    }
  }
  return largest;
}

double exp_sum(float* x, std::int64_t n, float shift) {
  double total = 0;
  for (std::int64_t i = 0; i < n; i += kWidth) {
    const std::int64_t count = n - i < kWidth ? n - i : kWidth;
    const Vector e = exp(load_part(x + i, count) - shift);
    store_part(x + i, e, count);
    for (std::int64_t lane = 0; lane < count; ++lane) total += e[lane];
  }
  return total;
}

// Adds scale · Σ weights[p] · values[p] for kVectors vectors of a head's components.
template <int kVectors>
void add_values_tile(const float* weights, const AttentionSpan& span, std::int64_t head_size,
                     std::int64_t at, float scale, float* out) {
  Vector total[kVectors] = {};
  for (std::int64_t p = 0; p < span.length; ++p) {
    const float* values = span.values + p * head_size + at;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) total[v] += weights[p] * load(values + v * kWidth);
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    float* to = out + at + v * kWidth;
    store(to, load(to) + total[v] * scale);
  }
}

void add_values(const float* weights, const AttentionSpan& span, std::int64_t head_size,
                float scale, float* out) {
  constexpr int kVectors = 4;
  std::int64_t i = 0;
  for (; i + kVectors * kWidth <= head_size; i += kVectors * kWidth) {
    add_values_tile<kVectors>(weights, span, head_size, i, scale, out);
  }
  for (; i + kWidth <= head_size; i += kWidth) {
    add_values_tile<1>(weights, span, head_size, i, scale, out);
  }
  for (; i < head_size; ++i) {
    float total = 0;
    for (std::int64_t p = 0; p < span.length; ++p) {
      total += weights[p] * span.values[p * head_size + i];
    }
    out[i] += total * scale;
  }
}

void attend(const float* query, std::int64_t head_size, const AttentionSpan& first,
            const AttentionSpan& second, float* scores, float* out) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(head_size));
  float largest = -INFINITY;
  largest = score(query, head_size, first, scale, largest, scores);
  largest = score(query, head_size, second, scale, largest, scores + first.length);
  const double total = exp_sum(scores, first.length + second.length, largest);
  const auto inverse = static_cast<float>(1.0 / total);
  std::memset(out, 0, static_cast<std::size_t>(head_size) * sizeof(float));
  add_values(scores, first, head_size, inverse, out);
  add_values(scores + first.length, second, head_size, inverse, out);
}

constexpr Kernels kLoops = {multiply, rms_norm, swiglu, attend, exp_sum};

}  // namespace
}  // namespace krl::libtorch
