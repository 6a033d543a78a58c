#include "ricochet/step/run_sized.h"

namespace ricochet::step {

template RICOCHET_RUN_SLIPPING(2, 1, 1);

}  // namespace ricochet::step
