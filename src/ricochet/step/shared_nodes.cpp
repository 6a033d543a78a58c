#include "ricochet/step/shared.h"

namespace ricochet {
RICOCHET_SHARE_NODES(template)
}  // namespace ricochet
