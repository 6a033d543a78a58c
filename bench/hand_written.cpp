#include "hand_written.h"

#include <algorithm>
#include <cmath>

namespace ricochet::bench {

HandResult hand_pendulum(double h, long long steps) {
  const double R = 40.0;
  const double g = 1000.0;
  double x = 0.0;
  double y = -R;
  double u = std::sqrt(200.0) * R;
  double v = 0.0;
  for (long long i = 0; i < steps; ++i) {
    const double xm = x + 0.5 * h * u;
    const double ym = y + 0.5 * h * v;
    double up = u;
    double vp = v - h * g;
    if (R * R - (xm * xm + ym * ym) <= 0.0) {
      const double jx = -2.0 * xm;
      const double jy = -2.0 * ym;
      const double free = jx * up + jy * vp;
      if (free < 0.0) {
        const double p = -(free + jx * u + jy * v) / (jx * jx + jy * jy);
        up += p * jx;
        vp += p * jy;
      }
    }
    u = up;
    v = vp;
    x = xm + 0.5 * h * u;
    y = ym + 0.5 * h * v;
  }
  return {x, y};
}

HandResult hand_rod(double h, long long steps) {
  const double a = -37.5;  // abscissae of A and B on the rod
  const double b = 12.5;
  const double R2 = 45.0 * 45.0;
  const double inertia = 21.65 * 21.65;
  const double g = 981.0;
  double x = 35.72;
  double y = -16.7431;
  double w = 4.59648;
  double u = 121.734;
  double v = 260.301;
  double r = 7.26448;
  for (long long i = 0; i < steps; ++i) {
    const double xm = x + 0.5 * h * u;
    const double ym = y + 0.5 * h * v;
    const double wm = w + 0.5 * h * r;
    const double c = std::cos(wm + 0.5 * h * r);  // the cone is anticipated by half a step
    const double s = std::sin(wm + 0.5 * h * r);
    const double xc = xm + 0.5 * h * u;
    const double yc = ym + 0.5 * h * v;
    const double ax = xc + a * c;
    const double ay = yc + a * s;
    const double bx = xc + b * c;
    const double by = yc + b * s;
    const bool touches_a = R2 - (ax * ax + ay * ay) <= 0.0;
    const bool touches_b = R2 - (bx * bx + by * by) <= 0.0;
    v -= h * g;
    if (touches_a || touches_b) {
      const double a1 = -2.0 * ax;
      const double a2 = -2.0 * ay;
      const double a3 = -2.0 * a * (ay * c - ax * s);
      const double b1 = -2.0 * bx;
      const double b2 = -2.0 * by;
      const double b3 = -2.0 * b * (by * c - bx * s);
      const double waa = a1 * a1 + a2 * a2 + a3 * a3 / inertia;
      const double wbb = b1 * b1 + b2 * b2 + b3 * b3 / inertia;
      const double wab = a1 * b1 + a2 * b2 + a3 * b3 / inertia;
      const double fa = touches_a ? a1 * u + a2 * v + a3 * r : 0.0;
      const double fb = touches_b ? b1 * u + b2 * v + b3 * r : 0.0;
      double pa = 0.0;
      double pb = 0.0;
      if (touches_a && touches_b) {
        if (fa < 0.0 && fb - wab * fa / waa >= 0.0) {
          pa = -fa / waa;
        } else if (fb < 0.0 && fa - wab * fb / wbb >= 0.0) {
          pb = -fb / wbb;
        } else if (fa < 0.0 || fb < 0.0) {
          const double determinant = waa * wbb - wab * wab;
          pa = (wab * fb - wbb * fa) / determinant;
          pb = (wab * fa - waa * fb) / determinant;
        }
      } else if (fa < 0.0) {
        pa = -fa / waa;
      } else if (fb < 0.0) {
        pb = -fb / wbb;
      }
      u += pa * a1 + pb * b1;
      v += pa * a2 + pb * b2;
      r += (pa * a3 + pb * b3) / inertia;
    }
    x = xm + 0.5 * h * u;
    y = ym + 0.5 * h * v;
    w = wm + 0.5 * h * r;
  }
  return {x, y};
}

HandResult hand_oscillator(long long impacts) {
  constexpr double kW = 2.8, kMost = 3.0;  // |x''| at most
  const double g = 1.0 / (1.0 - kW * kW);
  double t = 0.0, x = -0.1, u = 0.1;
  for (long long k = 0; k < impacts; ++k) {
    const double a = x - g * std::cos(kW * t), b = u + g * kW * std::sin(kW * t), start = t;
    for (bool begins = true; begins || x < -1e-11; begins = false) {
      // No earlier than under the largest acceleration; near the wall, by Newton.
      const double earliest = (-u + std::sqrt(u * u - 2.0 * kMost * x)) / kMost;
      const bool is_near = x > -1e-3 && u > 0.1 && !begins;
      t += is_near ? -x / u : std::max(earliest, 1e-9);
      const double s = t - start, c = std::cos(s), d = std::sin(s);
      x = g * std::cos(kW * t) + a * c + b * d;
      u = -g * kW * std::sin(kW * t) - a * d + b * c;
    }
    x = 0.0;
    u *= -0.8;
  }
  return {t, u};
}

}  // namespace ricochet::bench
