#include "ricochet/step/run_sized.h"

namespace ricochet::step {

template RICOCHET_RUN_SIZED(3, 2);

}  // namespace ricochet::step
