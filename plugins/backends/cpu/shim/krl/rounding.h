// Sums and conversions that lose nothing before the one rounding to 16 bits: values "rounded to odd" keep, in their last
// bit, whether they were exact, so that the next rounding to fewer bits is right (Boldo and Melquiond, 2008).
#pragma once

static KRL_INLINE float krl_to_float_odd(double x) {
  const float nearest = (float)x;
  if ((double)nearest == x || x != x) return nearest;
  unsigned bits = krl_bits<unsigned>(nearest);
  if (fabs((double)nearest) > fabs(x)) --bits;
  return krl_bits<float>(bits | 1);
}
// a * b + c for values whose product is exact in double.
static KRL_INLINE double krl_fma_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = KRL_ALONE(product + c), virtual_c = KRL_ALONE(sum - product);
  const double error = KRL_ALONE(KRL_ALONE(product - KRL_ALONE(sum - virtual_c)) + KRL_ALONE(c - virtual_c));
  unsigned long long bits = krl_bits<unsigned long long>(sum);
  if (error == 0 || error != error || bits & 1) return sum;
  return krl_bits<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
