#include "ricochet/step/shared.h"

namespace ricochet {
RICOCHET_SHARE_ANY(template, AnyView)
}  // namespace ricochet
