#pragma once

namespace ricochet::bench {

/// State of a hand-written loop after `steps` steps: for comparison with the library's.
struct HandResult {
  double x{0.0};
  double y{0.0};
};

/// Essai 4 (particle in a circle, ELAST) as one would write it for this one case: no certificate,
/// no bookkeeping, no generality.
HandResult hand_pendulum(double h, long long steps);

/// The rod of essai 8 in its circle (INEL, A_V = 0.5, up to two contacts, one sine and cosine a
/// step), written the same way.
HandResult hand_rod(double h, long long steps);

/// x'' + x = cos 2.8 t, x <= 0, e = 0.8 for so many impacts: arcs in closed form.
HandResult hand_oscillator(long long impacts);

}  // namespace ricochet::bench
