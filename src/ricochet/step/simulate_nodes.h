#pragma once

// `simulate` for the schemes that are not staggered, too.
#include "ricochet/step/mabrouk.h"
#include "ricochet/step/moreau_jean.h"
#include "ricochet/step/paoli_schatzman.h"
#include "ricochet/step/penalty.h"
#include "ricochet/step/simulate.h"
